// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include "kgate/version.hpp"
#include "tools/kgate/ensemble.hpp"
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

/// Descriptors 0 to 2 that are closed are opened on nothing, or a gate's file would get their numbers and what is
/// printed. Neither can they be read or written, nor does the command inherit them.
void occupy_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0) open("/", O_PATH | O_CLOEXEC);
}

/// Ends with the code; with the other one if what was printed did not arrive.
[[noreturn]] void end(int code, int code_if_not_written) {
  if (!flush_output()) _exit(code_if_not_written);
  _exit(code);
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_descriptors();
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
    end(exit_ok, exit_failed);
  }
  if (options.help) {
    print(help_text(options.command, options.help_long));
    end(exit_ok, exit_failed);
  }
  const std::string_view name = options.command->name;
  // Which slot a descriptor keeps, and where, is known from the descriptor.
  if (!options.on.empty() && name != "release") return become_cluster_program(argv, options);
  // Those that pass on the exit code of a command, or come by a slot, have codes of their own.
  const bool runs = name == "run" || name == "hold" || name == "jobserver";
  expect_truncation(runs ? exit_lost : exit_failed);
  detail::gates::location where;
  where.directory = options.dir;
  if (const kgate::gate_failure failure = detail::gates::check_directory(where, false)) {
    complain(failure.text);
    return runs ? exit_error : exit_failed;
  }
  end(dispatch(options), runs ? exit_error : exit_failed);
}
