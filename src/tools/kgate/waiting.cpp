// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate/waiting.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <initializer_list>
#include <memory>

#include "tools/common/terminal.hpp"
#include "tools/common/text.hpp"

namespace kgate::tool {

using namespace detail::gates;

namespace {

constexpr std::size_t command_bytes_max = sizeof(identity::command) - 1;

/// How often a gate that others remove is opened or created again.
constexpr int tries_max = 1000;

/// Shows the position in the queue on a terminal, a few times a second.
struct queue_line {
  std::string name;
  status_line line;
  std::int64_t began = now_ns();
  std::int64_t shown = 0;

  explicit queue_line(std::string gate) : name(std::move(gate)) {}
  static void progress(void* self, int position) { static_cast<queue_line*>(self)->show(position); }
  void show(int position) {
    constexpr std::int64_t ms = 1'000'000;
    const std::int64_t now = now_ns();
    if (now - began < 300 * ms || now - shown < 250 * ms) return;
    shown = now;
    line.show("kgate: waiting at gate '" + name +
              "': " + (position == 0 ? "next in the queue" : std::to_string(position) + " ahead") + ", " +
              span_text(static_cast<double>(now - began) * 1e-9));
  }
};

/// Signals that end a wait. The handler takes the member out of the queue, as any process may, so that the wait ends at
/// once whatever it is doing; the waiter then leaves in good order and dies of the signal.
class interruptible_wait {
 public:
  interruptible_wait(core& gate, membership& member) {
    waiting_gate = &gate;
    waiting_member = &member;
    struct sigaction action {};
    action.sa_handler = on_signal;
    for (std::size_t i = 0; i < std::size(endings); ++i) {
      sigaction(endings[i], &action, &before_[i]);
      if (before_[i].sa_handler == SIG_DFL) continue;
      sigaction(endings[i], &before_[i], nullptr);  // one that is ignored stays so, also if it came just now
      if (signal_seen == endings[i]) signal_seen = 0;
    }
    struct sigaction stop {};
    stop.sa_handler = on_stop;
    sigaddset(&stop.sa_mask, SIGCONT);  // for stop_unless_continued()
    sigaction(SIGTSTP, &stop, &stop_before_);
    if (stop_before_.sa_handler != SIG_DFL) sigaction(SIGTSTP, &stop_before_, nullptr);
  }
  interruptible_wait(const interruptible_wait&) = delete;
  interruptible_wait& operator=(const interruptible_wait&) = delete;
  ~interruptible_wait() {
    for (std::size_t i = 0; i < std::size(endings); ++i) sigaction(endings[i], &before_[i], nullptr);
    sigaction(SIGTSTP, &stop_before_, nullptr);
    waiting_gate = nullptr;
  }
  /// The signal that came, or 0.
  static int came() { return signal_seen; }

 private:
  /// All that would end the process and that others may send for a reason.
  static constexpr int endings[] = {SIGINT,  SIGTERM,   SIGHUP,  SIGQUIT, SIGPIPE, SIGALRM, SIGUSR1,  SIGUSR2,
                                    SIGPROF, SIGVTALRM, SIGXCPU, SIGXFSZ, SIGPOLL, SIGPWR,  SIGSTKFLT};

  static void on_signal(int number) {
    const int error = errno;
    signal_seen = number;
    if (waiting_gate != nullptr) waiting_gate->dismiss_own(*waiting_member);
    errno = error;
  }
  static void on_stop(int) {
    const int error = errno;
    status_line::clear_from_handler();
    stop_unless_continued();
    errno = error;
  }

