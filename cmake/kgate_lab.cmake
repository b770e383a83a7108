# SPDX-License-Identifier: Apache-2.0
# What find_package(kgate COMPONENTS lab) offers: kgate::lab, the laboratory's program, and tests made of it.

# kgate_add_check(NAME FILE mine.hpp N 3 K 2 [ARGUMENTS ...]): a test that passes if the algorithm in the file keeps what it
# promises for N processes of which k may be inside, in every interleaving. ARGUMENTS are those of `kgate-lab check`, instead
# of --promised. The file is compiled by the project's own compiler.
function(kgate_add_check name)
  cmake_parse_arguments(PARSE_ARGV 1 check "" "FILE;N;K" "ARGUMENTS")
  foreach(needed FILE N K)
    if(NOT DEFINED check_${needed})
      message(FATAL_ERROR "kgate_add_check(${name}) needs ${needed}, as in kgate_add_check(mine FILE mine.hpp N 3 K 2)")
    endif()
  endforeach()
  if(check_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kgate_add_check(${name}) does not know ${check_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT check_ARGUMENTS)
    set(check_ARGUMENTS --promised)
  endif()
  cmake_path(ABSOLUTE_PATH check_FILE)
  add_test(NAME ${name} COMMAND kgate::lab check ${check_FILE} -N ${check_N} -k ${check_K} ${check_ARGUMENTS})
  if(CMAKE_CXX_COMPILER)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT CXX=${CMAKE_CXX_COMPILER})
  endif()
endfunction()
