// SPDX-License-Identifier: Apache-2.0
// kgate::gate as a library: what its interface promises.
#include "kgate/gate.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <limits>
#include <set>
#include <thread>

#include "gate/core.hpp"
#include "gate/faults/scratch.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;
using faults::expect_whole;
using faults::scratch;

void until_waiting(gate& g, std::size_t count) {
  while (g.status().waiters.size() < count) std::this_thread::yield();
}

TEST(gate, lets_k_in_with_different_slots) {
  const scratch where;
  gate g = where.open("g", 3);
  EXPECT_EQ(g.slots(), 3);
  expect_whole(where, "g", 3);
}

TEST(gate, gives_the_lowest_free_slot) {
  const scratch where;
  gate g = where.open("g", 3);
  gate::permit a = g.enter(), b = g.enter();
  EXPECT_EQ(a.slot(), 0);
  EXPECT_EQ(b.slot(), 1);
  a.release();
  gate::permit c = g.enter();
  EXPECT_EQ(c.slot(), 0);
}

/// What `kgate pause`, `resume` and `cancel` do.
class administrator {
 public:
  administrator(const scratch& where, const char* name) {
    detail::gates::location here;
    here.directory = where.path();
    EXPECT_FALSE(gate_.open(name, 0, here));
    EXPECT_FALSE(gate_.join("administrator", mine_));
  }
  void set_paused(bool paused) { gate_.set_paused(mine_, paused); }
  bool dismiss_first_waiter() {
    const detail::gates::snapshot seen = detail::gates::take_snapshot(gate_.cells().map());
    return !seen.waiters.empty() && gate_.dismiss(mine_, seen.waiters.front());
  }

 private:
  detail::gates::core gate_;
  detail::gates::membership mine_;
};

TEST(gate, nobody_enters_a_paused_gate_by_any_path) {
  const scratch where;
  gate g = where.open("g", 2);
  gate::member inside = g.join(), often = g.join();
  inside.enter();
  for (int i = 0; i < 3; ++i) {  // so that the next one is the shortest path
    often.enter();
    often.leave();
  }
  administrator admin(where, "g");
  admin.set_paused(true);
  EXPECT_FALSE(often.try_enter());
  EXPECT_EQ(g.slots(), 2);
  inside.leave();
  EXPECT_FALSE(inside.try_enter());
  EXPECT_FALSE(often.try_enter_for(20ms));
  EXPECT_TRUE(g.status().holders.empty());
  admin.set_paused(false);
  EXPECT_TRUE(often.try_enter());
  EXPECT_TRUE(inside.try_enter());
  often.leave();
  inside.leave();
  expect_whole(where, "g", 2);
}

TEST(gate, a_waiter_that_somebody_cancels_is_not_inside) {
  const scratch where;
  gate g = where.open("g", 1);
  std::optional<gate::permit> holder = g.enter();
  std::atomic<int> code{-1};
  std::thread waiter([&] {
    gate mine = where.open("g");
    try {
      const gate::permit permit = mine.enter();
      code = 0;
    } catch (const gate_error& error) {
      code = static_cast<int>(error.code());
    }
  });
  until_waiting(g, 1);
  administrator admin(where, "g");
  EXPECT_TRUE(admin.dismiss_first_waiter());
  waiter.join();
  EXPECT_EQ(code.load(), static_cast<int>(gate_errc::cancelled));
  holder.reset();
  expect_whole(where, "g", 1);
}

TEST(gate, tokens_grow) {
  const scratch where;
  gate g = where.open("g", 2);
  gate::permit a = g.enter();
  const std::uint64_t first = a.token();
  EXPECT_EQ(a.token(), first);
  gate::permit b = g.enter();
  EXPECT_GT(b.token(), first);
}

TEST(gate, serves_in_order) {
  const scratch where;
  gate g = where.open("g", 1);
  std::optional<gate::permit> holder = g.enter();
  // Each thread maps the file for itself, so a race detector cannot see that the gate orders them.
  std::array<std::atomic<int>, 8> served{};
  std::atomic<std::size_t> count{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      gate mine = where.open("g");
      gate::permit permit = mine.enter();
      served[count.fetch_add(1)] = i;
    });
    until_waiting(g, static_cast<std::size_t>(i) + 1);
  }
  holder.reset();
  for (std::thread& t : threads) t.join();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(served[static_cast<std::size_t>(i)].load(), i);
}

