// SPDX-License-Identifier: Apache-2.0
// The least a runner can do: waits for a lock of an opening on one byte of a file, and becomes the command. No queue,
// no slot of its own choosing, no status. usage: static_runner FILE BYTE COMMAND [ARGUMENT]...
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

int main(int argc, char** argv) {
  if (argc < 4) return 120;
  const int fd = open(argv[1], O_RDWR | O_CREAT, 0600);  // inherited: the command keeps the lock
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = std::atoi(argv[2]);
  range.l_len = 1;
  if (fd < 0 || fcntl(fd, F_OFD_SETLKW, &range) != 0) return 121;
  execvp(argv[3], argv + 3);
  return 127;
}
