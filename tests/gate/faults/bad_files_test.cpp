// SPDX-License-Identifier: Apache-2.0
#include "gate/faults/bad_files.hpp"

#include <grp.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>

#include "gate/segment.hpp"

namespace kgate::faults {
namespace {

gate_errc error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const gate_error& error) {
    EXPECT_NE(std::string(error.what()), "");
    return error.code();
  }
  return gate_errc::none;
}

/// Opens the gate in a process of its own; its error.
gate_errc error_in_child(const std::function<void()>& body) {
  const int how = guarded([&] { _exit(static_cast<int>(error_of(body))); });
  EXPECT_TRUE(WIFEXITED(how)) << "ended with status " << how;
  return static_cast<gate_errc>(WEXITSTATUS(how));
}

/// Where W.free begins: its lowest bit is the fourth of this byte.
constexpr std::size_t free_byte = offsetof(detail::gates::file_layout, word_bits) + 2;

class bad_file : public testing::Test {
 protected:
  bad_file() { where.open("gate", 2); }
  gate_errc opening() {
    return error_of([&] { where.open("gate"); });
  }
  scratch where;
  std::string path = where.path() + "/gate.gate";
};

TEST_F(bad_file, every_byte_of_the_header) {
  const std::string good = slurp(path);
  for (std::size_t i = 0; i < 128; ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    spill(path, bad);
    const gate_errc code = opening();
    EXPECT_TRUE(code == gate_errc::not_a_gate || code == gate_errc::damaged)
        << "byte " << i << ": " << static_cast<int>(code);
    EXPECT_EQ(slurp(path), bad) << "a file that was refused was changed, byte " << i;
  }
  spill(path, good);
  EXPECT_EQ(opening(), gate_errc::none);
}

TEST_F(bad_file, any_other_length) {
  const std::string good = slurp(path);
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{1}, std::size_t{127}, std::size_t{128}, std::size_t{4096}, good.size() - 1}) {
    spill(path, good.substr(0, length));
    EXPECT_NE(opening(), gate_errc::none) << length;
  }
  spill(path, good + "x");
  EXPECT_EQ(opening(), gate_errc::damaged);
}

TEST_F(bad_file, not_a_file_at_all) {
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_NE(opening(), gate_errc::none);
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(opening(), gate_errc::not_a_gate);
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/etc/passwd", path);
  EXPECT_NE(opening(), gate_errc::none);
}

TEST_F(bad_file, wrong_counts_are_mended_when_nobody_uses_the_gate) {
  std::string bad = slurp(path);
  bad[free_byte] = static_cast<char>(bad[free_byte] ^ 8);
  spill(path, bad);
  expect_whole(where, "gate", 2);
}

TEST_F(bad_file, wrong_counts_are_reported_while_it_is_used) {
  gate g = where.open("gate");
  gate::permit inside = g.enter();
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(free_byte);
  const int byte = file.get();
  file.seekp(free_byte);
  file.put(static_cast<char>(byte ^ 8));
  file.flush();
  EXPECT_EQ(opening(), gate_errc::damaged);
}

TEST_F(bad_file, a_waiter_learns_of_damage) {
  gate g = where.open("gate");
  gate::permit first = g.enter(), second = g.enter();
  gate_errc code = gate_errc::none;
  std::thread waiter(
      [&] { code = error_of([&] { static_cast<void>(gate(std::string_view("gate"), 0, where.options()).enter()); }); });
  while (g.status().waiters.empty()) std::this_thread::yield();
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(free_byte);
  const int byte = file.get();
  file.seekp(free_byte);
  file.put(static_cast<char>(byte ^ 32));  // permits that none has and none can get
  file.flush();
  first.release();  // it sleeps until another does something at the gate
  waiter.join();
  EXPECT_TRUE(code == gate_errc::damaged || code == gate_errc::none) << static_cast<int>(code);
}

