// SPDX-License-Identifier: Apache-2.0
// kgate run: wait for a slot, run the command in it, give the slot back.
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "tools/kgate/history.hpp"
#include "tools/kgate/launch.hpp"

namespace kgate::tool {

using namespace detail::gates;

namespace {

/// How long a command may run, and what is done about it.
class time_limit {
 public:
  explicit time_limit(const request& options)
      : next_(options.time_limit_s < 0 ? forever : after(options.time_limit_s)), grace_s_(options.grace_s) {}

  /// When something is to be done next.
  std::int64_t at() const { return next_; }
  bool exceeded() const { return exceeded_; }
  /// The time is up: the command is asked to end, and then made to.
  void act(pid_t command) {
    kill(command, exceeded_ ? SIGKILL : SIGTERM);
    kill(command, SIGCONT);
    next_ = exceeded_ ? forever : after(grace_s_);
    exceeded_ = true;
  }

 private:
  static std::int64_t after(double seconds) { return seconds > 1e9 ? forever : now_ns() + std::llround(seconds * 1e9); }
  std::int64_t next_;
  double grace_s_;
  bool exceeded_ = false;
};

/// How long a command runs before it gets a witness, which costs a tenth of what starting `true` costs.
constexpr std::int64_t witness_after_ns = 10'000'000;

/// Waits for the command, passing signals on. Its wait status.
int attend(pid_t command, const request& options, const signal_watch& signals, time_limit& limit,
           group_witness& witness) {
  std::int64_t witness_at = now_ns() + witness_after_ns;
  for (;;) {
    siginfo_t came{};
    int number = 0;
    const std::int64_t next = std::min(witness_at, limit.at());
    if (next == forever) {
      number = sigwaitinfo(&signals.watched(), &came);
    } else {
      const std::int64_t left = std::max<std::int64_t>(next - now_ns(), 0);
      const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
      number = sigtimedwait(&signals.watched(), &came, &timeout);
    }
    int ended = 0;
    if (number > 0 && handle_signal(came, command, witness, ended)) return ended;
    if (number > 0 || errno != EAGAIN) continue;
    const std::int64_t now = now_ns();
    if (now >= limit.at()) limit.act(command);
    if (now < witness_at) continue;
    witness.start(options.line);
    witness_at = forever;
  }
}

}  // namespace

int run(const request& options) {
  static std::vector<held_slot> slots;  // not destroyed: the end of the process unmaps gates faster than we do
  if (const std::optional<int> code = acquire_slots(options, slots)) {
    if (*code == refusal_code(options)) record_refusals(options);
    return *code;
  }
  prepared_command command(options.words, slots);
  const auto leave_all = [&] {
    for (held_slot& one : slots) one.leave();
  };
  if (options.exec) {
    record_waits(slots);
    const started how = become(command, slots);
    leave_all();
    return failed_start(how, command, options);
  }
  const signal_watch signals;
  const started how = start(command, slots, signals);
  if (how.process < 0) {
    leave_all();
    return failed_start(how, command, options);
  }
  time_limit limit(options);
  group_witness witness;
  const int ended = attend(how.process, options, signals, limit, witness);
  expect_truncation(WIFSIGNALED(ended) ? exit_signal + WTERMSIG(ended) : WEXITSTATUS(ended));
  leave_all();
  witness.end();  // now that no process waits for the slot
  if (how.error != 0 || how.lost) return failed_start(how, command, options);
  record_passages(slots);
  if (limit.exceeded()) {
    if (!options.quiet) complain(std::string("'") + command.name() + "' ran longer than --time-limit and was ended");
    return exit_time_limit;
  }
  return pass_on(ended);
}

}  // namespace kgate::tool
