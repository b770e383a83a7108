# SPDX-License-Identifier: Apache-2.0
# How this project's own targets are built: which warnings they must be free of, and one way to add a test. Warnings are
# errors only where CMAKE_COMPILE_WARNING_AS_ERROR says so, as our presets do: another compiler may know more of them.

add_library(kgate_own INTERFACE)
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(kgate_own INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
endif()

# kgate_in_few_units(TARGET...)
# Where KGATE_FEW_UNITS is on: most of what a file costs are the headers it shares with the others.
function(kgate_in_few_units)
  if(KGATE_FEW_UNITS)
    set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
endfunction()

# kgate_add_rooms([EXCEPT room...])
# Adds every folder below the current one that has a CMakeLists.txt: a new room needs no edit here.
function(kgate_add_rooms)
  cmake_parse_arguments(arg "" "" "EXCEPT" ${ARGN})
  file(GLOB rooms CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  foreach(room IN LISTS rooms)
    cmake_path(GET room PARENT_PATH room)
    cmake_path(GET room FILENAME name)
    if(NOT name IN_LIST arg_EXCEPT)
      add_subdirectory(${room})
    endif()
  endforeach()
endfunction()

# kgate_add_test(NAME [DEEP] [TIMEOUT seconds] SOURCES file... [LIBRARIES lib...])
# A GoogleTest program; each of its tests becomes a ctest test. The quick tier is what is not DEEP. Deep ones are compiled in
# every case, so that they do not rot, but optimised only where KGATE_DEEP_TESTS says that they are to be run.
function(kgate_add_test name)
  cmake_parse_arguments(arg "DEEP" "TIMEOUT" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE kgate::kgate kgate_own ${arg_LIBRARIES} GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  set(tier quick)
  if(arg_DEEP)
    set(tier deep)
    if(NOT KGATE_DEEP_TESTS)
      target_compile_options(${name} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O0;-g0>)
    endif()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}." PROPERTIES LABELS ${tier} TIMEOUT
                                                                                        ${arg_TIMEOUT})
endfunction()

# kgate_add_script_test(NAME [DEEP] [TIMEOUT seconds] COMMAND command...)
# A test that is a command. It is labelled plain: running it under a sanitizer would tell nothing new.
function(kgate_add_script_test name)
  cmake_parse_arguments(arg "DEEP" "TIMEOUT" "COMMAND" ${ARGN})
  set(tier quick)
  if(arg_DEEP)
    set(tier deep)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${tier};plain" TIMEOUT ${arg_TIMEOUT})
endfunction()
