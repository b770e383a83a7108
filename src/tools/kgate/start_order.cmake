# SPDX-License-Identifier: Apache-2.0
# Where the linker puts what a program executes at its start.

# kgate_order_start(TARGET)
# What start_order.py has written stands together: GNU ld's own script, with that in front. Other linkers say no script of
# theirs, and nothing changes. The linker's map is for start_order.py.
function(kgate_order_start target)
  set(here ${CMAKE_CURRENT_BINARY_DIR})
  set(order ${CMAKE_CURRENT_SOURCE_DIR}/start_order)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_EXE_LINKER_FLAGS}")
  file(WRITE ${here}/empty.c "")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${flags} -static -nostdlib -Wl,-z,noseparate-code -Wl,--verbose -x c ${here}/empty.c -o
                          ${here}/empty OUTPUT_VARIABLE script ERROR_QUIET)
  if(NOT script MATCHES "=====+\n(.*SECTIONS.*)\n=====+")
    return()
  endif()
  set(script "${CMAKE_MATCH_1}")
  foreach(section text data bss)
    string(REGEX REPLACE "(\n  \\.${section} +:[ \n]+{)" "\\1\nINCLUDE \"${order}.${section}.ld\"\n" script "${script}")
  endforeach()
  file(WRITE ${here}/kgate.ld "${script}")
  target_link_options(${target} PRIVATE -Wl,-T,${here}/kgate.ld -Wl,-Map=${here}/kgate.map)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS "${order}.text.ld;${order}.data.ld;${order}.bss.ld")
endfunction()
