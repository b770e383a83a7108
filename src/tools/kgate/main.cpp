// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>

#include "tools/kgate/tool.hpp"

namespace {

using namespace kgate::tool;
namespace detail = kgate::detail;

int dispatch(const request& options) {
  const std::string_view command = options.command->name;
  if (command == "run") return run(options);
  if (command == "status") return status(options);
  if (command == "list") return list(options);
  if (command == "top") return top(options);
  if (command == "resize") return resize(options);
  if (command == "remove") return remove(options);
  return doctor(options);
}

}  // namespace

int main(int argc, char** argv) {
  request options;
  std::string problem;
  if (!parse(argc, argv, options, problem)) {
    complain(problem);
    complain(options.command != nullptr ? std::string("`kgate ") + options.command->name + " --help` tells more"
                                        : "`kgate --help` tells more");
    return exit_usage;
  }
  if (options.help) {
    print(help_text(options.command, options.help_long));
    return exit_ok;
  }
  const bool runs = std::string_view(options.command->name) == "run";
  expect_truncation(runs ? exit_lost : exit_failed);
  detail::gates::location where;
  where.directory = options.dir;
  if (const kgate::gate_failure failure = detail::gates::check_directory(where, false)) {
    complain(failure.text);
    return runs ? exit_error : exit_failed;
  }
  const int code = dispatch(options);
  // The command's output is its own; what this program printed must have arrived.
  if (std::fflush(stdout) != 0) {
    complain("cannot write to standard output");
    _exit(exit_failed);
  }
  _exit(code);
}