TEST_F(bad_file, of_somebody_else) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  chmod(where.path().c_str(), 0755);
  const auto as_nobody = [&](const std::function<void()>& body) {
    return error_in_child([&] {
      if (setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(65534) != 0) _exit(99);
      body();
    });
  };
  EXPECT_EQ(as_nobody([&] { where.open("gate"); }), gate_errc::no_permission);
  chmod(path.c_str(), 0644);  // may look, may not enter
  EXPECT_EQ(as_nobody([&] { where.open("gate"); }), gate_errc::no_permission);
  EXPECT_EQ(as_nobody([&] { where.open("new", 1); }), gate_errc::no_permission);
  chmod(path.c_str(), 0666);  // may write to the gate, but not take locks
  EXPECT_EQ(as_nobody([&] { where.open("gate"); }), gate_errc::no_permission);
  for (const auto& file : std::filesystem::directory_iterator(where.path())) chmod(file.path().c_str(), 0666);
  EXPECT_EQ(as_nobody([&] { static_cast<void>(where.open("gate").enter()); }), gate_errc::none);
}

TEST_F(bad_file, umask_does_not_narrow_the_mode) {
  const mode_t before = umask(0077);
  gate_options shared = where.options();
  shared.mode = 0660;
  { const gate created("shared", 1, shared); }
  umask(before);
  struct stat there {};
  ASSERT_EQ(stat((where.path() + "/shared.gate").c_str(), &there), 0);
  EXPECT_EQ(there.st_mode & 0777, 0660U);
}

TEST_F(bad_file, no_room) {
  const std::string small = where.path() + "/small";
  std::filesystem::create_directory(small);
  if (mount("none", small.c_str(), "tmpfs", 0, "size=4k") != 0)
    GTEST_SKIP() << "a small file system cannot be mounted here";
  gate_options there;
  there.directory = small;
  EXPECT_EQ(error_of([&] { gate("gate", 1, there); }), gate_errc::system);
  EXPECT_TRUE(std::filesystem::is_empty(small)) << "something was left behind";
  umount(small.c_str());
}

TEST_F(bad_file, directory_removed_while_in_use) {
  gate g = where.open("gate");
  gate::permit inside = g.enter();
  std::filesystem::remove_all(where.path());
  EXPECT_EQ(error_of([&] { where.open("gate", 2); }), gate_errc::not_found);
  inside.release();
  gate::permit again = g.enter();  // those that have it open go on
}

/// Which processes are alive is known by files that have the gate's name: under another name a gate is refused, and no
/// process that uses it is taken for dead.
TEST_F(bad_file, under_another_name) {
  gate g = where.open("gate");
  gate::member first = g.join(), second = g.join(), third = g.join();
  first.enter();
  second.enter();
  const std::string other = where.path() + "/other.gate";
  std::filesystem::create_hard_link(path, other);
  EXPECT_EQ(error_of([&] { where.open("other"); }), gate_errc::damaged);
  EXPECT_EQ(opening(), gate_errc::none);
  std::filesystem::remove(path);  // it is renamed now
  EXPECT_EQ(error_of([&] { where.open("other", 2); }), gate_errc::damaged);
  EXPECT_EQ(opening(), gate_errc::not_found);
  EXPECT_FALSE(third.try_enter()) << "somebody living was healed";
  expect_whole(where, "gate", where.open("gate", 1).slots());  // a new one, which the others have nothing to do with
  EXPECT_FALSE(third.try_enter());
  first.leave();
  EXPECT_TRUE(third.try_enter());
  second.leave();
  third.leave();
  std::filesystem::rename(other, path);
  expect_whole(where, "gate", 2);
}

TEST_F(bad_file, from_before_a_reboot) {
  {
    guarded([&] {
      gate g = where.open("gate");
      g.join().enter();
      std::_Exit(0);
    });
  }
  const std::uint64_t token = where.open("gate").enter(2).token();
  std::string old = slurp(path);
  detail::gates::file_header header{};
  std::memcpy(&header, old.data(), sizeof header);
  header.boot[0] = header.boot[0] == 'x' ? 'y' : 'x';
  header.checksum = detail::gates::checksum_of(header);
  std::memcpy(old.data(), &header, sizeof header);
  for (std::size_t i = 192; i < 4096; ++i)
    old[i] = static_cast<char>(old[i] ^ (i % 7 == 0 ? 0x55 : 0));  // torn by the power cut
  spill(path, old);
  gate_options there = where.options();
  gate renewed("gate", 2, there);
  EXPECT_EQ(renewed.slots(), 2);
  EXPECT_TRUE(renewed.status().holders.empty());
  EXPECT_GT(renewed.enter().token(), token) << "tokens went back";
}

