// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The protocol's variables (protocol.hpp) in a mapped file.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <climits>
#include <cstdint>
#include <ctime>
#include <vector>

#include "gate/layout.hpp"
#include "gate/segment.hpp"
#include "kgate/detail/waiting/futex.hpp"

namespace kgate::detail::gates {

/// Sleeping on a bell. The kernel knows it by its file and offset, so PID namespaces do not matter. A ring wakes all
/// that sleep on it: beside its member a thread of suspended_waiters may be on its way out of the kernel.
inline bool sleep_on(std::atomic<std::uint32_t>& bell, std::uint32_t expected, const std::timespec* timeout) {
  return futex_wait(bell, expected, timeout, futex_scope::machine);
}
inline void wake_on(std::atomic<std::uint32_t>& bell) { futex_wake(bell, INT_MAX, futex_scope::machine); }

/// The monotonic clock.
inline std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// The wall clock, to a few milliseconds.
[[gnu::hot]] inline std::uint64_t wall_coarse_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

/// What an operation throws that goes round for ever, since a process changes the file all the time.
struct scribbled {};

class mapped_cells {
 public:
  /// Each member may be in the way of an operation a few times, and then has done what it came for.
  class retries {
   public:
    static constexpr unsigned most = 2 * members_max;

    void again() {
      if (++rounds_ == most) throw scribbled{};
    }

   private:
    unsigned rounds_ = 0;
  };

  void bind(segment& where) {
    map_ = &where.map();
    locks_ = &where.locks();
    process_ = getpid();
    overtakings_ = map_->header.overtakings;
  }

  detail::gates::word word() const { return {map_->word_bits.load()}; }
  bool cas_word(detail::gates::word expected, detail::gates::word desired) {
    return map_->word_bits.compare_exchange_strong(expected.bits, desired.bits);
  }

  state state_of(unsigned i) const { return {map_->state_bits[i].load()}; }
  bool cas_state(unsigned i, state expected, state desired) {
    return map_->state_bits[i].compare_exchange_strong(expected.bits, desired.bits);
  }
  void set_state(unsigned i, state s) { map_->state_bits[i].store(s.bits, std::memory_order_release); }

  link queue() const { return {map_->queue_bits.load()}; }
  bool cas_queue(link expected, link desired) {
    return map_->queue_bits.compare_exchange_strong(expected.bits, desired.bits);
  }
  link link_of(unsigned i) const { return {map_->lines[i].link_bits.load()}; }
  bool cas_link(unsigned i, link expected, link desired) {
    return map_->lines[i].link_bits.compare_exchange_strong(expected.bits, desired.bits);
  }

  limit size() const { return {map_->size_bits.load()}; }
  bool cas_size(limit expected, limit desired) {
    return map_->size_bits.compare_exchange_strong(expected.bits, desired.bits);
  }

  overtaken passed() const { return {map_->passed_bits.load()}; }
  bool cas_passed(overtaken expected, overtaken desired) {
    return map_->passed_bits.compare_exchange_strong(expected.bits, desired.bits);
  }
  call_count calls() const { return {map_->call_bits.load()}; }
  bool cas_calls(call_count expected, call_count desired) {
    return map_->call_bits.compare_exchange_strong(expected.bits, desired.bits);
  }
  call_count add_call() { return {map_->call_bits.fetch_add(call_count::one) + call_count::one}; }
  unsigned calls_most() const { return members(); }
  /// A member's short passages that do not look at C, for each that does: a power of two less one.
  std::uint64_t short_passages() const {
    return overtakings_ == 0 ? 0 : std::bit_floor(std::max(passages_in_all / std::max(members(), 1U), 1U)) - 1;
  }

  std::uint32_t overtakings() const {
    if (overtakings_ != overtakings_shared) return overtakings_;
    return std::max(overtakings_in_all / std::max(members(), 1U), overtakings_least);
  }

  /// `j` is below slots_max.
  slot_owner slot(int j) const { return {map_->slot_bits[j].load()}; }
  bool cas_slot(int j, slot_owner expected, slot_owner desired) {
    return map_->slot_bits[j].compare_exchange_strong(expected.bits, desired.bits);
  }

  unsigned members() const {
    const std::uint32_t used = map_->members_used.load(std::memory_order_acquire);
    return used < members_max ? used : members_max;
  }

  bool alive(unsigned i) const { return locks_->alive(i, leaves_by_ending(i)); }