  static inline volatile sig_atomic_t signal_seen = 0;
  static inline core* waiting_gate = nullptr;
  static inline membership* waiting_member = nullptr;
  struct sigaction before_[std::size(endings)]{};
  struct sigaction stop_before_ {};
};

int failed_entry(entry why, const request& options, const gate_request& wanted) {
  const std::string gate = wanted.lease_of.empty() ? "gate '" + wanted.name + "'"
                                                   : "the lease of gate '" + wanted.lease_of + "' on this host";
  const std::string see = "; see `kgate status" + gate_arguments(options, wanted.name) + "`";
  switch (why) {
    case entry::timed_out:
      if (!options.quiet)
        complain("no slot of " + gate + (options.try_once ? " is free" : " became free in time") + see);
      return refusal_code(options);
    case entry::removed:
      if (!wanted.lease_of.empty()) return lease_gone;
      complain(gate + " was removed; the command was not started");
      return exit_lost;
    case entry::damaged:
      complain(gate + " is damaged; run `kgate doctor" + gate_arguments(options, wanted.name) + "`");
      return exit_lost;
    case entry::too_heavy:
      complain(gate + " was made smaller than --weight " + std::to_string(wanted.permits()) +
               "; the command was not started");
      return exit_lost;
    case entry::lost:
      complain(gate + ": its lock files are gone; the command was not started");
      return exit_lost;
    case entry::cancelled:
      complain("cancelled at " + gate + "; the command was not started");
      return exit_lost;
    case entry::entered:
      break;
  }
  return exit_error;
}

}  // namespace

void compare_with_options(const request& options, const gate_request& wanted, core& gate) {
  if (options.overtake < 0 && options.mode < 0 && options.group.empty()) return;
  static std::vector<std::string> compared;  // `kgate hold` opens its gate twice
  if (std::find(compared.begin(), compared.end(), wanted.name) != compared.end()) return;
  compared.push_back(wanted.name);
  const std::string start = "gate '" + wanted.name + "' exists already: ";
  const std::uint32_t overtakings = gate.cells().map().header.overtakings;
  if (options.overtake >= 0 && overtakings != static_cast<unsigned>(options.overtake))
    complain(start + "--overtake " + std::to_string(options.overtake) + " changes nothing, it has " +
             std::to_string(overtakings));
  if (options.mode < 0 && options.group.empty()) return;
  struct stat there {};
  location where;
  if (!location_of(options, where) || stat(gate.file().path().c_str(), &there) != 0) return;
  char modes[48];
  std::snprintf(modes, sizeof modes, "0%o changes nothing, it has 0%o", static_cast<unsigned>(where.mode),
                static_cast<unsigned>(there.st_mode & 0777));
  if ((there.st_mode & 0777) != where.mode) complain(start + "mode " + modes);
  if (!options.group.empty() && there.st_gid != where.group)
    complain(start + "--group " + options.group + " changes nothing, its group is " + std::to_string(there.st_gid));
}

namespace {

/// Whether there is room but for tokens that jobservers offer and no job has taken.
bool has_room_in_offers(core& gate, int permits) {
  const snapshot seen = take_snapshot(gate.cells().map());
  int room = seen.free;
  for (const participant& who : seen.holders) room += who.command_process == token_offered ? who.weight : 0;
  return seen.waiters.empty() && !seen.paused && room >= permits;
}

/// Queues up, with signals and a line on the terminal. Apart from enter(), for it takes a page of the stack.
[[gnu::noinline]] entry enter_by_waiting(const request& options, wait_options& how, held_slot& out, word& became) {
  queue_line line(out.wanted.name);
  if (!options.quiet && line.line.wanted()) {
    how.progress = queue_line::progress;
    how.progress_argument = &line;
  }
  mallopt(M_ARENA_MAX, 1);  // the thread that watches others needs no memory of its own, and a thousand may wait
  const interruptible_wait interruptible(out.gate, out.member);
  return out.gate.enter(out.member, out.wanted.permits(), how, became);
}

/// Enters the gate.
entry enter(const request& options, std::int64_t deadline_ns, held_slot& out, word& became) {
  wait_options how;
  how.deadline_ns = deadline_ns;
  const int permits = out.wanted.permits();
  const word now = out.gate.cells().word();
  if (deadline_ns == 0) {
    const entry result = out.gate.enter(out.member, permits, how, became);
    if (result != entry::timed_out || !has_room_in_offers(out.gate, permits)) return result;
    how.deadline_ns = now_ns() + 2 * offer_ns_max;
  } else if (!now.waiting()) {
    // If no process waits, those inside may have ended unnoticed, as commands after --exec do.
    wait_options at_once = how;
    at_once.deadline_ns = 0;
    if (const entry result = out.gate.enter(out.member, permits, at_once, became); result != entry::timed_out)
      return result;
  }
  return enter_by_waiting(options, how, out, became);
}

/// Whether the gate was removed before this process queued up: for one that comes now it is a gate that never was. One
/// that waited is turned away instead.
bool was_gone_before(held_slot& one) {
  mapped_cells& cells = one.gate.cells();
  return cells.word().operation() == op::retired &&
         cells.map().lines[one.member.number].queued_ns.load(std::memory_order_relaxed) == 0;
}

/// Takes the slots of one gate; an exit code if they cannot be had. With `again`, nothing is said and it is set instead
/// if the gate was removed meanwhile.
std::optional<int> acquire_once(const request& options, std::int64_t deadline_ns, held_slot& out, bool* again) {
  const gate_request& wanted = out.wanted;
  const auto is_gone = [&] { return again != nullptr && (*again = was_gone_before(out)); };
  if (const int code = open_gate(options, wanted, out.gate, true)) return code;
  out.path = out.gate.file().path();
  const int slots = out.gate.slots();
  if (slots == 0) return failed_entry(entry::damaged, options, wanted);
  if (wanted.permits() > slots) {
    complain("--weight " + std::to_string(wanted.permits()) + " is more than the " + std::to_string(slots) +
             " slots of gate '" + wanted.name + "'");
    return exit_usage;
  }
  if (const gate_failure failure = out.gate.join(shown_command(options), out.member, false)) {
    if (is_gone()) return exit_lost;
    complain(failure, options);
    return exit_error;
  }
  out.lock_fd = out.gate.file().locks().open_for_command();
  if (out.lock_fd < 0) {
    if (is_gone()) return exit_lost;
    complain(system_failure("cannot open the lock files of gate '" + wanted.name + "'", errno), options);
    return exit_error;
  }
  const std::int64_t began = now_ns();
  word became;
  const entry result = enter(options, deadline_ns, out, became);
  if (result != entry::entered) out.gate.advance();
  if (interruptible_wait::came() != 0) {
    if (result == entry::entered) out.gate.leave(out.member, became);
    return exit_signal + interruptible_wait::came();
  }
  if (result == entry::removed && is_gone()) return exit_lost;
  if (result != entry::entered) return failed_entry(result, options, wanted);
  out.entered_ns = static_cast<std::uint64_t>(now_ns());
  out.waited_ns = out.entered_ns - static_cast<std::uint64_t>(began);
  for (int left = wanted.permits(); left > 0; --left) out.slots.push_back(out.gate.take_slot(out.member));
  out.gate_slots = out.gate.slots();
  out.token = out.gate.take_token();
  const bool whole = std::all_of(out.slots.begin(), out.slots.end(), [](int slot) { return slot >= 0; });
  if (whole && out.token != 0) return std::nullopt;
  out.leave();
  return failed_entry(entry::damaged, options, wanted);
}

/// The same, with a gate that is opened or created anew as often as it is removed in between.
std::optional<int> acquire_one(const request& options, std::int64_t deadline_ns, held_slot& out) {
  for (int tries = 0;; ++tries) {
    bool again = false;
    const std::optional<int> code = acquire_once(options, deadline_ns, out, tries < tries_max ? &again : nullptr);
    if (!again) return code;
    if (out.lock_fd >= 0) close(out.lock_fd);
    const gate_request wanted = out.wanted;
    std::destroy_at(&out);  // a gate cannot be moved
    std::construct_at(&out)->wanted = wanted;
  }
}

}  // namespace

namespace {

/// Whether the size of the gate was neither asked for nor set so far.
bool has_default_size(core& gate) {
  const file_layout& map = gate.cells().map();
  return map.header.default_size != 0 && limit{map.size_bits.load()}.seq() == 0;
}

/// A gate has another size than the one that is asked for, which `failure` says, or that one by default: gives it that
/// one if the other was not asked for, so that it stands from now on.
[[gnu::noinline]] gate_failure replace_default_size(const gate_request& wanted, const location& where,
                                                    gate_failure failure) {
  core there;
  gate_failure other = there.open(wanted.name, 0, where);
  if (other.code == gate_errc::not_found) return {};
  if (other) return other;
  if (there.cells().map().header.default_size == 0) return failure;
  if (!has_default_size(there)) return {};  // another process has been faster
  membership mine;
  other = there.join("kgate", mine);
  if (other) return there.cells().word().operation() != op::retired ? other : gate_failure{};
  there.resize(mine, wanted.slots);
  there.part(mine);
  return {};
}

}  // namespace

std::string held_slot::slot_list() const {
  std::string text;
  for (const int slot : slots) text += (text.empty() ? "" : ",") + std::to_string(slot);
  return text;
}

void held_slot::leave() {
  word became;
  gate.leave(member, became);
  left_ns = static_cast<std::uint64_t>(now_ns());
}

std::string shown_command(const request& options) {
  if (options.words.empty()) return std::string("kgate ") + options.command->name;
  std::string line;
  for (const char* word : options.words) {
    line += (line.empty() ? "" : " ") + std::string(word);
    if (!options.show_arguments || line.size() > command_bytes_max) break;
  }
  return std::string(cut_to_bytes(line, command_bytes_max));
}

bool lock_command_byte(int fd, short type, unsigned member) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = command_byte(member);
  range.l_len = 1;
  return fcntl(fd, F_OFD_SETLK, &range) == 0;
}

