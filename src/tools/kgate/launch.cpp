// SPDX-License-Identifier: Apache-2.0
// What holds the slot. Two locks that the kernel releases: the wrapper's own (an open-file-description lock, closed on
// exec) and one that the command takes for itself between vfork and exec: a traditional record lock on a file of its
// own, which belongs to the process and so survives exec but is not inherited by the command's children. So the slot is
// taken while the wrapper or the command lives, and processes that the command leaves behind do not keep it.
#include "tools/kgate/launch.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace kgate::tool {

using namespace detail::gates;

namespace {

/// The slots in place of {slot} and {slot:NAME}; {{slot}} becomes {slot}.
std::string with_slots(std::string_view word, const std::vector<held_slot>& slots) {
  std::string out;
  while (!word.empty()) {
    const std::size_t brace = word.find('{');
    out += word.substr(0, brace);
    if (brace == std::string_view::npos) break;
    word.remove_prefix(brace);
    const std::size_t end = word.find('}');
    const std::string_view inner = end == std::string_view::npos ? std::string_view() : word.substr(1, end - 1);
    const bool escaped = inner.substr(0, 5) == "{slot" && word.substr(end, 2) == "}}";
    const held_slot* found = inner == "slot" ? &slots.front() : nullptr;
    if (inner.substr(0, 5) == "slot:")
      for (const held_slot& one : slots)
        if (one.wanted.name == inner.substr(5)) found = &one;
    if (escaped) {
      out += std::string(inner) + "}";
      word.remove_prefix(end + 2);
    } else if (found != nullptr) {
      out += found->slot_list();
      word.remove_prefix(end + 1);
    } else {
      out += '{';
      word.remove_prefix(1);
    }
  }
  return out;
}

/// Whether the words from here on are the line of another kgate that has slots of its own.
bool begins_kgate(const std::vector<char*>& words, std::size_t at) {
  const std::string_view word = words[at];
  if (word.substr(word.rfind('/') + 1) != "kgate" || at + 1 == words.size()) return false;
  return std::strcmp(words[at + 1], "run") == 0 || std::strcmp(words[at + 1], "jobserver") == 0;
}

bool is_ours(const char* setting) {
  const std::string_view line = setting;
  constexpr std::string_view all = "KGATE_";
  if (line.substr(0, all.size()) != all) return false;
  for (const std::string_view name : {"NAME=", "SLOT=", "SLOTS=", "TOKEN=", "SLOT_"})
    if (line.substr(all.size(), name.size()) == name) return true;
  return false;
}

/// Whether the gate was removed by force while its member was inside, where it stays: no other process sees that gate.
bool is_inside_removed(held_slot& one) {
  mapped_cells& cells = one.gate.cells();
  return cells.word().operation() == op::retired && cells.state_of(one.member.number) == one.member.inside();
}

/// Takes the locks by which this process, as the command, keeps its slots. The lock first, then the touch: a healer
/// that found both locks free now fails, and later ones find this one taken.
bool keep_slots(std::vector<held_slot>& slots) {
  for (held_slot& one : slots) {
    if (one.gate.file().locks().lock_for_command(one.lock_fd, one.member.number) != 0) return false;
    one.gate.set_command(one.member, getpid());
    if (!one.gate.touch(one.member) && !is_inside_removed(one)) return false;
  }
  return true;
}

/// What the command's process needs between vfork and exec, where it shares this one's memory.
struct launch {
  prepared_command& command;
  std::vector<held_slot>& slots;
  const signal_watch& signals;
  pid_t dies_with = 0;  ///< the parent, if the command is to die with it
  volatile int error = 0;
  volatile bool lost = false;
};

[[noreturn]] void become_command(launch& it) {
  if (it.dies_with != 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != it.dies_with) _exit(exit_lost);
  }
  if (!keep_slots(it.slots)) {
    it.lost = true;
    _exit(exit_lost);
  }
  it.signals.restore();
  execvpe(it.command.arguments()[0], it.command.arguments(), it.command.environment());
  it.error = errno;
  _exit(it.error == ENOENT ? exit_not_found : exit_cannot_run);
}

[[gnu::noinline]] pid_t start_by_vfork(launch& it) {
  const pid_t child = vfork();
  if (child == 0) become_command(it);
  return child;
}

/// Whether the kernel sent the signal to all processes of the terminal's foreground group, or of an orphaned one. Other
/// signals of the kernel, such as that of an alarm set before kgate was started, are for this process alone.
bool is_of_terminal(const siginfo_t& signal) {
  if (signal.si_code != SI_KERNEL) return false;
  for (const int one : {SIGINT, SIGQUIT, SIGTSTP, SIGHUP, SIGCONT, SIGWINCH})
    if (signal.si_signo == one) return true;
  return false;
}

