// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>

#include "tools/kgate/tool.hpp"

namespace {

using namespace kgate::tool;
namespace gate_detail = kgate::gate_detail;

int dispatch(const request& asked) {
  const std::string_view command = asked.command->name;
  if (command == "run") return run(asked);
  if (command == "status") return status(asked);
  if (command == "list") return list(asked);
  if (command == "top") return top(asked);
  if (command == "resize") return resize(asked);
  if (command == "remove") return remove(asked);
  return doctor(asked);
}

}  // namespace

int main(int argc, char** argv) {
  request asked;
  std::string problem;
  if (!parse(argc, argv, asked, problem)) {
    complain(problem);
    complain(asked.command != nullptr ? std::string("`kgate ") + asked.command->name + " --help` tells more"
                                      : "`kgate --help` tells more");
    return exit_usage;
  }
  if (asked.help) {
    print(help_text(asked.command, asked.help_long));
    return exit_ok;
  }
  const bool runs = std::string_view(asked.command->name) == "run";
  expect_truncation(runs ? exit_lost : exit_failed);
  gate_detail::place where;
  where.directory = asked.dir;
  if (const kgate::gate_failure failure = gate_detail::check_directory(where, false)) {
    complain(failure.text);
    return runs ? exit_error : exit_failed;
  }
  const int code = dispatch(asked);
  // The command's output is its own; what this program printed must have arrived.
  if (std::fflush(stdout) != 0) {
    complain("cannot write to standard output");
    _exit(exit_failed);
  }
  _exit(code);
}