int refusal_code(const request& options) {
  if (options.timeout_code >= 0) return options.timeout_code;
  return options.try_once ? exit_refused : exit_timed_out;
}

gate_failure open_with_size(const gate_request& wanted, const location& where, core& gate) {
  for (int tries = 0;; ++tries) {
    gate_failure failure = gate.open(wanted.name, wanted.slots, where);
    if (!failure && has_default_size(gate)) return replace_default_size(wanted, where, {});
    if (failure.code != gate_errc::wrong_slots || tries == tries_max) return failure;
    failure = replace_default_size(wanted, where, std::move(failure));
    if (failure) return failure;
  }
}

int open_gate(const request& options, const gate_request& wanted, core& gate, bool for_command) {
  location where;
  if (!location_of(options, where)) return exit_usage;
  where.for_command = for_command;
  where.for_exec = for_command && options.exec;
  gate_failure failure =
      options.existing || wanted.slots == 0 ? gate.open(wanted.name, 0, where) : open_with_size(wanted, where, gate);
  for (int tries = 0; failure.code == gate_errc::not_found && wanted.slots == 0 && !options.existing; ++tries) {
    if (wanted.permits() > 1) {
      complain("there is no gate '" + wanted.name + "', and --weight " + std::to_string(wanted.permits()) +
               " is more than the one slot it would be created with; say how many it shall have: -k K");
      return exit_usage;
    }
    where.default_size = true;
    failure = gate.open(wanted.name, 1, where);
    if (failure.code != gate_errc::wrong_slots || tries == tries_max) break;
    failure = gate.open(wanted.name, 0, where);  // another process was faster, with a number: that gate will do
  }
  if (failure.code == gate_errc::not_found && !wanted.lease_of.empty()) return lease_gone;
  if (failure.code == gate_errc::not_found && options.existing)
    failure.text = no_such_gate(options, wanted.name) + "; create it: kgate create" +
                   gate_arguments(options, wanted.name) + " -k K";
  if (failure) {
    complain(failure, options);
    return failure.code == gate_errc::bad_name ? exit_usage : exit_error;
  }
  compare_with_options(options, wanted, gate);
  return 0;
}

