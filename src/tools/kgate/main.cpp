// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>

#include "kgate/version.hpp"
#include "tools/kgate/tool.hpp"

namespace {

using namespace kgate::tool;
namespace detail = kgate::detail;

struct command_entry {
  std::string_view name;
  int (*perform)(const request&);
};
constexpr command_entry entries[] = {{"run", run},         {"hold", hold},
                                     {"release", release}, {"jobserver", jobserver},
                                     {"create", create},   {"status", status},
                                     {"list", list},       {"top", top},
                                     {"stats", stats},     {"wait", kgate::tool::wait},
                                     {"cancel", cancel},   {"pause", kgate::tool::pause},
                                     {"resume", resume},   {"drain", drain},
                                     {"resize", resize},   {"remove", kgate::tool::remove},
                                     {"doctor", doctor}};

int dispatch(const request& options) {
  for (const command_entry& one : entries)
    if (one.name == options.command->name) return one.perform(options);
  return exit_usage;
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
  if (options.version) {
    print(std::string("kgate ") + std::to_string(KGATE_VERSION_MAJOR) + "." + std::to_string(KGATE_VERSION_MINOR) +
          "." + std::to_string(KGATE_VERSION_PATCH) + "\n");
    return exit_ok;
  }
  if (options.help) {
    print(help_text(options.command, options.help_long));
    return exit_ok;
  }
  // Those that pass on the exit code of a command, or come by a slot, have codes of their own.
  const std::string_view name = options.command->name;
  const bool runs = name == "run" || name == "hold" || name == "jobserver";
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
