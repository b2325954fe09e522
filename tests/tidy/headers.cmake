# Every header must compile alone: one translation unit for each, which includes it twice.
#
# Their object files are never linked, so they are built as cheaply as possible.  Sanitizer builds
# leave them out: they would say the same again.
if(BONESCAN_SANITIZE OR BONESCAN_COVERAGE)
  return()
endif()

set(headers)
foreach(folder sim model faults skeleton detectors scenarios tools tests)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
       ${PROJECT_SOURCE_DIR}/${folder}/*.h)
  list(APPEND headers ${found})
endforeach()

set(units)
foreach(header IN LISTS headers)
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/header_selfcontained/${header}.cpp)
  file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"@header@\"\n#include \"@header@\"\n" @ONLY)
  list(APPEND units ${unit})
endforeach()

add_library(header_selfcontained OBJECT ${units})
target_compile_definitions(
  header_selfcontained PRIVATE BONESCAN_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                               BONESCAN_BINARY_DIR="${PROJECT_BINARY_DIR}" BONESCAN_BINARY="bonescan"
                               BONESCAN_LAB_RESULTS="lab_results")
target_link_libraries(header_selfcontained PRIVATE bonescan::tools bonescan::lint GTest::gmock
                                                   Threads::Threads)
target_compile_options(header_selfcontained PRIVATE -O0 -g0)
set_target_properties(header_selfcontained PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
