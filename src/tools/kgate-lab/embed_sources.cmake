# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a C++ file that holds the text of every header in FOLDER: see embedded_sources.hpp.
file(GLOB headers ${FOLDER}/*.hpp)
list(SORT headers)
set(text "// SPDX-License-Identifier: Apache-2.0\n#include \"tools/kgate-lab/embedded_sources.hpp\"\n\n")
string(APPEND text "namespace kgate::tool {\n\nconst std::vector<embedded_source>& embedded_sources() {\n")
string(APPEND text "  static const std::vector<embedded_source> all{\n")
foreach(header IN LISTS headers)
  cmake_path(GET header FILENAME name)
  file(READ ${header} content)
  string(APPEND text "      {\"${name}\", R\"KGATE_TEXT(${content})KGATE_TEXT\"},\n")
endforeach()
string(APPEND text "  };\n  return all;\n}\n\n}  // namespace kgate::tool\n")
file(WRITE ${OUTPUT} "${text}")
