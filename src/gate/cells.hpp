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

namespace kgate::gate_detail {

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
  void bind(const segment& where) {
    map_ = &where.map();
    fd_ = where.fd();
    overtakings_ = map_->header.overtakings;
  }

  gate_detail::word word() const { return {map_->word_bits.load()}; }
  bool cas_word(gate_detail::word expected, gate_detail::word desired) {
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

  /// A lock of one's own never conflicts with oneself, so members of this object are known by name.
  bool alive(unsigned i) const { return is_mine(i) || locked_by_others(fd_, member_byte(i), 2); }

  /// Only a member that sleeps can have been dead for long, so only then is the kernel asked.
  bool grantable(unsigned i) const { return map_->lines[i].parked.load(std::memory_order_relaxed) == 0 || alive(i); }

  void wake(unsigned i) {
    if (map_->lines[i].parked.load() != 0) shared_futex_wake(map_->state_bits[i]);
  }

  void nudge(unsigned i) {
    if (map_->lines[i].parked.exchange(0) != 0) shared_futex_wake(map_->state_bits[i]);
  }

  void healed() { map_->healed.fetch_add(1, std::memory_order_relaxed); }

  bool is_mine(unsigned i) const { return (mine_[i / 64].load(std::memory_order_relaxed) >> i % 64 & 1) != 0; }
  void set_mine(unsigned i, bool is) {
    const std::uint64_t bit = std::uint64_t{1} << i % 64;
    if (is)
      mine_[i / 64].fetch_or(bit);
    else
      mine_[i / 64].fetch_and(~bit);
  }

  file_layout& map() const { return *map_; }
  int fd() const { return fd_; }

 private:
  file_layout* map_ = nullptr;
  int fd_ = -1;
  std::uint32_t overtakings_ = 0;
  std::array<std::atomic<std::uint64_t>, members_max / 64> mine_{};
};

}  // namespace kgate::gate_detail
