// SPDX-License-Identifier: Apache-2.0
// kgate-cluster: what `kgate` becomes when gates between machines are asked for.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cluster/gate_nodes.hpp"
#include "tools/common/numbers.hpp"
#include "tools/common/text.hpp"
#include "tools/kgate-cluster/cluster_tool.hpp"

namespace kgate::tool::cluster {

namespace {

struct command_entry {
  std::string_view name;
  int (*perform)(const request&);
};
constexpr command_entry entries[] = {
    {"run", run},     {"create", create},        {"status", status}, {"list", list},     {"top", top},
    {"wait", wait},   {"cancel", cancel},        {"resize", resize}, {"remove", remove}, {"doctor", doctor},
    {"lease", lease}, {"pause", cluster::pause}, {"resume", resume}, {"drain", drain},   {"hold", hold},
    {"stats", stats}, {"jobserver", jobserver}};

/// What is wrong with a setting that the environment has, if anything is.
std::string environment_problem() {
  for (const char* name : {"KGATE_ZK_AUTH", "KGATE_ZK_AUTH_FILE"})
    if (const char* const text = std::getenv(name); text != nullptr && *text == '\0')
      return std::string(name) + " is set and empty; unset it if gates shall be open to all";
  const char* const text = std::getenv("KGATE_CONNECT_TIMEOUT");
  if (text != nullptr && parse_seconds(text).value_or(-1) < 0)
    return "KGATE_CONNECT_TIMEOUT must be a time such as 10, 1.5s, 500ms, not '" + std::string(text) + "'";
  return "";
}

int dispatch(const request& options) {
  const std::string_view name = options.command->name;
  const bool runs = name == "run" || name == "hold" || name == "jobserver";
  for (const command_entry& one : entries) {
    if (one.name != options.command->name) continue;
    try {
      return one.perform(options);
    } catch (const gate_error& error) {
      complain(displayable(error.what()));
      return code_of(error, runs);
    } catch (const std::exception& error) {
      complain(error.what());
      return runs ? exit_error : exit_failed;
    }
  }
  complain(std::string("kgate ") + options.command->name + " works on gates of this machine only");
  return exit_usage;
}

}  // namespace

int code_of(const gate_error& error, bool runs) {
  if (dynamic_cast<const session_lost*>(&error) != nullptr) return runs ? exit_lost : exit_failed;
  if (dynamic_cast<const detail::cluster::gate_shrunk*>(&error) != nullptr) return runs ? exit_lost : exit_failed;
  switch (error.code()) {
    case gate_errc::bad_name:
    case gate_errc::bad_slots:
      return exit_usage;
    case gate_errc::removed:
    case gate_errc::cancelled:
      return runs ? exit_lost : exit_failed;
    default:
      return runs ? exit_error : exit_failed;
  }
}

std::chrono::milliseconds connect_timeout() {
  const char* const text = std::getenv("KGATE_CONNECT_TIMEOUT");
  const double seconds = text != nullptr ? parse_seconds(text).value_or(0) : 10;  // see environment_problem()
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(seconds, 3600.0) * 1000));
}

std::string gate_arguments_on(const request& options, const std::string& name) {
  return " --on " + options.on + " -n " + name;
}

cluster_options options_for(const request&) {
  cluster_options out;
  out.connect_timeout = connect_timeout();
  out.command = "kgate";
  return out;
}

}  // namespace kgate::tool::cluster

int main(int argc, char** argv) {
  using namespace kgate::tool;
  request options;
  std::string problem;
  if (!parse(argc, argv, options, problem)) {
    complain(problem);
    return exit_usage;
  }
  if (options.on.empty() || options.help || options.version) {
    complain("this program is started by `kgate` with --on");
    return exit_usage;
  }
  if (problem = cluster::environment_problem(); !problem.empty()) {
    complain(problem);
    return exit_usage;
  }
  const int code = cluster::dispatch(options);
  if (std::fflush(stdout) != 0) {
    complain("cannot write to standard output");
    _exit(exit_failed);
  }
  _exit(code);
}
