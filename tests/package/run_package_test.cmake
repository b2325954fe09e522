# Installs into an empty prefix, moves the prefix, builds the consumer against it, runs it, and looks
# for what must not be there.  Variables: BINARY_DIR WORK_DIR CONSUMER_DIR SCENARIO WITH_PIPELINE CXX_COMPILER.
cmake_minimum_required(VERSION 3.25)

function(must_run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGV}\nexit status ${status}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
set(prefix ${WORK_DIR}/moved)
must_run(${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${WORK_DIR}/installed)
# A package that only works where it was first put is broken.
file(RENAME ${WORK_DIR}/installed ${prefix})

must_run(
  ${CMAKE_COMMAND} -S ${CONSUMER_DIR} -B ${WORK_DIR}/build -G Ninja
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DWITH_PIPELINE=${WITH_PIPELINE})
must_run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
must_run(${WORK_DIR}/build/consumer)
message(STATUS "${output}")

# Nothing of the simulator, of our warnings or of this source tree reaches a consumer.
file(GLOB_RECURSE installed RELATIVE ${prefix} ${prefix}/lib/* ${prefix}/include/*)
foreach(path IN LISTS installed)
  if(path MATCHES "bonescan/(sim/engine|model|faults|scenarios|tools)/"
     OR path MATCHES "libbonescan_(engine|model|backend_sim|faults|scenarios|tools|lint)\\.")
    message(FATAL_ERROR "the package holds ${path}")
  endif()
endforeach()
file(READ ${WORK_DIR}/build/compile_commands.json commands)
foreach(flag -Werror -Wconversion)
  if(commands MATCHES "${flag}")
    message(FATAL_ERROR "${flag} leaks into the consumer:\n${commands}")
  endif()
endforeach()
file(GLOB_RECURSE configs ${prefix}/lib/*.cmake)
if(NOT configs)
  message(FATAL_ERROR "no CMake files below ${prefix}/lib")
endif()
foreach(config IN LISTS configs)
  file(READ ${config} text)
  cmake_path(GET CONSUMER_DIR PARENT_PATH tests_package)
  cmake_path(GET tests_package PARENT_PATH tests_dir)
  cmake_path(GET tests_dir PARENT_PATH source_dir)
  string(FIND "${text}" "${source_dir}" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${config} names the source tree")
  endif()
endforeach()

# Symbols are the proof: the linker may only have pulled in the production library.
find_program(NM nm REQUIRED)
must_run(${NM} -C ${WORK_DIR}/build/consumer)
if(NOT output MATCHES "bonescan::")
  message(FATAL_ERROR "the consumer links nothing of bonescan; the next check would prove nothing")
endif()
foreach(simulator "bonescan::Engine" "bonescan::World" "bonescan::Fabric" "bonescan::Injector"
                  "bonescan::Scenario")
  if(output MATCHES "${simulator}")
    message(FATAL_ERROR "the consumer links ${simulator}")
  endif()
endforeach()

if(EXISTS ${prefix}/bin/bonescan AND EXISTS ${SCENARIO})
  must_run(${prefix}/bin/bonescan check ${SCENARIO})
endif()

if(EXISTS ${prefix}/bin/bonescan AND EXISTS ${EXAMPLE_DIR})
  must_run(
    ${CMAKE_COMMAND} -S ${EXAMPLE_DIR} -B ${WORK_DIR}/example -G Ninja
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_BUILD_TYPE=Release)
  must_run(${CMAKE_COMMAND} --build ${WORK_DIR}/example)
  must_run(${prefix}/bin/bonescan run ${SCENARIO} --out ${WORK_DIR}/recorded)
  if(WITH_PIPELINE)
    must_run(${WORK_DIR}/build/consumer ${WORK_DIR}/recorded/run.sqlite)
    message(STATUS "${output}")
  endif()
  must_run(${WORK_DIR}/example/two_times ${WORK_DIR}/recorded/run.sqlite ${WORK_DIR}/two-times)
  must_run(${prefix}/bin/bonescan score --truth ${WORK_DIR}/recorded ${WORK_DIR}/two-times)
  if(NOT output MATCHES "dead switch p[^\n]*1\\.5 s" OR NOT output MATCHES "crc errors[^\n]*missed")
    message(FATAL_ERROR "the example was not scored as its README says:\n${output}")
  endif()
  must_run(${prefix}/bin/bonescan compare ${WORK_DIR}/recorded ${WORK_DIR}/two-times)
endif()