TEST(gate, overtaking_is_bounded) {
  const scratch where;
  gate_options options = where.options();
  options.overtakings = 3;
  gate g("g", 1, options);
  gate::member passing = g.join();
  std::atomic<bool> in{false};
  passing.enter();
  std::thread waiter([&] {
    gate mine = where.open("g");
    gate::permit permit = mine.enter();
    in = true;
  });
  until_waiting(g, 1);
  int passages = 0;
  for (; !in.load() && passages < 1000; ++passages) {
    passing.leave();
    passing.enter();  // passes the waiter, or waits behind it
  }
  EXPECT_LE(passages, 5);
  passing.leave();
  waiter.join();
  expect_whole(where, "g", 1);
}

TEST(gate, time_out_and_cancellation_leave_the_queue) {
  const scratch where;
  gate g = where.open("g", 1);
  gate::permit holder = g.enter();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(g.try_enter_for(30ms).has_value());
  EXPECT_GE(std::chrono::steady_clock::now() - began, 30ms);
  EXPECT_FALSE(g.try_enter_until(std::chrono::system_clock::now() + 5ms).has_value());
  EXPECT_FALSE(g.try_enter_for(-1s).has_value());
  std::stop_source stop;
  std::thread canceller([&] {
    until_waiting(g, 1);
    stop.request_stop();
  });
  EXPECT_FALSE(g.enter(stop.get_token()).has_value());
  canceller.join();
  EXPECT_TRUE(g.status().waiters.empty());
  holder.release();
  expect_whole(where, "g", 1);
}

TEST(gate, a_heavy_request_waits_for_all_and_holds_up_those_behind_it) {
  const scratch where;
  gate g = where.open("g", 3);
  std::optional<gate::permit> light = g.enter();
  std::atomic<bool> heavy_in{false}, late_in{false};
  std::thread heavy([&] {
    gate mine = where.open("g");
    gate::permit permit = mine.enter(3);
    EXPECT_EQ(permit.slots(), (std::vector<int>{0, 1, 2}));
    EXPECT_FALSE(late_in.load());
    heavy_in = true;
  });
  until_waiting(g, 1);
  EXPECT_FALSE(g.try_enter().has_value()) << "passed the one who waits";
  std::thread late([&] {
    gate mine = where.open("g");
    gate::permit permit = mine.enter();
    EXPECT_TRUE(heavy_in.load());
    late_in = true;
  });
  until_waiting(g, 2);
  light.reset();
  heavy.join();
  late.join();
  EXPECT_THROW(g.enter(4), gate_error);
  EXPECT_THROW(g.enter(0), gate_error);
  expect_whole(where, "g", 3);
}

TEST(gate, growing_lets_waiters_in) {
  const scratch where;
  gate g = where.open("g", 1);
  gate::permit holder = g.enter();
  std::thread waiter([&] { static_cast<void>(where.open("g").enter()); });
  until_waiting(g, 1);
  g.resize(2);
  waiter.join();
  EXPECT_EQ(where.open("g", 2).slots(), 2);
}

TEST(gate, shrinking_lets_holders_finish) {
  const scratch where;
  gate g = where.open("g", 3);
  std::vector<gate::permit> inside;
  for (int i = 0; i < 3; ++i) inside.push_back(g.enter());
  g.resize(1);
  EXPECT_EQ(g.status().free, 0);
  EXPECT_EQ(g.status().over, 2);
  inside.pop_back();
  inside.pop_back();
  EXPECT_FALSE(g.try_enter().has_value());
  inside.pop_back();
  expect_whole(where, "g", 1);
  EXPECT_THROW(g.resize(0), gate_error);
}

TEST(gate, a_waiter_heavier_than_a_smaller_gate_is_refused) {
  const scratch where;
  gate g = where.open("g", 3);
  std::optional<gate::permit> holder = g.enter(2);
  gate_errc code = gate_errc::none;
  std::thread heavy([&] {
    gate mine = where.open("g");
    gate::member member = mine.join();
    try {
      member.enter(3);
    } catch (const gate_error& error) {
      code = error.code();
    }
    EXPECT_FALSE(member.inside());
    EXPECT_FALSE(member.try_enter());
  });
  until_waiting(g, 1);
  std::thread light([&] { static_cast<void>(where.open("g").enter()); });
  until_waiting(g, 2);
  g.resize(2);
  heavy.join();  // while the holder is inside: none waits for what cannot come
  EXPECT_EQ(code, gate_errc::bad_slots);
  holder.reset();
  light.join();
  expect_whole(where, "g", 2);
}