void send_on(const siginfo_t& signal, pid_t command) {
  if (signal.si_code == SI_QUEUE)
    sigqueue(command, signal.si_signo, signal.si_value);
  else
    kill(command, signal.si_signo);
}

}  // namespace

prepared_command::prepared_command(const std::vector<char*>& words, const std::vector<held_slot>& slots,
                                   const std::vector<std::string>& settings) {
  bool ours = true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (begins_kgate(words, i)) ours = false;
    texts_.push_back(ours ? with_slots(words[i], slots) : std::string(words[i]));
  }
  for (std::string& text : texts_) arguments_.push_back(text.data());
  arguments_.push_back(nullptr);
  const held_slot& first = slots.front();
  settings_ = settings;
  settings_.push_back("KGATE_NAME=" + first.wanted.name);
  settings_.push_back("KGATE_SLOT=" + first.slot_list());
  settings_.push_back("KGATE_SLOTS=" + std::to_string(first.gate_slots));
  settings_.push_back("KGATE_TOKEN=" + std::to_string(first.token));
  if (slots.size() > 1)
    for (const held_slot& one : slots) settings_.push_back(slot_variable(one.wanted.name) + "=" + one.slot_list());
  const auto replaced = [&](const char* entry) {
    for (const std::string& setting : settings)
      if (std::strncmp(entry, setting.c_str(), setting.find('=') + 1) == 0) return true;
    return is_ours(entry);
  };
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!replaced(*entry)) environment_.push_back(*entry);
  for (std::string& setting : settings_) environment_.push_back(setting.data());
  environment_.push_back(nullptr);
}

signal_watch::signal_watch() {
  sigfillset(&watched_);
  for (const int keep : {SIGBUS, SIGTTIN, SIGTTOU}) sigdelset(&watched_, keep);
  sigprocmask(SIG_BLOCK, &watched_, &before_);
  struct sigaction child_action {};
  child_action.sa_handler = SIG_DFL;  // a parent may have left SIGCHLD ignored: there would be nothing to wait for
  sigaction(SIGCHLD, &child_action, &child_before_);
}

void signal_watch::restore() const {
  sigaction(SIGCHLD, &child_before_, nullptr);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

started start(prepared_command& command, std::vector<held_slot>& slots, const signal_watch& signals, bool mortal) {
  launch it{command, slots, signals, mortal ? getpid() : 0};
  const pid_t child = start_by_vfork(it);
  return {child, child < 0 ? errno : it.error, it.lost};
}

started become(prepared_command& command, std::vector<held_slot>& slots) {
  if (!keep_slots(slots)) return {-1, 0, true};
  for (held_slot& one : slots) one.gate.set_leaves_by_ending(one.member);
  execvpe(command.arguments()[0], command.arguments(), command.environment());
  return {-1, errno, false};
}

int failed_start(const started& how, const prepared_command& command, const request& options) {
  if (how.lost) {
    complain("the slot was lost before the command could start");
    return exit_lost;
  }
  const std::string name = command.name();
  const bool may_be_a_gate = how.error == ENOENT && !options.named && valid_name(name);
  complain("cannot run '" + name + "': " + std::strerror(how.error) +
           (may_be_a_gate ? "; for a gate of that name: kgate " + std::string(options.command->name) + " -n " + name +
                                " -- COMMAND"
                          : ""));
  return how.error == ENOENT ? exit_not_found : how.process < 0 && how.error == EAGAIN ? exit_error : exit_cannot_run;
}

bool handle_signal(const siginfo_t& signal, pid_t command, group_witness& witness, int& ended) {
  if (signal.si_signo == SIGCHLD) {
    if (waitpid(command, &ended, WNOHANG | WUNTRACED) != command) return false;
    if (!WIFSTOPPED(ended)) return true;
    // Stopped by job control: the shell must see this process stopped, too. Not after SIGSTOP, which was sent to the
    // command itself and will be undone there.
    const int by = WSTOPSIG(ended);
    if (by == SIGTSTP || by == SIGTTIN || by == SIGTTOU) stop_unless_continued();
    return false;
  }
  // Stopped by this process, perhaps after all were continued: then it has to pass that on, too.
  static bool stopped_by_this = false;
  const bool witnessed = witness.saw(signal.si_signo);
  const bool has_it = is_of_terminal(signal) || (witnessed && getpgid(command) == getpgrp());
  const bool continues = signal.si_signo == SIGCONT;
  if (!has_it || (continues && stopped_by_this)) send_on(signal, command);
  if (continues || signal.si_signo == SIGTSTP) stopped_by_this = !continues && !has_it;
  return false;
}

int pass_on(int ended) {
  if (WIFSIGNALED(ended)) die_of(WTERMSIG(ended));
  return WEXITSTATUS(ended);
}

}  // namespace kgate::tool
