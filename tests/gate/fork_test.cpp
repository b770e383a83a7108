// SPDX-License-Identifier: Apache-2.0
// What a child made by fork may do with its parent's gates, and what closing descriptors does to a gate: nothing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gate/faults/scratch.hpp"
#include "kgate/gate.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;
using faults::expect_whole;
using faults::scratch;

enum class maker { fork, clone };

/// Does `body` in a child; its exit status. The child ends as most programs do, by exit().
int in_child(const std::function<int()>& body, maker how = maker::fork) {
  const pid_t child =
      how == maker::fork ? fork() : static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) {
    alarm(20);
    // quick_exit would leave out the destructors this is about; gtest's own report is not wanted from here.
    const int code = body();
    std::exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

int code_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const gate_error& error) {
    return static_cast<int>(error.code());
  }
  return 0;
}

/// Destroyed by exit(), in the child too.
std::optional<gate::permit>& static_permit() {
  static std::optional<gate::permit> permit;
  return permit;
}

TEST(fork, destructors_in_a_child_do_not_leave_for_the_parent) {
  const scratch where;
  gate g = where.open("g", 8);
  static_permit() = g.enter(3);
  std::optional<gate::permit> inside = g.enter();
  gate::member member = g.join();
  member.enter();
  for (int i = 0; i < 26; ++i)
    EXPECT_EQ(in_child(
                  [&] {
                    inside.reset();
                    const gate::member ended = std::move(member);
                    const gate also = std::move(g);
                    return 0;
                  },
                  i % 2 == 0 ? maker::fork : maker::clone),
              0);
  EXPECT_EQ(g.status().free, 3);
  EXPECT_EQ(g.status().holders.size(), 3U);
  member.leave();
  inside.reset();
  static_permit().reset();
  expect_whole(where, "g", 8);
}

struct region {
  void* address;
  std::size_t bytes;
};
/// Where this process has mapped the lock file that keeps its members alive.
std::vector<region> mapped_locks() {
  std::vector<region> all;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(".lock") == std::string::npos) continue;
    char* end = nullptr;
    const std::uintptr_t first = std::strtoull(line.c_str(), &end, 16);
    all.push_back({reinterpret_cast<void*>(first), std::strtoull(end + 1, nullptr, 16) - first});
  }
  return all;
}

