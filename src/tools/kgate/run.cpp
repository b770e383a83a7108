// SPDX-License-Identifier: Apache-2.0
// kgate run: wait for a slot, run the command in it, give the slot back.
//
// Who holds the slot. Two locks that the kernel releases: the wrapper's own (an open-file-description lock, closed on
// exec) and one that the command takes for itself between vfork and exec: a traditional record lock on a file of its
// own, which belongs to the process and so survives exec but is not inherited by the command's children. So the slot is
// taken while the wrapper or the command lives, and processes that the command leaves behind do not keep it.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tools/kgate/tool.hpp"

extern char** environ;

namespace kgate::tool {

using namespace detail::gates;

namespace {

std::string joined(const std::vector<char*>& words) {
  std::string line;
  for (const char* word : words) line += (line.empty() ? "" : " ") + std::string(word);
  return line;
}

/// Shows the place in the queue on a terminal, a few times a second.
struct queue_line {
  std::string name;
  std::int64_t began = 0;
  std::int64_t shown = 0;

  static void progress(void* self, int position) { static_cast<queue_line*>(self)->show(position); }
  void show(int position) {
    constexpr std::int64_t ms = 1'000'000;
    const std::int64_t now = now_ns();
    if (began == 0) began = now;
    if (now - began < 300 * ms || now - shown < 250 * ms) return;
    shown = now;
    const std::string ahead = position == 0 ? "next in line" : std::to_string(position) + " ahead";
    const std::string text = "\r\033[Kkgate: waiting at gate '" + name + "': " + ahead + ", " +
                             span_text(static_cast<double>(now - began) * 1e-9);
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) shown = forever;
  }
  void clear() const {
    if (shown != 0 && write(STDERR_FILENO, "\r\033[K", 4) < 0) return;
  }
};

/// The strings of the command, with its slot put in.
class prepared_command {
 public:
  prepared_command(const request& options, const std::string& slot, int slots, std::uint64_t token) {
    for (const char* word : options.words) {
      std::string text = word;
      for (std::size_t at = text.find("{slot}"); at != std::string::npos; at = text.find("{slot}", at + slot.size()))
        text.replace(at, 6, slot);
      texts_.push_back(std::move(text));
    }
    for (std::string& text : texts_) arguments_.push_back(text.data());
    arguments_.push_back(nullptr);
    for (char** entry = environ; *entry != nullptr; ++entry) {
      bool ours = false;
      for (const char* name : {"KGATE_NAME=", "KGATE_SLOT=", "KGATE_SLOTS=", "KGATE_TOKEN="})
        ours |= std::strncmp(*entry, name, std::strlen(name)) == 0;
      if (!ours) environment_.push_back(*entry);
    }
    settings_ = {"KGATE_NAME=" + name_of(options), "KGATE_SLOT=" + slot, "KGATE_SLOTS=" + std::to_string(slots),
                 "KGATE_TOKEN=" + std::to_string(token)};
    for (std::string& setting : settings_) environment_.push_back(setting.data());
    environment_.push_back(nullptr);
  }
  char* const* arguments() { return arguments_.data(); }
  char* const* environment() { return environment_.data(); }

 private:
  std::vector<std::string> texts_, settings_;
  std::vector<char*> arguments_, environment_;
};

/// What the command's process needs between vfork and exec, where it shares this one's memory.
struct launch {
  core& gate;
  membership member;
  int lock_fd;  ///< of the gate's .run file, for the command's own lock
  const sigset_t* signals_before;
  const struct sigaction* child_action_before;
  char* const* arguments;
  char* const* environment;
  volatile int error = 0;
  volatile bool lost = false;
};

[[noreturn]] void become_command(launch& it) {
  // The lock first, then the touch: a healer that found both locks free now fails, and later ones find this one taken.
  if (it.gate.file().locks().lock_for_command(it.lock_fd, it.member.number) != 0 || !it.gate.touch(it.member)) {
    it.lost = true;
    _exit(exit_lost);
  }
  sigaction(SIGCHLD, it.child_action_before, nullptr);
  sigprocmask(SIG_SETMASK, it.signals_before, nullptr);
  execvpe(it.arguments[0], it.arguments, it.environment);
  it.error = errno;
  _exit(it.error == ENOENT ? exit_not_found : exit_cannot_run);
}

[[gnu::noinline]] pid_t start(launch& it) {
  const pid_t child = vfork();
  if (child == 0) become_command(it);
  return child;
}

/// Waits for the command, passing signals on. Its wait status.
int attend(pid_t child, const sigset_t& signals) {
  for (;;) {
    siginfo_t info{};
    const int signal_number = sigwaitinfo(&signals, &info);
    if (signal_number == SIGCHLD) {
      int ended = 0;
      const pid_t which = waitpid(child, &ended, WNOHANG | WUNTRACED);
      if (which != child) continue;
      if (!WIFSTOPPED(ended)) return ended;
      // Stopped by job control: the shell must see this process stopped, too. Not after SIGSTOP, which somebody sent to
      // the command itself and will undo there.
      const int by = WSTOPSIG(ended);
      if (by == SIGTSTP || by == SIGTTIN || by == SIGTTOU) raise(SIGSTOP);
    } else if (signal_number == SIGCONT) {
      kill(child, SIGCONT);
    } else if (signal_number > 0 && info.si_code <= 0) {
      kill(child, signal_number);  // what the terminal sends (si_code > 0) the command has got itself
    }
  }
}

sigset_t signals_to_pass_on() {
  sigset_t set;
  sigfillset(&set);
  for (const int keep : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGTTIN, SIGTTOU, SIGPIPE, SIGPROF})
    sigdelset(&set, keep);
  return set;
}

