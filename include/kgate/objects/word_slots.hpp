// SPDX-License-Identifier: Apache-2.0
#pragma once

/// kgate::word_slots: k-assignment in one word, for at most 32 slots, in memory that processes may share.

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>

#include "kgate/algorithms/word_names.hpp"
#include "kgate/detail/contracts.hpp"
#include "kgate/detail/machines/native.hpp"
#include "kgate/objects/sleepers.hpp"

namespace kgate {

/// At most k inside, each with a number 0..k-1 of its own, taken and given back by one instruction. Of those who wait any may be
/// next (no order is kept). Has the interface of kgate::slots; unlike those it contains no pointers and sleeps on a
/// word that all processes see. Who dies inside keeps its slot.
class word_slots {
 public:
  static constexpr std::ptrdiff_t max() noexcept { return 32; }

  /// @throws std::invalid_argument unless 1 <= k <= max()
  explicit word_slots(std::ptrdiff_t k) : names_(memory_, 0, checked(k)) {}
  word_slots(const word_slots&) = delete;
  word_slots& operator=(const word_slots&) = delete;

  [[nodiscard]] std::ptrdiff_t acquire() noexcept {
    names::Private mine;
    static_cast<void>(sleepers_.until([&] { return take(mine); }));
    return mine.name;
  }
  [[nodiscard]] std::optional<std::ptrdiff_t> try_acquire() noexcept { return acquired(std::try_to_lock); }
  template <class Rep, class Period>
  [[nodiscard]] std::optional<std::ptrdiff_t> try_acquire_for(
      const std::chrono::duration<Rep, Period>& timeout) noexcept {
    return acquired(timeout);
  }
  [[nodiscard]] std::optional<std::ptrdiff_t> acquire(const std::stop_token& stop) noexcept { return acquired(stop); }

  void release(std::ptrdiff_t number) noexcept {
    KGATE_EXPECTS(number >= 0 && number < size(), "release of a slot that does not exist");
    process p(pid(0));
    KGATE_EXPECTS(names_.give_back(p, static_cast<int>(number)), "release of a slot that nobody holds");
    sleepers_.freed();
  }

  std::ptrdiff_t size() const noexcept { return names_.size(); }
  std::ptrdiff_t available() const noexcept {
    process p(pid(0));
    return std::popcount(names_.free_names(p));
  }
  /// The slots that are taken, a bit each.
  std::uint32_t taken() noexcept {
    process p(pid(0));
    return names_.taken_names(p);
  }

 private:
  using machine = native<spin>;
  using process = machine::Process;
  using names = word_names<machine, std::uint32_t>;

  static int checked(std::ptrdiff_t k) {
    if (k < 1 || k > max()) throw std::invalid_argument("word_slots: k must be 1..32");
    return static_cast<int>(k);
  }
  bool take(names::Private& mine) noexcept {
    process p(pid(0));
    return names_.try_acquire(p, mine);
  }
  template <class How>
  std::optional<std::ptrdiff_t> acquired(const How& how) noexcept {
    names::Private mine;
    const bool inside = sleepers_.until([&] { return take(mine); }, how);
    return inside ? std::optional<std::ptrdiff_t>(mine.name) : std::nullopt;
  }

  [[no_unique_address]] machine::Memory memory_;
  mutable names names_;
  sleepers sleepers_;
};

}  // namespace kgate
