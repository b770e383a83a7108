// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// kgate::word_slots: k-assignment in words of bits, for at most 64 slots or any number, in memory that processes may
/// share.

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include "kgate/algorithms/word_names.hpp"
#include "kgate/detail/contracts.hpp"
#include "kgate/detail/inline_array.hpp"
#include "kgate/detail/machines/native.hpp"
#include "kgate/objects/sleepers.hpp"
#include "kgate/objects/usable_between_processes.hpp"
#include "kgate/stop_token.hpp"

namespace kgate {

/// At most k inside, each with a number 0..k-1 of its own, taken and given back by one instruction. Of the waiters
/// any may be next (no order is kept). Has the interface of kgate::slots; unlike those it contains no pointers and
/// sleeps on a word that all processes see. A process that dies inside keeps its slot.
/// @tparam Max  the largest k
template <int Max>
class basic_word_slots {
  static_assert(Max >= 1);

 public:
  static constexpr std::ptrdiff_t max() noexcept { return Max; }

  /// @throws std::invalid_argument unless 1 <= k <= max()
  explicit basic_word_slots(std::ptrdiff_t k)
      : k_(checked(k)), words_(words, [this](std::size_t i) { return names(memory_, 0, names_in_word(i)); }) {}
  basic_word_slots(const basic_word_slots&) = delete;
  basic_word_slots& operator=(const basic_word_slots&) = delete;

  [[nodiscard]] std::ptrdiff_t acquire() noexcept {
    std::ptrdiff_t number = -1;
    static_cast<void>(sleepers_.until([&]() noexcept { return take(number); }));
    return number;
  }
  [[nodiscard]] std::optional<std::ptrdiff_t> try_acquire() noexcept { return acquired(std::try_to_lock); }
  template <class Rep, class Period>
  [[nodiscard]] std::optional<std::ptrdiff_t> try_acquire_for(
      const std::chrono::duration<Rep, Period>& timeout) noexcept {
    return acquired(timeout);
  }
  [[nodiscard]] std::optional<std::ptrdiff_t> acquire(const stop_token& stop) noexcept { return acquired(stop); }

  void release(std::ptrdiff_t number) noexcept {
    KGATE_EXPECTS(number >= 0 && number < size(), "release of a slot that does not exist");
    process p(pid(0));
    KGATE_EXPECTS(words_[static_cast<std::size_t>(number / bits)].give_back(p, static_cast<int>(number % bits)),
                  "release of a slot that nobody holds");
    sleepers_.freed();
  }

  std::ptrdiff_t size() const noexcept { return k_; }
  std::ptrdiff_t available() const noexcept {
    process p(pid(0));
    int free = 0;
    for (std::size_t i = 0; i < words; ++i) free += std::popcount(words_[i].free_names(p));
    return free;
  }
  /// The slots that are taken, a bit each: number 64 i and those after it.
  std::uint64_t taken(std::size_t i = 0) noexcept {
    process p(pid(0));
    return words_[i].taken_names(p);
  }

 private:
  using machine = native<spin>;
  using process = machine::Process;
  using names = word_names<machine, std::uint64_t>;
  static constexpr int bits = names::names_max;
  static constexpr std::size_t words = (static_cast<std::size_t>(Max) + bits - 1) / bits;

  static int checked(std::ptrdiff_t k) {
    if (k < 1 || k > max())
      detail::throw_or_stop<std::invalid_argument>("word_slots: k must be 1.." + std::to_string(Max));
    return static_cast<int>(k);
  }
  int names_in_word(std::size_t i) const { return std::clamp(k_ - static_cast<int>(i) * bits, 0, bits); }
  bool take(std::ptrdiff_t& number) noexcept {
    process p(pid(0));
    typename names::Private mine;
    for (std::size_t i = 0; i < words; ++i)
      if (words_[i].try_acquire(p, mine)) {
        number = static_cast<std::ptrdiff_t>(i) * bits + mine.name;
        return true;
      }
    return false;
  }
  template <class How>
  std::optional<std::ptrdiff_t> acquired(const How& how) noexcept {
    std::ptrdiff_t number = -1;
    const bool inside = sleepers_.until([&]() noexcept { return take(number); }, how);
    return inside ? std::optional<std::ptrdiff_t>(number) : std::nullopt;
  }

  [[no_unique_address]] machine::Memory memory_;
  int k_;
  mutable detail::inline_array<names, words> words_;
  detail::sleepers sleepers_;
};

template <int Max>
inline constexpr bool usable_between_processes<basic_word_slots<Max>> = true;

/// In one word.
using word_slots = basic_word_slots<64>;

}  // namespace kgate
