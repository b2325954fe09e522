# The lab's guest: a program that only runs there, and two boots whose results the tests judge.
#
# ctest runs the boot that a test needs before it, once for all tests of a call.
add_executable(lab_ud_probe ${CMAKE_CURRENT_LIST_DIR}/ud_probe.cpp)
target_link_libraries(lab_ud_probe PRIVATE ibverbs Threads::Threads)

if(TARGET system_verbs_lab_tests AND TARGET bonescan_cli)
  set(lab_results ${PROJECT_BINARY_DIR}/lab_results)
  target_compile_definitions(
    system_verbs_lab_tests PRIVATE BONESCAN_BINARY="$<TARGET_FILE:bonescan_cli>"
                                   BONESCAN_LAB_RESULTS="${lab_results}")
  add_dependencies(system_verbs_lab_tests bonescan_cli lab_ud_probe roce_frame)

  foreach(suite verbs ovs)
    add_test(
      NAME lab.boot_${suite}
      COMMAND ${CMAKE_CURRENT_LIST_DIR}/run_lab.sh ${suite} ${lab_results}/${suite}
              $<TARGET_FILE:bonescan_cli> $<TARGET_FILE:lab_ud_probe> $<TARGET_FILE:roce_frame>)
    set_tests_properties(lab.boot_${suite} PROPERTIES LABELS lab TIMEOUT 620
                                                      FIXTURES_SETUP lab_${suite})
  endforeach()

  # Read by ctest after the list of tests was made.
  set(fixtures ${CMAKE_CURRENT_BINARY_DIR}/verbs_lab_fixtures.cmake)
  file(WRITE ${fixtures} "foreach(test IN LISTS system_verbs_lab_tests_TESTS)
  if(test MATCHES GuestOvs)
    set_tests_properties(\"\${test}\" PROPERTIES FIXTURES_REQUIRED lab_ovs)
  else()
    set_tests_properties(\"\${test}\" PROPERTIES FIXTURES_REQUIRED lab_verbs)
  endif()
endforeach()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${fixtures})
endif()
