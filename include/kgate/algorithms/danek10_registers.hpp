// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the figures of Danek 2010 share: tickets, sets of processes, and an array with a register for each ordered
/// pair.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate::danek10 {

using ticket = std::uint64_t;
inline constexpr ticket infinity = std::numeric_limits<ticket>::max();

/// A set of processes is one word, which limits N.
inline constexpr int processes_max = 64;

class process_set {
 public:
  /// {0..N-1} \ {p}
  static process_set all_but(int p, int N) {
    process_set others;
    others.bits_ = (~std::uint64_t{0} >> (processes_max - N)) & ~(std::uint64_t{1} << p);
    return others;
  }
  bool contains(int i) const { return (bits_ >> i & 1) != 0; }
  void remove(int i) { bits_ &= ~(std::uint64_t{1} << i); }
  int size() const { return std::popcount(bits_); }
  /// For live().
  std::uint64_t bits() const { return bits_; }

 private:
  std::uint64_t bits_ = 0;
};

/// An array [1..N][1..N] without its diagonal: element (p,i) is written by p and local to i.
template <class M, class Register = typename M::template Var<ticket>>
class pair_registers {
 public:
  pair_registers(typename M::Memory& memory, const char* name, int N, ticket initial)
      : others_(N - 1), registers_(static_cast<std::size_t>(N * (N - 1)), [&](std::size_t at) {
          const int p = static_cast<int>(at) / others_;
          const int i = static_cast<int>(at) % others_;
          return Register(memory, {.name = name, .instance = p, .home = pid(i < p ? i : i + 1)}, initial);
        }) {}

  Register& operator()(int p, int i) { return registers_[static_cast<std::size_t>(p * others_ + (i < p ? i : i - 1))]; }

 private:
  int others_;
  fixed_array<Register> registers_;
};

/// Ticket[1..N], element p local to p.
template <class M, class Register = typename M::template Var<ticket>>
class ticket_registers {
 public:
  ticket_registers(typename M::Memory& memory, int N)
      : registers_(static_cast<std::size_t>(N), [&](std::size_t p) {
          return Register(memory, {.name = "Ticket", .home = pid(static_cast<int>(p))}, 0);
        }) {}

  Register& operator()(int p) { return registers_[static_cast<std::size_t>(p)]; }

 private:
  fixed_array<Register> registers_;
};

}  // namespace kgate::danek10
