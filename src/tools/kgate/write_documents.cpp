// SPDX-License-Identifier: Apache-2.0
// Writes the man pages and completions that the option table gives into a tree: kgate_documents DIRECTORY.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tools/kgate/spec.hpp"

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace kgate::tool;
  if (argc != 2) {
    std::fputs("usage: kgate_documents DIRECTORY\n", stderr);
    return EXIT_FAILURE;
  }
  const std::filesystem::path root = argv[1];
  write(root / "man" / "kgate.1", manual_overview());
  for (const command_row& command : command_rows())
    write(root / "man" / (std::string("kgate-") + command.name + ".1"), manual_page(command));
  write(root / "completions" / "kgate.bash", completion("bash"));
  write(root / "completions" / "_kgate", completion("zsh"));
  write(root / "completions" / "kgate.fish", completion("fish"));
  return EXIT_SUCCESS;
}