TEST(gate, a_refused_waiter_learns_of_it_though_the_gate_has_grown_again) {
  const scratch where;
  gate g = where.open("g", 3);
  std::optional<gate::permit> holder = g.enter();
  const pid_t heavy = fork();
  if (heavy == 0) {
    gate_errc code = gate_errc::none;
    try {
      static_cast<void>(where.open("g").enter(3));
    } catch (const gate_error& error) {
      code = error.code();
    }
    _exit(static_cast<int>(code));
  }
  until_waiting(g, 1);
  kill(heavy, SIGSTOP);  // it learns of nothing until it is over
  int how = 0;
  waitpid(heavy, &how, WUNTRACED);
  g.resize(2);
  g.resize(3);
  kill(heavy, SIGCONT);
  waitpid(heavy, &how, 0);
  EXPECT_TRUE(WIFEXITED(how));
  EXPECT_EQ(static_cast<gate_errc>(WEXITSTATUS(how)), gate_errc::bad_slots);
  holder.reset();
  expect_whole(where, "g", 3);
}

/// A number that resized enters with another weight, while others resize and enter.
TEST(gate, resizing_and_entering_mix) {
  const scratch where;
  gate g = where.open("g", 3);
  const gate::member present = g.join();  // a gate in use is not renewed when its counts are wrong
  std::atomic<int> inside{0}, most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      gate mine = where.open("g");
      for (int round = 0; round < 3000; ++round) {
        mine.resize(2 + (round + t) % 2);
        gate::permit held = mine.enter(1 + round % 2);
        const int now = inside.fetch_add(1 + round % 2) + 1 + round % 2;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        inside.fetch_sub(1 + round % 2);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_LE(most, 3);
  EXPECT_TRUE(g.slots() == 2 || g.slots() == 3) << g.slots();
  expect_whole(where, "g", g.slots());
}

TEST(gate, another_size_is_refused) {
  const scratch where;
  gate g = where.open("g", 2);
  try {
    where.open("g", 3);
    ADD_FAILURE();
  } catch (const gate_error& error) {
    EXPECT_EQ(error.code(), gate_errc::wrong_slots);
    EXPECT_NE(std::string(error.what()).find("has 2 slots, not 3"), std::string::npos);
  }
}

TEST(gate, status_says_who) {
  const scratch where;
  gate g = where.open("g", 1, "the holder");
  gate::permit holder = g.enter();
  std::thread waiter([&] { static_cast<void>(where.open("g", 0, "the waiter").enter()); });
  until_waiting(g, 1);
  const gate_status seen = g.status();
  ASSERT_EQ(seen.holders.size(), 1U);
  EXPECT_EQ(seen.holders[0].command, "the holder");
  EXPECT_EQ(seen.holders[0].process, getpid());
  EXPECT_EQ(seen.holders[0].user, geteuid());
  EXPECT_FALSE(seen.holders[0].host.empty());
  EXPECT_LT(std::chrono::system_clock::now() - seen.holders[0].since, 60s);
  EXPECT_EQ(seen.waiters.at(0).command, "the waiter");
  EXPECT_EQ(seen.waiters.at(0).position, 1);
  holder.release();
  waiter.join();
}

TEST(gate, a_long_command_is_not_cut_inside_a_character) {
  const scratch where;
  gate_options options = where.options();
  for (const std::size_t before : {116U, 117U, 118U, 119U}) {
    options.command = std::string(before, 'x') + "\xE2\x82\xAC\xE2\x82\xAC";  // two euro signs
    gate g("g", 1, options);
    const gate::permit permit = g.enter();
    const std::string shown = g.status().holders.at(0).command;
    EXPECT_EQ(shown, options.command.substr(0, shown.size()));
    EXPECT_TRUE(shown.size() == before || shown.size() == before + 3) << shown;
  }
}

TEST(gate, removing) {
  const scratch where;
  gate g = where.open("g", 1);
  std::optional<gate::permit> holder = g.enter();
  EXPECT_FALSE(g.remove());
  gate_errc code = gate_errc::none;
  std::thread waiter([&] {
    try {
      static_cast<void>(where.open("g").enter());
    } catch (const gate_error& error) {
      code = error.code();
    }
  });
  until_waiting(g, 1);
  EXPECT_TRUE(g.remove(true));
  waiter.join();
  EXPECT_EQ(code, gate_errc::removed);
  holder.reset();
  EXPECT_THROW(g.enter(), gate_error);
  expect_whole(where, (static_cast<void>(where.open("g", 4)), "g"), 4);
}

TEST(gate, creation_is_atomic) {
  const scratch where;
  for (int round = 0; round < 20; ++round) {
    const std::string name = "race" + std::to_string(round);
    std::atomic<int> inside{0}, most{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; ++i)
      threads.emplace_back([&] {
        gate mine(name, 2, where.options());
        gate::permit permit = mine.enter();
        const int now = inside.fetch_add(1) + 1;
        int before = most.load();
        while (before < now && !most.compare_exchange_weak(before, now)) {
        }
        std::this_thread::sleep_for(1ms);
        inside.fetch_sub(1);
      });
    for (std::thread& t : threads) t.join();
    EXPECT_LE(most.load(), 2);
  }
}

TEST(gate, a_member_goes_in_and_out_fast) {
  const scratch where;
  gate g = where.open("g", 2);
  gate::member a = g.join(), b = g.join();
  for (int i = 0; i < 1000; ++i) {
    a.enter();
    if (i % 3 == 0) b.enter();
    EXPECT_EQ(g.status().free, i % 3 == 0 ? 0 : 1);
    if (i % 5 == 0) {
      EXPECT_GE(a.slot(), 0);
    }
    a.leave();
    if (i % 7 == 0) {
      a.enter(b.inside() ? 1 : 2);
      a.leave();
    }
    if (b.inside()) b.leave();
  }
  EXPECT_TRUE(a.try_enter());
  gate::member moved = std::move(a);
  EXPECT_TRUE(moved.inside());
  moved.leave();
  expect_whole(where, "g", 2);
}

TEST(gate, many_threads_of_one_object) {
  const scratch where;
  gate g = where.open("g", 3);
  std::atomic<int> inside{0};
  std::atomic<bool> too_many{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 200; ++n) {
        gate::permit permit = g.enter();
        if (inside.fetch_add(1) >= 3) too_many = true;
        inside.fetch_sub(1);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_FALSE(too_many.load());
  expect_whole(where, "g", 3);
}

/// The longest time is for ever, not less than now; the shortest is now, and not for ever.
/// Where all are let in after microseconds none waits long enough to watch those inside.
TEST(gate, a_dead_holder_is_noticed_among_passages_that_never_wait_for_long) {
  const scratch where;
  gate g = where.open("g", 2);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    gate mine = where.open("g", 0);
    const gate::permit permit = mine.enter();
    char byte = 'x';
    if (write(pipe_ends[1], &byte, 1) == 1) pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
  std::atomic<int> inside{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      gate::member me = g.join();
      while (!over) {
        me.enter();
        if (++inside == 2) over = true;
        std::this_thread::yield();
        --inside;
        me.leave();
      }
    });
  std::this_thread::sleep_for(20ms);  // only to let them begin
  EXPECT_FALSE(over);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (std::thread& t : threads) t.join();  // or the test's time limit ends it
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  expect_whole(where, "g", 2);
}

TEST(gate, times_of_any_length) {
  const scratch where;
  gate g = where.open("g", 1);
  std::optional<gate::permit> holder = g.enter();
  using clock = std::chrono::steady_clock;
  EXPECT_FALSE(g.try_enter_until(clock::time_point::min()).has_value());
  EXPECT_FALSE(g.try_enter_until(std::chrono::time_point<clock, std::chrono::hours>::min()).has_value());
  EXPECT_FALSE(g.try_enter_for(std::chrono::hours::min()).has_value());
  EXPECT_FALSE(g.try_enter_for(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())).has_value());
  std::atomic<int> inside{0};
  std::vector<std::thread> waiters;
  const auto wait = [&](auto time) {
    waiters.emplace_back([&, time] {
      gate::member member = where.open("g").join();
      if (member.try_enter_for(time)) ++inside;
    });
  };
  wait(std::chrono::hours::max());
  wait(std::chrono::nanoseconds::max());
  wait(std::chrono::duration<double>(std::numeric_limits<double>::infinity()));
  wait(std::chrono::duration<float, std::ratio<31'556'952>>(1e30F));
  wait(std::chrono::duration<long long, std::ratio<1, 60>>(368'934'881'475));  // 195 years
  wait(std::chrono::duration<long long, std::ratio<1, 3>>(18'446'744'074));
  waiters.emplace_back([&] {
    gate::member member = where.open("g").join();
    if (member.try_enter_until(clock::time_point::max())) ++inside;
    member.leave();
    if (member.try_enter_until(std::chrono::time_point<std::chrono::system_clock, std::chrono::hours>::max())) ++inside;
  });
  until_waiting(g, 7);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(inside, 0);
  holder.reset();
  for (std::thread& t : waiters) t.join();
  EXPECT_EQ(inside, 8);
}

/// The space a gate takes on disk.
std::uintmax_t disk_bytes(const scratch& where, const char* name) {
  struct stat there {};
  EXPECT_EQ(stat((where.path() + "/" + name + ".gate").c_str(), &there), 0);
  return static_cast<std::uintmax_t>(there.st_blocks) * 512;
}

TEST(gate, a_new_gate_is_small_and_grows_with_its_members) {
  const scratch where;
  gate g = where.open("g", 2);
  EXPECT_LE(disk_bytes(where, "g"), 16U * 1024);
  gate::member first = g.join();
  first.enter();
  first.leave();
  EXPECT_LE(disk_bytes(where, "g"), 16U * 1024);
  std::vector<gate::member> members;
  for (int i = 0; i < 500; ++i) members.push_back(g.join());
  EXPECT_LE(disk_bytes(where, "g"), 256U * 1024);
  expect_whole(where, "g", 2);
}

TEST(gate, destroyed_members_give_their_numbers_back) {
  const scratch where;
  gate g = where.open("g", 2);
  std::uintmax_t once = 0;
  for (int round = 0; round < 4; ++round) {
    std::vector<gate::member> members;
    for (int i = 0; i < 300; ++i) members.push_back(g.join());
    if (round == 0) once = disk_bytes(where, "g");
  }
  EXPECT_LE(disk_bytes(where, "g"), once + 16U * 1024);
  expect_whole(where, "g", 2);
}

TEST(gate, moves_and_ends_do_not_throw) {
  static_assert(std::is_nothrow_move_constructible_v<gate> && std::is_nothrow_move_assignable_v<gate>);
  static_assert(std::is_nothrow_move_constructible_v<gate::member> && std::is_nothrow_move_assignable_v<gate::member>);
  static_assert(std::is_nothrow_move_constructible_v<gate::permit> && std::is_nothrow_move_assignable_v<gate::permit>);
  static_assert(std::is_nothrow_destructible_v<gate> && std::is_nothrow_destructible_v<gate::member> &&
                std::is_nothrow_destructible_v<gate::permit>);
  static_assert(noexcept(std::declval<gate::permit&>().release()));
  static_assert(noexcept(std::declval<const gate::member&>().inside()));
}

TEST(gate_misuse, is_reported) {
  const scratch where;
  gate g = where.open("g", 1);
  gate::member member = g.join();
  EXPECT_DEATH(member.leave(), "not inside");
  EXPECT_DEATH(member.slot(), "only a member that is inside");
  member.enter();
  EXPECT_DEATH(member.enter(), "inside cannot enter");
  member.leave();
  gate::permit permit = g.enter();
  permit.release();
  EXPECT_DEATH(permit.slot(), "a permit that was released");
  EXPECT_DEATH(permit.token(), "a permit that was released");
}

TEST(gate_misuse, what_was_moved_from_is_reported) {
  const scratch where;
  gate g = where.open("g", 2);
  gate::member first = g.join();
  for (int i = 0; i < 3; ++i) {  // the short path has something to build on
    first.enter();
    first.leave();
  }
  gate::member second = std::move(first);
  EXPECT_DEATH(first.enter(), "moved from");
  EXPECT_DEATH(static_cast<void>(first.try_enter()), "moved from");
  EXPECT_DEATH(static_cast<void>(first.try_enter_for(1ms)), "moved from");
  EXPECT_DEATH(static_cast<void>(first.enter(std::stop_token())), "moved from");
  second.enter();
  gate::member third = std::move(second);
  EXPECT_FALSE(second.inside());
  EXPECT_DEATH(second.leave(), "not inside");
  EXPECT_TRUE(third.inside());
  third.leave();
  gate other = std::move(g);
  EXPECT_DEATH(static_cast<void>(g.enter()), "moved from");
  EXPECT_DEATH(static_cast<void>(g.slots()), "moved from");
  EXPECT_DEATH(g.remove(), "moved from");
  EXPECT_EQ(other.slots(), 2);
  expect_whole(where, "g", 2);
}

TEST(gate, a_relative_directory_is_the_one_of_now) {
  const scratch where;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(where.path());
  std::filesystem::create_directory("inner");
  gate g("x", 1, {.directory = "inner"});
  std::filesystem::current_path("/");
  EXPECT_TRUE(std::filesystem::exists(where.path() + "/inner/x.gate"));
  EXPECT_TRUE(g.remove());
  EXPECT_FALSE(std::filesystem::exists(where.path() + "/inner/x.gate"));
  std::filesystem::current_path(before);
}

TEST(gate, hints_say_where_the_gate_is) {
  const scratch where;
  const gate g = where.open("g", 2);
  try {
    where.open("g", 3);
    FAIL();
  } catch (const gate_error& error) {
    EXPECT_NE(std::string(error.what()).find("kgate resize -n g -d " + where.path() + " -k 3"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace kgate
