// SPDX-License-Identifier: Apache-2.0
// The kernel signals the youngest process of a group first, so the child has a signal of the group before its parent
// has. The parent asks about one signal by a byte, and the answer takes the signal off what is pending.
#include "tools/kgate/group_witness.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace kgate::tool {

namespace {

constexpr const char* name = "signal-witness";

/// Puts the name, and the number of the process that asks, in the place of the command line.
void rename_process(std::span<char* const> line, pid_t parent) {
  prctl(PR_SET_NAME, name);
  char* const first = line.front();
  const std::size_t room = static_cast<std::size_t>(line.back() - first) + std::strlen(line.back());
  std::memset(first, 0, room);
  std::snprintf(first, room + 1, "%s of %d", name, static_cast<int>(parent));
}

[[noreturn]] void answer_until_the_end(int socket) {
  unsigned char asked = 0;
  while (read(socket, &asked, 1) == 1) {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, asked);
    const timespec none{};
    const unsigned char seen = sigtimedwait(&only, nullptr, &none) == asked ? 1 : 0;
    if (write(socket, &seen, 1) != 1) break;
  }
  _exit(0);
}

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
    answer_until_the_end(0);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ends[1]);
  socket_ = ends[0];
  child_ = child;
  if (child < 0) end();
}

bool group_witness::saw(int signal_number) {
  constexpr int patience_ms = 100;
  if (child_ < 0) return false;
  const auto asked = static_cast<unsigned char>(signal_number);
  unsigned char seen = 0;
  pollfd reply{socket_, POLLIN, 0};
  if (send(socket_, &asked, 1, MSG_NOSIGNAL) == 1 && poll(&reply, 1, patience_ms) == 1 && read(socket_, &seen, 1) == 1)
    return seen == 1;
  // It was killed, or stopped alone: what it knows is lost, and a late answer would be taken for another one.
  end();
  start(line_);
  return false;
}

void group_witness::end() {
  if (child_ > 0) kill(child_, SIGKILL);
  if (socket_ >= 0) close(socket_);
  child_ = socket_ = -1;
}

}  // namespace kgate::tool