  /// Only a member that has slept for some time can have been dead for long, so only then is the kernel asked.
  bool grantable(unsigned i) const {
    return (map_->lines[i].bell.load(std::memory_order_relaxed) & bell_listens) == 0 || alive(i);
  }

  bool is_asleep(unsigned i) const { return (map_->lines[i].bell.load() & bell_asleep) != 0; }
  std::uint32_t woken() const { return map_->woken_seq.load(); }
  void set_woken(std::uint32_t seq) { map_->woken_seq.store(seq, std::memory_order_release); }  // partner: woken()
  void alert(unsigned i) {
    if ((map_->lines[i].bell.load() & bell_listens) != 0) ring(i);
  }
  void listen(unsigned i) { map_->lines[i].bell.store(bell_listens); }
  bool fall_asleep(unsigned i) {
    std::uint32_t expected = bell_listens;
    return map_->lines[i].bell.compare_exchange_strong(expected, bell_listens | bell_asleep);
  }
  void ring(unsigned i) {
    auto& bell = map_->lines[i].bell;
    if ((bell.fetch_or(bell_rung) & bell_asleep) != 0) wake_on(bell);
  }

  /// Whether member i dozes (gate_doze.hpp), or is about to.
  bool dozes(unsigned i) const { return is_doze(map_->lines[i].bell.load()); }
  /// Ends the doze of member i, if it still does. The one that rang may have died before it woke it.
  void set_over(unsigned i) {
    auto& bell = map_->lines[i].bell;
    std::uint32_t before = bell.load();
    while (is_doze(before))
      if (bell.compare_exchange_weak(before, before | bell_over)) return wake_on(bell);
  }

  /// The processes that a waiter depends on, other than its own.
  struct watch_set {
    std::vector<int> processes;
    bool complete = true;   ///< false: one of them cannot be named here
    bool any_dead = false;  ///< one of them was no more
  };
  void watch(watch_set& set, unsigned i) const {
    const int process = watched_process(i);
    if (process < 0)
      set.complete = false;
    else if (process == 0)
      set.any_dead = true;
    else if (process != process_)
      set.processes.push_back(process);
  }

  /// Member i is inside and leaves by ending. Sequentially consistent: see gate_doze.hpp.
  void set_ends(unsigned i) { map_->lines[i].leaves_by_ending.store(1); }

  /// Lets others watch this process as member i, if they cannot yet.
  void announce(unsigned i) {
    auto& its_namespace = map_->info[i].word_bits[identity_namespace];
    if (its_namespace.load(std::memory_order_relaxed) == 0) its_namespace.store(own_pid_namespace());
  }

  /// What the checker has to know, and this machine need not.
  template <class... T>
  void live(const T&...) const {}
  template <class F>
  decltype(auto) call(F&& f) {
    return f();
  }

  /// Only deaths count: a member may have said that it leaves by ending.
  void healed(unsigned i) {
    if (!leaves_by_ending(i)) map_->healed.fetch_add(1, std::memory_order_relaxed);
  }

  file_layout& map() const { return *map_; }
  lock_file& locks() const { return *locks_; }

 private:
  static bool is_doze(std::uint32_t bell) { return (bell & (bell_asleep | bell_listens)) == bell_asleep; }
  bool leaves_by_ending(unsigned i) const {
    return map_->lines[i].leaves_by_ending.load(std::memory_order_relaxed) != 0;
  }

  /// The process by which member i lives: 0 if it is dead, -1 if it cannot be named here.
  int watched_process(unsigned i) const {
    // A wrapper that is dead may have left a command that is not, and one that has become its command need not have
    // announced itself; the kernel names commands on request.
    const bool ends = leaves_by_ending(i);
    if (const int command = ends ? locks_->command_process(i) : 0; command != 0) return command;
    const bool wrapped = locks_->member_alive(i);
    const int process = wrapped ? process_of(i) : 0;
    if (process > 0 || ends) return process;
    const int command = locks_->command_process(i);
    return command != 0 || !wrapped ? command : process;
  }
  /// The process of a living member; -1 if it cannot be named here.
  int process_of(unsigned i) const {
    identity who{};
    if (!read_identity(map_->info[i], who) || who.pid_namespace == 0) return -1;
    return who.pid_namespace == own_pid_namespace() && who.process > 0 ? who.process : -1;
  }

  file_layout* map_ = nullptr;
  lock_file* locks_ = nullptr;
  int process_ = 0;
  std::uint32_t overtakings_ = 0;
};

}  // namespace kgate::detail::gates
