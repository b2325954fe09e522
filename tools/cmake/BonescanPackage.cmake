# What find_package(bonescan) offers: the production library, and nothing of the simulator.
#
# bonescan::bonescan links all installed layers.  bonescan_options comes along as bonescan::options
# with the language level only: the warnings are for our own build (BUILD_INTERFACE).
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bonescan)

add_library(bonescan_production INTERFACE)
add_library(bonescan::bonescan ALIAS bonescan_production)
target_link_libraries(
  bonescan_production INTERFACE bonescan::base bonescan::telemetry bonescan::skeleton
                                bonescan::detectors bonescan::run_log bonescan::backend_replay bonescan::trial
                                bonescan::backend_peers bonescan::backend_trace
                                bonescan::backend_verbs bonescan::backend_ovs)
set_target_properties(bonescan_production PROPERTIES EXPORT_NAME bonescan)
set_target_properties(bonescan_options PROPERTIES EXPORT_NAME options)
install(TARGETS bonescan_options bonescan_production EXPORT bonescan_targets)

install(
  EXPORT bonescan_targets
  NAMESPACE bonescan::
  DESTINATION ${package_dir})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/bonescanConfig.cmake.in ${PROJECT_BINARY_DIR}/bonescanConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bonescanConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bonescanConfig.cmake
              ${PROJECT_BINARY_DIR}/bonescanConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindFFTW3.cmake DESTINATION ${package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
