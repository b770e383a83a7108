// SPDX-License-Identifier: Apache-2.0
// A kernel or file system that refuses locks: the error has its true name, and nothing is left behind.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "gate/faults/scratch.hpp"

namespace kgate::faults {
namespace {

/// From here on every fcntl of this process with `command` fails with `error`.
bool refuse(unsigned command, unsigned error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, command, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog all{sizeof program / sizeof program[0], program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) == 0;
}

struct said {
  gate_errc code = gate_errc::none;
  std::string text;
};

/// What a process says that does `body` without locks.
said without_locks(unsigned command, int error, const std::function<void()>& body) {
  constexpr std::size_t size = 4096;
  auto* const text = static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    if (!refuse(command, static_cast<unsigned>(error))) _exit(99);
    try {
      body();
    } catch (const gate_error& what) {
      std::strncpy(text, what.what(), size - 1);
      _exit(static_cast<int>(what.code()));
    }
    _exit(0);
  }
  int how = 0;
  waitpid(pid, &how, 0);
  EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) != 99) << "status " << how;
  said out{static_cast<gate_errc>(WEXITSTATUS(how)), text};
  munmap(text, size);
  return out;
}

class no_locks : public testing::TestWithParam<int> {
 protected:
  void expect_name(const said& error) const {
    EXPECT_EQ(error.code, gate_errc::system);
    EXPECT_NE(error.text.find(std::strerror(GetParam())), std::string::npos) << error.text;
    EXPECT_EQ(error.text.find("closed its descriptors"), std::string::npos) << error.text;
  }
  scratch where;
};

TEST_P(no_locks, where_a_gate_is_to_be_created) {
  expect_name(without_locks(F_OFD_SETLK, GetParam(), [&] { where.open("gate", 2); }));
  EXPECT_TRUE(std::filesystem::is_empty(where.path())) << "something was left behind";
}

TEST_P(no_locks, for_one_who_joins) {
  { const gate made = where.open("gate", 2); }
  expect_name(without_locks(F_OFD_SETLK, GetParam(), [&] { static_cast<void>(where.open("gate").enter()); }));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(where.path()), {}), 3);
  expect_whole(where, "gate", 2);
}

TEST_P(no_locks, for_one_who_waits) {
  gate g = where.open("gate", 1);
  {
    const gate::permit inside = g.enter();
    expect_name(without_locks(F_OFD_GETLK, GetParam(),
                              [&] { static_cast<void>(where.open("gate").try_enter_for(std::chrono::seconds(10))); }));
    EXPECT_TRUE(g.status().waiters.empty()) << "its position was left behind";
  }
  expect_whole(where, "gate", 1);
}

INSTANTIATE_TEST_SUITE_P(errors, no_locks, testing::Values(ENOLCK, EINVAL));

}  // namespace
}  // namespace kgate::faults
