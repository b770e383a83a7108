// SPDX-License-Identifier: Apache-2.0
// The kernel signals the youngest process of a group first, so the child has a signal of the group before its parent
// has. The parent asks about one signal by a byte. If in doubt the answer is no: then the command may get a signal
// twice, which is better than not at all.
#include "tools/kgate/group_witness.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iterator>

namespace kgate::tool {

namespace {

constexpr const char* witness_name = "signal-witness";

/// Puts the name, and the number of the process that asks, over the command line.
void rename_process(std::span<char* const> line, pid_t parent) {
  prctl(PR_SET_NAME, witness_name);
  char* const first = line.front();
  const std::size_t room = static_cast<std::size_t>(line.back() - first) + std::strlen(line.back());
  std::memset(first, 0, room);
  std::snprintf(first, room + 1, "%s of %d", witness_name, static_cast<int>(parent));
}

/// The child: notes when it got which signal, and answers.
class witness_process {
 public:
  explicit witness_process(int socket) : socket_(socket) {
    sigset_t all;
    sigfillset(&all);
    signals_ = signalfd(-1, &all, SFD_NONBLOCK);
  }

  [[noreturn]] void answer_until_the_end() {
    unsigned char queried_signal = 0;
    for (;;) {
      wait(-1, true);
      take_signals();
      const ssize_t got = recv(socket_, &queried_signal, 1, MSG_DONTWAIT);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      const unsigned char seen = got == 1 && saw(queried_signal) ? 1 : 0;
      if (got != 1 || write(socket_, &seen, 1) != 1) _exit(0);
    }
  }

 private:
  static std::int64_t now_ms() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
  }
  void wait(int limit_ms, bool for_questions) const {
    pollfd what[2] = {{signals_, POLLIN, 0}, {socket_, POLLIN, 0}};
    poll(what, for_questions ? 2 : 1, limit_ms);
  }
  void take_signals() {
    signalfd_siginfo came{};
    while (read(signals_, &came, sizeof came) == static_cast<ssize_t>(sizeof came))
      if (came.ssi_signo < std::size(came_at_)) came_at_[came.ssi_signo] = now_ms();
  }
  /// Whether the signal came with the one that the parent got just now. What came long before was for this process
  /// alone, or its parent was not hit by it.
  bool saw(unsigned signal_number) {
    if (signal_number >= std::size(came_at_)) return false;
    const std::int64_t queried_at = now_ms();
    std::int64_t& came_at = came_at_[signal_number];
    for (;;) {
      take_signals();
      const bool with_it = came_at != 0 && queried_at - came_at <= together_ms;
      if (with_it) came_at = 0;
      const std::int64_t left = queried_at + late_ms - now_ms();
      if (with_it || left <= 0) return with_it;
      wait(static_cast<int>(left), false);
    }
  }

  /// How long the parent may take to ask after it got a signal of all; and how long a process that signals all one by
  /// one, as systemd does, may take to come to this process.
  static constexpr std::int64_t together_ms = 250, late_ms = 20;
  int socket_, signals_;
  std::int64_t came_at_[65]{};
};

}  // namespace

void group_witness::start(std::span<char* const> line) {
  line_ = line;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  const pid_t parent = getpid();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const pid_t child = fork();
  if (child == 0) {
    // It keeps nothing open for others: neither pipes of the command nor what keeps a slot.
    dup2(ends[1], 0);
    if (syscall(SYS_close_range, 1U, ~0U, 0U) != 0)  // a kernel before 5.9
      for (int fd = 1; fd < sysconf(_SC_OPEN_MAX); ++fd) close(fd);
    rename_process(line, parent);
    witness_process(0).answer_until_the_end();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ends[1]);
  socket_ = ends[0];
  child_ = child;
  if (child < 0) end();
}

bool group_witness::saw(int signal_number) {
  constexpr int reply_ms_max = 500;
  if (child_ < 0) return false;
  const auto queried_signal = static_cast<unsigned char>(signal_number);
  unsigned char seen = 0;
  pollfd reply{socket_, POLLIN, 0};
  if (send(socket_, &queried_signal, 1, MSG_NOSIGNAL) == 1 && poll(&reply, 1, reply_ms_max) == 1 &&
      read(socket_, &seen, 1) == 1)
    return seen == 1;
  // It was killed, or stopped alone: what it knows is lost, and a late answer would be taken for another one.
  end();
  start(line_);
  return false;
}

void group_witness::end() {
  if (child_ > 0 && kill(child_, SIGKILL) == 0)
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
  if (socket_ >= 0) close(socket_);
  child_ = socket_ = -1;
}

}  // namespace kgate::tool
