// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate/kept_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "tools/kgate/tool.hpp"

namespace kgate::tool {

long locked_byte_of(const std::string& info) {
  // A line like "lock:   1: OFDLCK  ADVISORY  READ -1 00:1b:42 7 7"; the first and last byte stand at its end.
  const std::size_t lock = info.find("OFDLCK");
  if (lock == std::string::npos) return -1;
  const std::size_t end = std::min(info.find('\n', lock), info.size());
  return std::strtol(info.c_str() + info.rfind(' ', end) + 1, nullptr, 10);
}

long locked_byte(int fd) { return locked_byte_of(file_text("/proc/self/fdinfo/" + std::to_string(fd))); }

bool lock_byte(int fd, short type, off_t byte, bool waits) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  int failed = 0;
  do {
    failed = fcntl(fd, waits ? F_OFD_SETLKW : F_OFD_SETLK, &range);
  } while (failed != 0 && waits && errno == EINTR);
  return failed == 0;
}

bool is_locked(int fd, off_t byte) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  return fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

bool is_kept_file(int fd) {
  char target[4096];
  const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), target, sizeof target - 1);
  return length > 0 && std::string_view(target, static_cast<std::size_t>(length)).ends_with(kept_file_suffix);
}

int release_kept(int fd) {
  const std::string number = std::to_string(fd);
  const long byte = locked_byte(fd);
  if (byte < 0 || byte >= keepers_max) {
    complain("descriptor " + number + " keeps no slot");
    return exit_failed;
  }
  const int own = open(("/proc/self/fd/" + number).c_str(), O_RDONLY | O_CLOEXEC);
  lock_byte(fd, F_UNLCK, byte);
  char state = 0;
  // Until its keeper has given the slot back, and ends.
  const bool known = own >= 0 && lock_byte(own, F_RDLCK, keepers_max + byte, true) && pread(own, &state, 1, byte) == 1;
  if (own >= 0) close(own);
  if (known && state == static_cast<char>(kept_state::released)) return exit_ok;
  complain("the slot that descriptor " + number + " kept was lost before");
  return exit_session_lost;
}

}  // namespace kgate::tool