std::optional<int> acquire_slots(const request& options, std::vector<held_slot>& out) {
  std::int64_t deadline = forever;
  if (options.try_once) deadline = 0;
  if (options.timeout_s >= 0)
    deadline = options.timeout_s > 1e9 ? forever : now_ns() + std::llround(options.timeout_s * 1e9);
  std::vector<std::size_t> order(options.gates.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  // All processes in the same order, or two would wait for each other.
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return options.gates[a].name < options.gates[b].name; });
  out = std::vector<held_slot>(options.gates.size());
  for (std::size_t taken = 0; taken < order.size(); ++taken) {
    held_slot& next = out[order[taken]];
    next.wanted = options.gates[order[taken]];
    const std::optional<int> code = acquire_one(options, deadline, next);
    if (!code) continue;
    while (taken-- > 0) out[order[taken]].leave();
    if (interruptible_wait::came() != 0) die_of(interruptible_wait::came());
    return code;
  }
  return std::nullopt;
}

void stop_unless_continued() {
  sigset_t pending;
  if (sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1) return;
  raise(SIGSTOP);
}

void die_of(int signal_number) {
  prctl(PR_SET_DUMPABLE, 0);  // one core file is enough, and it is the command's
  signal(signal_number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal_number);
  raise(signal_number);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  _exit(exit_signal + signal_number);
}

}  // namespace kgate::tool
