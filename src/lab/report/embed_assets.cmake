# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a C++ file that holds the text of FILES (in FOLDER): see assets.hpp.
set(text "// SPDX-License-Identifier: Apache-2.0\n#include \"lab/report/assets.hpp\"\n\nnamespace kgate::lab::report {\n\n")
foreach(file IN LISTS FILES)
  string(REPLACE "." "_" name ${file})
  file(READ ${FOLDER}/${file} content)
  string(APPEND text "const std::string_view ${name} = R\"KGATE_TEXT(${content})KGATE_TEXT\";\n")
endforeach()
string(APPEND text "\n}  // namespace kgate::lab::report\n")
file(WRITE ${OUTPUT} "${text}")
