// SPDX-License-Identifier: Apache-2.0
// kgate wait, cancel, pause, resume, drain.
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "tools/kgate/json.hpp"
#include "tools/kgate/waiting.hpp"

namespace kgate::tool {

using namespace detail::gates;

namespace {

bool is_process(const participant& who, int process) { return who.process == process || command_of(who) == process; }

/// Sleeps until one of the processes ends, or a while. Members of programs come and go without ending, and processes of
/// other PID namespaces cannot be watched: so it is never long.
void sleep_until_an_end(const std::vector<participant>& present) {
  constexpr std::size_t watched_max = 64;
  constexpr int while_ms = 50;
  std::vector<pollfd> watched;
  for (const participant& who : present) {
    const int process = command_of(who) != 0 ? command_of(who) : who.process;
    if (watched.size() == watched_max) break;
    const long fd = syscall(SYS_pidfd_open, process, 0);
    if (fd >= 0) watched.push_back({static_cast<int>(fd), POLLIN, 0});
  }
  poll(watched.data(), watched.size(), while_ms);
  for (const pollfd& one : watched) close(one.fd);
}

/// Waits until `done` says so of what it sees: 0, or an exit code and why has been said.
template <class Done>
int wait_until(const request& options, core& gate, Done done) {
  const std::int64_t deadline =
      options.timeout_s < 0 || options.timeout_s > 1e9 ? forever : now_ns() + std::llround(options.timeout_s * 1e9);
  for (;;) {
    gate.heal_all();
    snapshot seen = take_snapshot(gate.cells().map());
    if (seen.settled && done(seen)) return exit_ok;
    if (seen.retired) {  // those inside stay inside a gate that is not seen any more, and so does what becomes of them
      complain("gate '" + options.name() + "' was removed while somebody was inside or waited");
      return exit_lost;
    }
    if (now_ns() >= deadline) return exit_timed_out;
    std::vector<participant> present = std::move(seen.holders);
    present.insert(present.end(), seen.waiters.begin(), seen.waiters.end());
    sleep_until_an_end(present);
  }
}

int set_paused(const request& options, core& gate, bool paused) {
  membership mine;
  if (const gate_failure failure = gate.join(std::string("kgate ") + options.command->name, mine)) {
    complain(failure, options);
    return exit_failed;
  }
  const outcome result = gate.set_paused(mine, paused);
  gate.part(mine);
  const bool done = result != outcome::retired && result != outcome::damaged;
  if (result == outcome::damaged)
    complain(gate.scribbled_failure(), options);
  else if (!done)
    complain("gate '" + options.name() + "' was removed");
  return done ? exit_ok : exit_failed;
}

int pause_or_resume(const request& options, bool paused) {
  core gate;
  if (!open_existing(options, gate)) return exit_failed;
  if (const int code = set_paused(options, gate, paused)) return code;
  const char* const what = paused ? "paused" : "resumed";
  if (options.json) {
    json_value document = json_document();
    document["gate"] = options.name();
    document["done"] = what;
    print_json(document);
  } else {
    print(options.name() + ": " + what + "\n");
  }
  return exit_ok;
}

}  // namespace

int wait(const request& options) {
  core gate;
  if (!open_existing(options, gate)) return exit_failed;
  return wait_until(options, gate, [&](const snapshot& seen) {
    const auto is_it = [&](const participant& who) { return is_process(who, options.pid); };
    if (options.pid != 0)
      return std::none_of(seen.holders.begin(), seen.holders.end(), is_it) &&
             std::none_of(seen.waiters.begin(), seen.waiters.end(), is_it);
    return seen.holders.empty() && seen.waiters.empty();
  });
}

int cancel(const request& options) {
  core gate;
  membership mine;
  if (!open_existing(options, gate)) return exit_failed;
  if (const gate_failure failure = gate.join("kgate cancel", mine)) {
    complain(failure, options);
    return exit_failed;
  }
  gate.heal_all();
  const snapshot seen = take_snapshot(gate.cells().map());
  json_value cancelled = json_value::array();
  std::string out;
  // From the end, so that no waiter is granted on the way that is about to be cancelled.
  for (auto who = seen.waiters.rbegin(); who != seen.waiters.rend(); ++who) {
    if (!options.all && !is_process(*who, options.pid)) continue;
    if (!gate.dismiss(mine, *who)) continue;
    cancelled.push_back(who->process);
    out += options.name() + ": process " + std::to_string(who->process) + " cancelled\n";
  }
  const bool inside = std::any_of(seen.holders.begin(), seen.holders.end(),
                                  [&](const participant& who) { return is_process(who, options.pid); });
  if (cancelled.empty() && !options.all) {
    complain("process " + std::to_string(options.pid) + (inside ? " is inside gate '" : " does not wait at gate '") +
             options.name() + "'" + (inside ? "; only those who wait can be cancelled" : ""));
    return exit_failed;
  }
  if (options.json) {
    json_value document = json_document();
    document["gate"] = options.name();
    document["cancelled"] = cancelled;
    print_json(document);
  } else {
    print(out);
  }
  return exit_ok;
}

int pause(const request& options) { return pause_or_resume(options, true); }
int resume(const request& options) { return pause_or_resume(options, false); }

int drain(const request& options) {
  core gate;
  if (!open_existing(options, gate)) return exit_failed;
  if (const int code = set_paused(options, gate, true)) return code;
  const int code = wait_until(options, gate, [](const snapshot& seen) { return seen.holders.empty(); });
  if (code == exit_timed_out)
    complain("somebody is still inside gate '" + options.name() + "', which stays paused; `kgate resume" +
             gate_arguments(options, options.name()) + "` lets others in again");
  return code;
}

}  // namespace kgate::tool
