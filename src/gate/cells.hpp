// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The protocol's variables (protocol.hpp) in a mapped file.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>

#include "gate/layout.hpp"
#include "gate/segment.hpp"

namespace kgate::detail::gates {

/// Futexes between processes: the kernel knows the word by its file and offset, so PID namespaces do not matter.
inline std::uint32_t* futex_half(std::atomic<std::uint64_t>& bits) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  return reinterpret_cast<std::uint32_t*>(&bits);
}

inline long shared_futex_wait(std::atomic<std::uint64_t>& bits, std::uint32_t expected, const std::timespec* timeout) {
  return ::syscall(SYS_futex, futex_half(bits), FUTEX_WAIT, expected, timeout, nullptr, 0);
}

inline void shared_futex_wake(std::atomic<std::uint64_t>& bits) {
  ::syscall(SYS_futex, futex_half(bits), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

class mapped_cells {
 public:
  void bind(segment& where) {
    map_ = &where.map();
    locks_ = &where.locks();
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

  std::uint64_t order_of(unsigned i) const { return map_->lines[i].order.load(std::memory_order_relaxed); }
  void set_order(unsigned i, std::uint64_t order) { map_->lines[i].order.store(order, std::memory_order_relaxed); }

  limit size() const { return {map_->size_bits.load()}; }
  bool cas_size(limit expected, limit desired) {
    return map_->size_bits.compare_exchange_strong(expected.bits, desired.bits);
  }

  overtaken passed() const { return {map_->passed_bits.load()}; }
  bool cas_passed(overtaken expected, overtaken desired) {
    return map_->passed_bits.compare_exchange_strong(expected.bits, desired.bits);
  }
  std::uint32_t overtakings() const { return overtakings_; }

  /// `j` is below slots_max.
  slot_owner slot(int j) const { return {map_->slot_bits[j].load()}; }
  bool cas_slot(int j, slot_owner expected, slot_owner desired) {
    return map_->slot_bits[j].compare_exchange_strong(expected.bits, desired.bits);
  }

  unsigned members() const {
    const std::uint32_t used = map_->members_used.load(std::memory_order_acquire);
    return used < members_max ? used : members_max;
  }

  bool alive(unsigned i) const { return locks_->alive(i); }

  /// Only a member that sleeps can have been dead for long, so only then is the kernel asked.
  bool grantable(unsigned i) const { return map_->lines[i].parked.load(std::memory_order_relaxed) == 0 || alive(i); }

  void wake(unsigned i) {
    if (map_->lines[i].parked.load() != 0) shared_futex_wake(map_->state_bits[i]);
  }

  void nudge(unsigned i) {
    if (map_->lines[i].parked.exchange(0) != 0) shared_futex_wake(map_->state_bits[i]);
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
    if (map_->lines[i].leaves_by_ending.load(std::memory_order_relaxed) == 0)
      map_->healed.fetch_add(1, std::memory_order_relaxed);
  }

  file_layout& map() const { return *map_; }
  lock_file& locks() const { return *locks_; }

 private:
  file_layout* map_ = nullptr;
  lock_file* locks_ = nullptr;
  std::uint32_t overtakings_ = 0;
};

}  // namespace kgate::detail::gates