/// A remover that finds its file replaced leaves the newer one alone.
TEST_F(bad_file, a_newer_gate_is_not_removed_with_an_older_one) {
  spill(path, "no gate");
  const int older = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(older, LOCK_EX), 0);  // another remover, which has looked at the file and not yet removed it
  gate_failure failure;
  std::thread late([&] { failure = detail::gates::remove_unreadable(path); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::filesystem::remove(path);
  gate newer = where.open("gate", 2);
  close(older);
  late.join();
  EXPECT_FALSE(failure);
  expect_whole(where, "gate", 2);
}

/// One that holds the maintenance lock and is stopped holds up none for long, and none that does not need it.
TEST_F(bad_file, a_stopped_remover) {
  detail::gates::segment stopped;
  ASSERT_FALSE(stopped.open("gate", 0, {.directory = where.path()}));
  detail::gates::held_bytes maintenance;
  ASSERT_FALSE(stopped.lock_maintenance(maintenance));
  expect_whole(where, "gate", 2);
  std::string bad = slurp(path);
  bad[free_byte] = static_cast<char>(bad[free_byte] ^ 8);  // the newcomer has to renew it
  spill(path, bad);
  EXPECT_EQ(opening(), gate_errc::in_use);
  maintenance.release();
  expect_whole(where, "gate", 2);
}

TEST(bad_file_system, file_systems_that_do_not_share) {
  EXPECT_STREQ(detail::gates::unsuitable_filesystem(0x6969), "NFS");
  EXPECT_STREQ(detail::gates::unsuitable_filesystem(0xFF534D42), "SMB");
  EXPECT_STREQ(detail::gates::unsuitable_filesystem(0x65735546), "FUSE");
  EXPECT_EQ(detail::gates::unsuitable_filesystem(0x01021994), nullptr);  // tmpfs
  EXPECT_EQ(detail::gates::unsuitable_filesystem(0xEF53), nullptr);      // ext4
  gate_options proc;
  proc.directory = "/proc";
  EXPECT_EQ(error_of([&] { gate("gate", 1, proc); }), gate_errc::bad_filesystem);
}

TEST(bad_name, is_reported) {
  const scratch where;
  for (const char* name : {"", ".", "..", "a/b", "../x", "-x", ".hidden", "a b", "a\nb"})
    EXPECT_EQ(error_of([&] { where.open(name, 1); }), gate_errc::bad_name) << name;
  EXPECT_EQ(error_of([&] { where.open(std::string(65, 'a').c_str(), 1); }), gate_errc::bad_name);
  EXPECT_EQ(error_of([&] { where.open(std::string(64, 'a').c_str(), 1); }), gate_errc::none);
  EXPECT_EQ(error_of([&] { where.open("a", 5000); }), gate_errc::bad_slots);
  EXPECT_EQ(error_of([&] { where.open("none"); }), gate_errc::not_found);
}

/// What a program gets that uses a gate whose file is cut off to `length` bytes, in a process of its own.
int cut_off_to(off_t length, bool guards) {
  const scratch where;
  return guarded([&] {
    if (guards) gate::guard_against_truncation();
    gate g = where.open("gate", 1), other = where.open("gate");
    gate::member inside = g.join(), outside = other.join();
    inside.enter();
    EXPECT_EQ(truncate((where.path() + "/gate.gate").c_str(), length), 0);
    int damaged = 0;
    const auto attempt = [&](const auto& operation) {
      try {
        operation();
      } catch (const gate_error& error) {
        damaged += error.code() == gate_errc::damaged ? 1 : 0;
      }
    };
    attempt([&] { (void)outside.try_enter_for(std::chrono::milliseconds(20)); });
    attempt([&] { g.status(); });
    attempt([&] { inside.leave(); });
    damaged = 0;  // by now each has come to a page that is gone
    attempt([&] { (void)outside.try_enter(); });
    attempt([&] { inside.enter(); });
    attempt([&] { g.resize(2); });
    attempt([&] { g.remove(); });
    _exit(damaged == 4 ? 0 : 10 + damaged);
  });
}

TEST(cut_off, a_program_with_the_guard_gets_an_error) {
  for (const off_t length : {off_t{0}, off_t{4096}}) {
    const int how = cut_off_to(length, true);
    EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << how << " with " << length << " bytes";
  }
}
/// Nothing can wake one that sleeps at a file that is gone.
TEST(cut_off, one_that_is_asleep_in_the_queue_learns_of_it) {
  const scratch where;
  const int how = guarded([&] {
    gate::guard_against_truncation();
    gate g = where.open("gate", 1);
    gate::member inside = g.join(), waiter = g.join();
    inside.enter();
    std::atomic<bool> learned{false};
    std::thread waits([&] { learned = error_of([&] { waiter.enter(); }) == gate_errc::damaged; });
    usleep(300'000);  // by now it has found out which it depends on, and sleeps without end
    EXPECT_EQ(truncate((where.path() + "/gate.gate").c_str(), 0), 0);
    waits.join();
    _exit(learned ? 0 : 1);
  });
  EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << how;
}
/// Threads whose dozes a clock ends have no timers, and the clock does not reach them any more.
TEST(cut_off, those_that_pass_without_timers_learn_of_it) {
  for (int round = 0; round < 3; ++round) {
    const scratch where;
    const int how = guarded([&] {
      constexpr int members = 4;
      gate::guard_against_truncation();
      gate_options strict = where.options();
      strict.overtakings = 0;
      gate g("strict", 1, strict);
      std::atomic<int> learned{0};
      std::vector<std::thread> all;
      for (int i = 0; i < members; ++i)
        all.emplace_back([&] {
          try {
            for (gate::member me = g.join();;) {
              me.enter();
              me.leave();
            }
          } catch (const gate_error& error) {
            learned += error.code() == gate_errc::damaged ? 1 : 0;
          }
        });
      const std::filesystem::directory_iterator end;
      while (std::distance(std::filesystem::directory_iterator("/proc/self/task"), end) < members + 2) usleep(1000);
      EXPECT_EQ(truncate((where.path() + "/strict.gate").c_str(), 0), 0);
      for (std::thread& one : all) one.join();
      _exit(learned == members ? 0 : 1);
    });
    EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << how;
  }
}
/// One that sleeps without a time limit when the guard is asked for has to learn that it needs one.
TEST(cut_off, one_that_was_asleep_before_the_guard_learns_of_it) {
  const scratch where;
  const int how = guarded([&] {
    gate g = where.open("gate", 1);
    gate::member inside = g.join(), waiter = g.join();
    inside.enter();
    std::atomic<bool> learned{false};
    std::thread waits([&] { learned = error_of([&] { waiter.enter(); }) == gate_errc::damaged; });
    usleep(600'000);  // it sleeps without end
    gate::guard_against_truncation();
    EXPECT_EQ(truncate((where.path() + "/gate.gate").c_str(), 0), 0);
    waits.join();
    _exit(learned ? 0 : 1);
  });
  EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << how;
}
TEST(cut_off, any_other_program_ends_by_a_signal) {
  const int how = cut_off_to(0, false);
  EXPECT_TRUE(WIFSIGNALED(how) && WTERMSIG(how) == SIGBUS) << how;
}
/// A SIGBUS that is not about a gate ends the program as before.
TEST(cut_off, other_files_are_not_guarded) {
  const scratch where;
  const int how = guarded([&] {
    gate::guard_against_truncation();
    const gate g = where.open("gate", 1);
    const std::string path = where.path() + "/other";
    spill(path, std::string(4096, 'x'));
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    auto* const there = static_cast<volatile char*>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0));
    EXPECT_EQ(ftruncate(fd, 0), 0);
    _exit(there[0] == 'x' ? 1 : 2);
  });
  EXPECT_TRUE(WIFSIGNALED(how) && WTERMSIG(how) == SIGBUS) << how;
}

TEST(fuzz, quick) { fuzz(1, 600); }

}  // namespace
}  // namespace kgate::faults