int failed_entry(entry why, const request& options) {
  const std::string name = name_of(options);
  switch (why) {
    case entry::timed_out:
      if (options.try_once) {
        complain("no slot of gate '" + name + "' is free; see `kgate status -n " + name + "`");
        return exit_refused;
      }
      complain("no slot of gate '" + name + "' became free in time; see `kgate status -n " + name + "`");
      return exit_timed_out;
    case entry::removed:
      complain("gate '" + name + "' was removed; the command was not started");
      return exit_lost;
    case entry::damaged:
      complain("gate '" + name + "' is damaged; run `kgate doctor -n " + name + "`");
      return exit_lost;
    case entry::too_heavy:
      complain("gate '" + name + "' was made smaller than --weight " + std::to_string(options.weight) +
               "; the command was not started");
      return exit_lost;
    case entry::lost:
      complain("gate '" + name + "': its lock files are gone; the command was not started");
      return exit_lost;
    case entry::cancelled:
    case entry::entered:
      break;
  }
  return exit_error;
}

struct held_slot {
  core gate;
  membership member;
  int lock_fd = -1;
};

/// Opens the gate, joins it and waits for the slot: 0, or the exit code.
int acquire_slot(const request& options, const location& where, held_slot& out) {
  const std::string name = name_of(options);
  gate_failure failure = out.gate.open(name, options.slots, where);
  if (failure.code == gate_errc::not_found && options.slots == 0) failure = out.gate.open(name, 1, where);
  if (failure) {
    complain(failure.text);
    return failure.code == gate_errc::bad_name ? exit_usage : exit_error;
  }
  if (out.gate.slots() == 0) return failed_entry(entry::damaged, options);
  if (options.weight > out.gate.slots()) {
    complain("--weight " + std::to_string(options.weight) + " is more than the " + std::to_string(out.gate.slots()) +
             " slots of gate '" + name + "'");
    return exit_usage;
  }
  failure = out.gate.join(joined(options.words), out.member);
  if (failure) {
    complain(failure.text);
    return exit_error;
  }
  out.lock_fd = out.gate.file().locks().open_for_command();
  if (out.lock_fd < 0) {
    complain(system_failure("cannot open the lock files of gate '" + name + "'", errno).text);
    return exit_error;
  }
  wait_options how;
  if (options.try_once) how.deadline_ns = 0;
  if (options.timeout_s >= 0)
    how.deadline_ns = options.timeout_s > 1e9 ? forever : now_ns() + std::llround(options.timeout_s * 1e9);
  queue_line line{name};
  if (!options.quiet && isatty(STDERR_FILENO) != 0) {
    how.progress = queue_line::progress;
    how.progress_argument = &line;
  }
  word became;
  const entry result = out.gate.enter(out.member, options.weight, how, became);
  line.clear();
  if (result != entry::entered) return failed_entry(result, options);
  return 0;
}

}  // namespace

int run(const request& options) {
  location where;
  if (!location_of(options, where)) return exit_usage;
  held_slot mine;
  if (const int code = acquire_slot(options, where, mine)) return code;
  std::string slot;
  for (int left = options.weight; left > 0; --left)
    slot += (slot.empty() ? "" : ",") + std::to_string(mine.gate.take_slot(mine.member));
  const std::uint64_t token = mine.gate.take_token();
  if (slot.find('-') != std::string::npos || token == 0) return failed_entry(entry::damaged, options);
  prepared_command command(options, slot, mine.gate.slots(), token);

  const sigset_t signals = signals_to_pass_on();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &signals, &before);
  struct sigaction child_action {
  }, child_action_before{};
  child_action.sa_handler =
      SIG_DFL;  // a parent may have left SIGCHLD ignored, and then there would be nothing to wait for
  sigaction(SIGCHLD, &child_action, &child_action_before);

  launch it{mine.gate,           mine.member,          mine.lock_fd, &before, &child_action_before,
            command.arguments(), command.environment()};
  const pid_t child = start(it);
  int code = exit_error;
  if (child < 0) {
    complain(std::string("cannot start the command: ") + std::strerror(errno));
  } else {
    const int ended = attend(child, signals);
    code = WIFSIGNALED(ended) ? exit_signal + WTERMSIG(ended) : WEXITSTATUS(ended);
    expect_truncation(code);
    if (it.error != 0) complain(std::string("cannot run '") + command.arguments()[0] + "': " + std::strerror(it.error));
    if (it.lost) complain("the slot was lost before the command could start");
  }
  word became;
  mine.gate.leave(mine.member, became);
  return code;
}

}  // namespace kgate::tool
