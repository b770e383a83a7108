// SPDX-License-Identifier: Apache-2.0
#pragma once

/// (N,k)-exclusion with an atomic queue: the reference that other algorithms are compared with. Unrealistic: it needs a
/// counter and a whole queue changed in one step, which real machines offer only while both fit one word.
///
/// Source       Anderson & Moir 1997, figure 2.
/// Promises     k-exclusion, starvation freedom with at most k-1 crashes, first in first enabled, k-FCFS; the doorway
///              is statement 1, the exit one step. No bound on remote references is claimed. Primitives:
///              read-modify-write. Space: one variable.
/// Variables    X  k-N..k                slots left, less the waiters       initially k
///              Q  queue of 0..N-1       those that wait                    initially empty
///              Both are fields of one shared variable, XQ.
/// Invariants   X = k - |{p : p@{2..4}}|;  |Q| = max(0, -X)
/// Deviations   D1  N <= 13, so that X and Q fit 64 bits
/// Memory model sequential consistency
/// Evidence     tests/algorithms/am97 (all properties), tests/algorithms/native (stress)

#include <cstdint>
#include <string>

#include "kgate/detail/machine.hpp"
#include "kgate/detail/process.hpp"

namespace kgate::am97 {

/// X and Q of figure 2 in one word: process numbers of 4 bits from the head on, then 4 bits of length, then X in 8
/// bits. Entries behind the end hold 0, so that equal contents are equal words.
struct counter_and_queue {
  std::uint64_t bits = 0;

  static constexpr int processes_max = 13;

  constexpr counter_and_queue() = default;
  explicit constexpr counter_and_queue(int slots) { add(slots); }

  constexpr int X() const { return static_cast<std::int8_t>(bits >> x_shift); }
  constexpr int length() const { return static_cast<int>(bits >> length_shift & 0xF); }
  constexpr process_id at(int i) const { return pid(static_cast<int>(bits >> (4 * i) & 0xF)); }
  constexpr bool contains(process_id p) const {
    for (int i = 0; i < length(); ++i)
      if (at(i) == p) return true;
    return false;
  }

  constexpr void add(int delta) {
    const auto sum = static_cast<std::uint8_t>(X() + delta);
    bits = (bits & ~(std::uint64_t{0xFF} << x_shift)) | std::uint64_t{sum} << x_shift;
  }
  constexpr void enqueue(process_id p) {
    bits |= std::uint64_t{p.value} << (4 * length());
    bits += std::uint64_t{1} << length_shift;
  }
  constexpr void dequeue() {
    if (length() == 0) return;
    constexpr std::uint64_t numbers_mask = (std::uint64_t{1} << length_shift) - 1;
    bits = (bits & ~numbers_mask) | (bits & numbers_mask) >> 4;
    bits -= std::uint64_t{1} << length_shift;
  }

  friend constexpr bool operator==(counter_and_queue, counter_and_queue) = default;

 private:
  static constexpr int length_shift = 52, x_shift = 56;
};

inline std::string to_string(counter_and_queue value) {
  std::string text = "X=" + std::to_string(value.X()) + " Q=[";
  for (int i = 0; i < value.length(); ++i) text += (i > 0 ? " " : "") + to_string(value.at(i));
  return text + "]";
}

template <class M>
class queue {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  queue(typename M::Memory& memory, int /*N*/, int k) : XQ(memory, {.name = "XQ"}, counter_and_queue(k)) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    const counter_and_queue seen = XQ.rmw(p["1"], [&](counter_and_queue value) {
      if (value.X() <= 0) value.enqueue(p.id());
      value.add(-1);
      return value;
    });
    p.doorway_end();
    if (seen.X() <= 0) {
      p.live();
      XQ.await(p["2"], [&](counter_and_queue value) { return !value.contains(p.id()); });
    }
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    XQ.rmw(p["4"], [](counter_and_queue value) {
      value.dequeue();
      value.add(1);
      return value;
    });
  }

 private:
  typename M::template Var<counter_and_queue> XQ;
};

}  // namespace kgate::am97