/// A child has not inherited them, and something of its own may be in their place.
TEST(fork, destructors_in_a_child_leave_what_it_has_mapped_since) {
  const scratch where;
  gate g = where.open("g", 8);
  gate::member member = g.join();
  ASSERT_FALSE(mapped_locks().empty());
  const std::vector<region> before = mapped_locks();
  EXPECT_EQ(in_child([&] {
              for (const region& one : before)
                if (mmap(one.address, one.bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != one.address)
                  return 1;
              { const gate::member ended = std::move(member); }
              { const gate also = std::move(g); }
              for (const region& one : before)
                if (msync(one.address, one.bytes, MS_ASYNC) != 0) return 2;  // ENOMEM: it is not mapped any more
              return 0;
            }),
            0);
  member.enter();
  member.leave();
}

TEST(fork, operations_in_a_child_are_refused) {
  const scratch where;
  gate g = where.open("g", 4);
  gate::permit permit = g.enter();
  gate::member outside = g.join(), inside = g.join();
  for (int i = 0; i < 3; ++i) {  // so that both have what they need for their shortcuts
    outside.enter();
    outside.leave();
  }
  inside.enter();
  const std::function<void()> all[] = {[&] { outside.enter(); },
                                       [&] { (void)outside.try_enter(); },
                                       [&] { (void)outside.try_enter_for(1s); },
                                       [&] { inside.leave(); },
                                       [&] { inside.slot(); },
                                       [&] { inside.token(); },
                                       [&] { permit.slot(); },
                                       [&] { (void)g.enter(); },
                                       [&] { (void)g.join(); },
                                       [&] { g.resize(2); },
                                       [&] { g.status(); },
                                       [&] { (void)g.slots(); },
                                       [&] { g.remove(true); }};
  for (const maker how : {maker::fork, maker::clone})
    for (const auto& operation : all)
      EXPECT_EQ(in_child([&] { return code_of(operation); }, how), static_cast<int>(gate_errc::forked));
  EXPECT_EQ(g.status().free, 2);
  EXPECT_EQ(in_child([&] { return code_of([&] { (void)where.open("g").enter(); }); }), 0) << "it may open its own";
  inside.leave();
  permit.release();
  expect_whole(where, "g", 4);
}

/// The members are the parent's: when it dies they are dead, however long the child lives.
TEST(fork, a_child_does_not_keep_its_parent_alive) {
  for (const maker how : {maker::fork, maker::clone}) {
    const scratch where;
    gate g = where.open("g", 1);
    int ready[2], stay[2];
    ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
    ASSERT_EQ(pipe2(stay, O_CLOEXEC), 0);
    const pid_t parent = ::fork();
    if (parent == 0) {
      gate mine = where.open("g");
      const gate::permit inside = mine.enter();
      const pid_t child = how == maker::fork
                              ? ::fork()
                              : static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
      if (child == 0) {
        close(stay[1]);
        char byte = 1;
        (void)!write(ready[1], &byte, 1);
        (void)!read(stay[0], &byte, 1);  // until the test ends
        _exit(0);
      }
      pause();
      _exit(0);
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    EXPECT_FALSE(g.try_enter().has_value());
    kill(parent, SIGKILL);
    waitpid(parent, nullptr, 0);
    EXPECT_TRUE(g.try_enter_for(5s).has_value());
    for (const int fd : {ready[0], ready[1], stay[0], stay[1]}) close(fd);
  }
}

/// As a daemon does, and then uses the numbers for files of its own.
void close_all_and_reuse() {
  syscall(SYS_close_range, 3U, ~0U, 0U);
  for (int i = 0; i < 20; ++i) (void)!open("/dev/null", O_RDWR);
}

TEST(descriptors, a_holder_that_closes_them_is_still_inside) {
  const scratch where;
  gate g = where.open("g", 1);
  int ready[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    gate mine = where.open("g");
    const gate::permit inside = mine.enter();
    const int keep = dup2(ready[1], 2);
    syscall(SYS_close_range, 3U, ~0U, 0U);
    const char byte = 1;
    (void)!write(keep, &byte, 1);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_FALSE(g.try_enter_for(50ms).has_value());
  EXPECT_EQ(g.status().healed, 0U);
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  EXPECT_TRUE(g.try_enter_for(5s).has_value());
  close(ready[0]);
  close(ready[1]);
}

TEST(descriptors, a_waiter_that_closes_them_does_not_heal_the_living) {
  const scratch where;
  gate g = where.open("g", 1);
  std::optional<gate::permit> inside = g.enter();
  const int code = in_child([&] {
    gate mine = where.open("g");
    gate::member member = mine.join();
    close_all_and_reuse();
    if (member.try_enter_for(100ms)) return 50;
    gate_status seen = mine.status();
    return seen.healed != 0 || seen.holders.size() != 1 ? 51 : 0;
  });
  EXPECT_EQ(code, 0);
  inside.reset();
  expect_whole(where, "g", 1);
}

TEST(descriptors, gone_for_good_is_reported) {
  const scratch where;
  gate g = where.open("g", 1);
  gate::permit inside = g.enter();
  const int code = in_child([&] {
    gate mine = where.open("g");
    gate::member member = mine.join();
    std::filesystem::remove_all(where.path());
    close_all_and_reuse();
    return code_of([&] { member.enter(); });
  });
  EXPECT_EQ(code, static_cast<int>(gate_errc::system));
  EXPECT_EQ(g.status().holders.size(), 1U);
}

}  // namespace
}  // namespace kgate
