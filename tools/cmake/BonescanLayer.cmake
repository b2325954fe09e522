# One static library per architecture layer, and the options they share.

add_library(bonescan_options INTERFACE)
target_compile_features(bonescan_options INTERFACE cxx_std_20)
target_compile_options(
  bonescan_options
  INTERFACE
    "$<BUILD_INTERFACE:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow;-Wnon-virtual-dtor>"
    # Checks print the path of their file: from the root, whoever built it.
    "$<BUILD_INTERFACE:-ffp-contract=off;-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>"
)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms of g++ 12's optimizer inside std::string and std::vector (GCC bug 105329).
  target_compile_options(
    bonescan_options INTERFACE $<BUILD_INTERFACE:-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND BONESCAN_SANITIZE MATCHES "thread")
  # Boost.Asio has fences, which the sanitizer does not model; none of our data rests on one.
  target_compile_options(bonescan_options INTERFACE $<BUILD_INTERFACE:-Wno-tsan>)
endif()
if(BONESCAN_WERROR)
  target_compile_options(bonescan_options INTERFACE $<BUILD_INTERFACE:-Werror>)
endif()
if(BONESCAN_DCHECKS)
  target_compile_definitions(bonescan_options INTERFACE BONESCAN_DCHECKS=1)
endif()
if(BONESCAN_SANITIZE)
  target_compile_options(bonescan_options INTERFACE -fsanitize=${BONESCAN_SANITIZE}
                                                    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(bonescan_options INTERFACE -fsanitize=${BONESCAN_SANITIZE})
endif()
if(BONESCAN_FUZZ)
  target_compile_options(bonescan_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(BONESCAN_COVERAGE)
  target_compile_options(bonescan_options INTERFACE --coverage)
  target_link_options(bonescan_options INTERFACE --coverage)
endif()

# bonescan_precompile(TARGET [flag...])
#
# The headers of the standard library and of fmt that most sources include, parsed once.  Sources
# include what they use all the same: headers are compiled alone, and clang-tidy does without this.
file(CONFIGURE OUTPUT precompiled.cpp CONTENT "// Nothing but the headers.\n")
function(bonescan_precompile target)
  add_library(${target} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
  target_compile_options(${target} PRIVATE ${ARGN})
  target_link_libraries(${target} PRIVATE bonescan_options fmt::fmt tl::expected)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_precompile_headers(
    ${target}
    PRIVATE
    <algorithm>
    <array>
    <chrono>
    <cstdint>
    <functional>
    <map>
    <memory>
    <optional>
    <set>
    <span>
    <string>
    <string_view>
    <utility>
    <vector>
    <fmt/format.h>
    <tl/expected.hpp>)
endfunction()

bonescan_precompile(bonescan_precompiled)
# A debug build of everything compiles twice as fast without optimization, and simulates three
# times as slow: the layers with hot loops (HOT) keep a little of it.
set(hot_precompiled bonescan_precompiled)
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(hot_flags -O1)
  set(hot_precompiled bonescan_precompiled_hot)
  bonescan_precompile(${hot_precompiled} ${hot_flags})
endif()

# bonescan_layer(NAME FOLDERS folder... [DEPENDS target...] [INSTALLED] [HOT])
#
# Builds bonescan_<NAME> from every .cpp file in the folders. INSTALLED layers are part of the
# production library that find_package(bonescan) offers as bonescan::<NAME>.
function(bonescan_layer name)
  cmake_parse_arguments(ARG "INSTALLED;HOT" "" "FOLDERS;DEPENDS" ${ARGN})
  set(sources)
  foreach(folder IN LISTS ARG_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  set(target bonescan_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    if(ARG_HOT)
      target_compile_options(${target} PRIVATE ${hot_flags})
      target_precompile_headers(${target} REUSE_FROM ${hot_precompiled})
    else()
      target_precompile_headers(${target} REUSE_FROM bonescan_precompiled)
    endif()
    set(visibility PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(visibility INTERFACE)
  endif()
  add_library(bonescan::${name} ALIAS ${target})
  target_include_directories(
    ${target} ${visibility} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/bonescan>)
  target_link_libraries(${target} ${visibility} bonescan_options ${ARG_DEPENDS})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  if(ARG_INSTALLED)
    install(TARGETS ${target} EXPORT bonescan_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    foreach(folder IN LISTS ARG_FOLDERS)
      install(
        DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bonescan/${folder}
        FILES_MATCHING
        PATTERN "*.h")
    endforeach()
  endif()
endfunction()
