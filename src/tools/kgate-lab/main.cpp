// SPDX-License-Identifier: Apache-2.0
// kgate-lab: the laboratory's tool.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "lab/checker/explore/memory_limit.hpp"
#include "tools/kgate-lab/commands/commands.hpp"
#include "tools/kgate-lab/interrupt.hpp"
#include "tools/kgate-lab/output/terminal.hpp"
#include "tools/kgate-lab/output/text.hpp"
#include "tools/kgate-lab/supervisor.hpp"
#include "tools/kgate-lab/system_memory.hpp"

namespace kgate::tool {

namespace {

constexpr const char* footer =
    "Examples:\n"
    "  kgate-lab list\n"
    "  kgate-lab explain am97-chain-cc\n"
    "  kgate-lab check am97-chain-cc -N 3 -k 2\n"
    "\n"
    "'kgate-lab COMMAND --help' says more. Exit code: 0 holds, 1 violated, 2 usage,\n"
    "3 undecided, 4 the result could not be written.\n";

/// One line on stderr.
exit_code complain(std::string_view message, exit_code code) {
  std::fputs(fmt::format("kgate-lab: {}\n", one_line(message)).c_str(), stderr);
  return code;
}

/// The names of a command's options and arguments, for a message.
std::string allowed(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

class laboratory {
 public:
  laboratory() {
    app_.set_version_flag("--version", "kgate-lab " KGATE_VERSION, "Show the version");
    app_.set_help_flag("-h,--help", "Show this help");
    app_.require_subcommand(0, 1);
    app_.footer(footer);
    app_.get_formatter()->column_width(26);
    for (const auto add : commands) added_.push_back(add(app_));
  }

  exit_code run(int argc, char** argv) {
    const CLI::App* parsed = &app_;
    try {
      if (argc < 2) throw usage_error(fmt::format("a command is needed: {}", fmt::join(names(), ", ")));
      check_command(argv[1]);
      app_.parse(argc, argv);
      for (const command& one : added_)
        if (one.options->parsed()) return one.run();
      throw usage_error(fmt::format("a command is needed: {}", fmt::join(names(), ", ")));
    } catch (const CLI::CallForHelp&) {
      print(chosen() == &app_ ? app_.help() : chosen()->help(app_.get_name()));
      return exit_code::holds;
    } catch (const CLI::CallForVersion&) {
      print(app_.version() + "\n");
      return exit_code::holds;
    } catch (const CLI::ExtrasError&) {
      parsed = chosen();
      return complain(
          fmt::format("unknown argument '{}'; allowed are {}", parsed->remaining(true).front(), allowed(*parsed)),
          exit_code::usage);
    } catch (const CLI::ParseError& e) {
      parsed = chosen();
      const std::string who = parsed == &app_ ? "kgate-lab" : "kgate-lab " + parsed->get_name();
      return complain(fmt::format("{}; see '{} --help'", e.what(), who), exit_code::usage);
    }
  }

 private:
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const command& one : added_) all.push_back(one.options->get_name());
    return all;
  }
  void check_command(const std::string& word) const {
    const auto known = names();
    if (word.starts_with('-') || std::find(known.begin(), known.end(), word) != known.end()) return;
    throw usage_error(fmt::format("unknown command '{}'; allowed are {}", word, fmt::join(known, ", ")));
  }
  /// The command the user named, or the tool itself.
  const CLI::App* chosen() const {
    for (const command& one : added_)
      if (one.options->parsed()) return one.options;
    return &app_;
  }

  CLI::App app_{"kgate-lab: k-exclusion algorithms, explored in every interleaving", "kgate-lab"};
  std::vector<command> added_;
};

}  // namespace

exit_code run(int argc, char** argv) {
  const lab::memory_limit limit(system_memory() / 4 * 3);
  try {
    return laboratory().run(argc, argv);
  } catch (const usage_error& e) {
    return complain(e.what(), exit_code::usage);
  } catch (const interrupted_early& e) {
    return complain(e.what(), exit_code::undecided);
  } catch (const std::bad_alloc&) {
    return complain(limit.reached() ? "memory limit reached" : "out of memory", exit_code::undecided);
  } catch (const std::exception& e) {
    return complain(e.what(), exit_code::failed);
  } catch (...) {  // nothing of ours: a text in a file
    return complain("the text throws something: nothing is decided", exit_code::undecided);
  }
}

}  // namespace kgate::tool

int main(int argc, char** argv) {
  // A reader that has gone away is an error like any other, seen where the write fails.
  signal(SIGPIPE, SIG_IGN);
  if (std::find(argv, argv + argc, std::string_view("--json")) != argv + argc) kgate::tool::errors_as_json();
  if (kgate::tool::names_a_text(argc, argv))
    if (const auto code = kgate::tool::supervise()) return *code;
  const auto code = static_cast<int>(kgate::tool::run(argc, argv));
  kgate::tool::ends_by_itself();
  return code;
}
