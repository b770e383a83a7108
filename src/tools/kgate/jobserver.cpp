// SPDX-License-Identifier: Apache-2.0
// kgate jobserver: a jobserver for make and its like whose tokens are slots of a gate.
//
// The pipe of a jobserver does not tell whether a process waits for a token. So one token is offered as long as it is
// not taken: when it is, the next slot is queued for; when tokens come back, all but one are given back to the gate. An
// offer that is not taken while others wait at the gate is withdrawn for a while; `kgate run --try` waits that long for
// one.
//
// The slots are kept twice: by this process, and by a descriptor that the whole tree inherits (tree_locks). If this
// process is killed, the tree goes on with the tokens it has, and these stay taken until it has ended.
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/kgate/jobserver_tokens.hpp"
#include "tools/kgate/launch.hpp"
#include "tools/kgate/make_flags.hpp"

namespace kgate::tool {

using namespace detail::gates;

namespace {

constexpr int offer_ms =
    offer_ns_max / 2'000'000;      ///< how long a token is offered in vain before it is withdrawn, if others wait
constexpr int withdrawn_ms = 200;  ///< how long before the next offer then

/// Serves tokens until the command and all that hold tokens have ended.
class server {
 public:
  server(core& gate, token_pipe& pipe, token_slots& slots, const signal_watch& signals)
      : gate_(gate), pipe_(pipe), slots_(slots) {
    signals_ = signalfd(-1, &signals.watched(), SFD_CLOEXEC | SFD_NONBLOCK);
    events_ = epoll_create1(EPOLL_CLOEXEC);
    watch(signals_, EPOLLIN);
    watch(pipe_.read_end(), EPOLLIN | EPOLLET);    // a token came back
    watch(pipe_.write_end(), EPOLLOUT | EPOLLET);  // the last one was taken
  }
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server() {
    close(events_);
    close(signals_);
  }

  /// The wait status of the command.
  int attend(pid_t command, std::span<char* const> line) {
    int ended = 0;
    witness_.start(line);
    while (!command_ended_) {
      settle();
      wait_for_event();
      take_signals(command, ended);
    }
    witness_.end();  // what remains are children of the command, if any
    return ended;
  }

  /// The command has ended, and with it every need of tokens: those in the pipe go back at once, the others when they
  /// come back, or when no process is left that could have them. `own`, if given, is the slot of a command that was
  /// killed, whose jobs may run on: it goes back when none is left.
  void collect(held_slot* own) {
    slots_.want(false);
    for (;;) {
      while (pipe_.tokens() > 0 && pipe_.take()) slots_.give_back();
      if (own == nullptr && !slots_.any()) return;
      const pid_t reaped = waitpid(-1, nullptr, WNOHANG);
      if (reaped > 0) continue;
      if (reaped < 0 && errno == ECHILD) {
        if (own != nullptr) slots_.give_back(*own);
        return;
      }
      if (ending_) {
        slots_.leave_to_the_tree();
        if (own != nullptr) own->gate.set_leaves_by_ending(own->member);
        return;
      }
      int ignored = 0;
      wait_for_event();
      take_signals(-1, ignored);
    }
  }

 private:
  void watch(int fd, std::uint32_t what) const {
    epoll_event event{};
    event.events = what;
    event.data.fd = fd;
    epoll_ctl(events_, EPOLL_CTL_ADD, fd, &event);
  }

  void settle() {
    const std::int64_t now = now_ns();
    int tokens = pipe_.tokens();
    for (; tokens > 1 && pipe_.take(); --tokens) slots_.give_back();
    slots_.show_offer(tokens > 0);
    if (tokens == 0) {
      offered_since_ = 0;
      slots_.want(now >= withdrawn_until_);
      return;
    }
    slots_.want(false);
    if (offered_since_ == 0) offered_since_ = now;
    const bool in_vain = now - offered_since_ > std::int64_t{offer_ms} * 1'000'000;
    if (in_vain && gate_.cells().word().waiting() && pipe_.take()) {
      slots_.give_back();
      offered_since_ = 0;
      withdrawn_until_ = now + std::int64_t{withdrawn_ms} * 1'000'000;
    }
  }

  void wait_for_event() const {
    epoll_event came[4];
    epoll_wait(events_, came, 4, offer_ms);
  }

  void take_signals(pid_t command, int& ended) {
    signalfd_siginfo info{};
    while (read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      siginfo_t came{};
      came.si_signo = static_cast<int>(info.ssi_signo);
      came.si_code = info.ssi_code;
      came.si_value.sival_ptr = reinterpret_cast<void*>(static_cast<std::uintptr_t>(info.ssi_ptr));
      if (command < 0)
        ending_ |= came.si_signo == SIGTERM || came.si_signo == SIGINT || came.si_signo == SIGHUP;
      else if (!command_ended_ && handle_signal(came, command, witness_, ended))
        command_ended_ = true;
    }
  }

  core& gate_;
  token_pipe& pipe_;
  token_slots& slots_;
  group_witness witness_;
  int signals_ = -1, events_ = -1;
  bool command_ended_ = false, ending_ = false;
  std::int64_t offered_since_ = 0, withdrawn_until_ = 0;
};

/// Runs the command with a jobserver; what became of it, and its wait status.
started serve(const request& options, std::vector<held_slot>& slots, prepared_command& command, token_pipe& pipe,
              const tree_locks& kept, const signal_watch& signals, int& ended) {
  held_slot& mine = slots.front();
  const started how = start(command, slots, signals);
  if (how.process < 0) {
    mine.leave();
    return how;
  }
  token_slots tokens(mine.gate, kept, pipe, shown_command(options));
  server serving(mine.gate, pipe, tokens, signals);
  ended = serving.attend(how.process, options.line);
  const bool ran = how.error == 0 && !how.lost;
  const bool killed = ran && WIFSIGNALED(ended);
  if (!killed) tokens.give_back(mine);
  if (ran) serving.collect(killed ? &mine : nullptr);
  return how;
}

/// The same with the pipe, which is gone when this returns; an exit code if it did not come to an end of the command.
std::optional<int> serve_until_the_end(const request& options, std::vector<held_slot>& slots, int& ended) {
  held_slot& mine = slots.front();
  const signal_watch signals;
  token_pipe pipe;
  const tree_locks kept(mine.gate.file().locks());
  const bool made = pipe.open(options.style == "fifo");
  if (!made || !kept.keep(mine.member)) {
    complain(std::string("cannot ") + (made ? "keep the slot of" : "make") + " the jobserver's " + options.style +
             ": " + std::strerror(errno));
    mine.leave();
    return exit_error;
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // what the command leaves behind may have tokens: the end of it shall be seen
  const char* const flags = std::getenv("MAKEFLAGS");
  std::vector<std::string> texts;
  prepared_command command(
      without_jobs(options.words, texts), slots,
      {"MAKEFLAGS=" + with_jobserver(flags != nullptr ? flags : "", mine.gate_slots, pipe.auth())});
  const started how = serve(options, slots, command, pipe, kept, signals, ended);
  if (how.process < 0 || how.error != 0 || how.lost) return failed_start(how, command, options);
  return std::nullopt;
}

}  // namespace

int jobserver(const request& options) {
  std::vector<held_slot> slots;
  if (const std::optional<int> code = acquire_slots(options, slots)) return *code;
  for (held_slot& one : slots) one.gate.announce(one.member);
  int ended = 0;
  if (const std::optional<int> code = serve_until_the_end(options, slots, ended)) return *code;
  return pass_on(ended);  // may end this process: nothing is left to be removed by now
}

}  // namespace kgate::tool
