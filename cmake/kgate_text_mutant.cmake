# SPDX-License-Identifier: Apache-2.0
# kgate_text_mutant(TARGET name header FROM TO [FROM TO ...])
# A copy of an algorithm's header with the mistake `name`: each text FROM, which must occur exactly once, is replaced by
# TO, and the copy's namespace gets the name, as in kgate::danek10::name. Included as "mutants/name.hpp". No mutant can
# fall behind the text that ships: when the text changes under it, the build says so.
function(kgate_text_mutant target name header)
  set(file ${PROJECT_SOURCE_DIR}/include/kgate/algorithms/${header})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  math(EXPR last "${ARGC} - 1")
  foreach(at RANGE 3 ${last} 2)
    math(EXPR to_at "${at} + 1")
    set(from "${ARGV${at}}")
    string(FIND "${text}" "${from}" first)
    string(FIND "${text}" "${from}" final REVERSE)
    if(first EQUAL -1 OR NOT first EQUAL final)
      message(FATAL_ERROR "mutant ${name}: '${from}' does not occur exactly once in ${header}")
    endif()
    string(REPLACE "${from}" "${ARGV${to_at}}" text "${text}")
  endforeach()
  string(REGEX REPLACE "\nnamespace (kgate::[a-z0-9_:]+) {" "\nnamespace \\1::${name} {" text "${text}")
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/mutants/${name}.hpp CONTENT "${text}")
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
