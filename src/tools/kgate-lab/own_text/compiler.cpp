// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/own_text/compiler.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

namespace kgate::tool {

namespace {

namespace fs = std::filesystem;

/// The words of $CXX, which may be "ccache g++".
std::vector<std::string> compiler_from_environment() {
  const char* chosen = std::getenv("CXX");
  std::istringstream words(chosen != nullptr ? chosen : "");
  return {std::istream_iterator<std::string>(words), {}};
}

/// As exec takes them.
std::vector<char*> terminated(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// This program's environment, with another folder for temporary files.
std::vector<std::string> environment_with_temporary(const fs::path& folder) {
  std::vector<std::string> variables{"TMPDIR=" + folder.string()};
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!std::string_view(*variable).starts_with("TMPDIR=")) variables.emplace_back(*variable);
  return variables;
}

/// Runs a command found by PATH, its stderr in a file. Its temporary files go to the same folder: a compiler that is
/// interrupted may leave them behind. Its exit code; nothing if there is no such command.
std::optional<int> run(const std::vector<std::string>& words, const fs::path& errors) {
  const std::vector<char*> arguments = terminated(words);
  const std::vector<std::string> variables = environment_with_temporary(errors.parent_path());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), terminated(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return std::nullopt;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

scratch_folder::scratch_folder() {
  std::string name = (fs::temp_directory_path() / "kgate-lab-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
  path_ = name;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

compilation compile_shared(const fs::path& source, const fs::path& output,
                           const std::vector<fs::path>& include_folders) {
  std::vector<std::vector<std::string>> candidates;
  if (auto chosen = compiler_from_environment(); !chosen.empty())
    candidates.push_back(std::move(chosen));
  else
    candidates = {{"c++"}, {"g++"}, {"clang++"}};
  const fs::path errors = output.parent_path() / "errors.txt";
  compilation result;
  for (std::vector<std::string>& words : candidates) {
    result.compiler = words.back();
    // -Bsymbolic: a text that bears the name of one in the program, a changed copy of it say, must not be taken for it.
    for (const char* word : {"-std=c++20", "-O0", "-fPIC", "-shared", "-Wl,-Bsymbolic", "-fdiagnostics-color=never"})
      words.emplace_back(word);
    for (const fs::path& folder : include_folders) words.push_back("-I" + folder.string());
    words.insert(words.end(), {"-o", output.string(), source.string()});
    const std::optional<int> code = run(words, errors);
    if (!code || *code == 127) continue;  // not there
    result.succeeded = *code == 0;
    std::ifstream file(errors);
    result.said.assign(std::istreambuf_iterator<char>(file), {});
    return result;
  }
  result.found = false;
  return result;
}

}  // namespace kgate::tool
