// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The papers' "for all i": they do not say in which order, so an algorithm must be right in every one.
///
///     for (auto turn = order.first(p, others); turn.more(); turn = order.next(p, turn)) {
///       const int i = turn.member();
///       p.live(turn, T);
///       ...
///     }
///
/// The order is a parameter of the text: `forall<order_of<M>>` is ascending where the text runs, and on the checker's
/// machine as `check --forall` says: with `any` the checker chooses at every turn, so that it explores all orders.

#include <bit>
#include <cstdint>
#include <optional>

namespace kgate {

/// The member whose turn it is, and those still to come. A value, so that live() can name it.
class forall_turn {
 public:
  forall_turn() = default;
  constexpr forall_turn(int member, std::uint64_t left) : left_(left), member_(member) {}

  constexpr bool more() const { return member_ >= 0; }
  constexpr int member() const { return static_cast<int>(member_); }
  constexpr std::uint64_t left() const { return left_; }

 private:
  std::uint64_t left_ = 0;
  std::int64_t member_ = -1;
};

struct ascending {
  template <class Memory>
  constexpr ascending(Memory&, int /*N*/) {}
  template <class Process>
  constexpr int choose(Process&, std::uint64_t left) const {
    return std::countr_zero(left);
  }
};

/// For machines that have choices: the checker's.
template <class M>
class every_order {
 public:
  every_order(typename M::Memory& memory, int N) : which_(memory, "forall", N) {}
  int choose(typename M::Process& p, std::uint64_t left) const {
    for (int skipped = which_.read(p["forall"]) % std::popcount(left); skipped > 0; --skipped) left &= left - 1;
    return std::countr_zero(left);
  }

 private:
  typename M::Choice which_;
};

/// Every order if the memory says so, else ascending.
template <class M>
class order_of_memory {
 public:
  order_of_memory(typename M::Memory& memory, int N) {
    if (memory.any_order()) every_.emplace(memory, N);
  }
  int choose(typename M::Process& p, std::uint64_t left) const {
    return every_ ? every_->choose(p, left) : std::countr_zero(left);
  }

 private:
  std::optional<every_order<M>> every_;
};

template <class M>
struct machine_order {
  using type = ascending;
};
template <class M>
requires requires { typename M::Choice; }
struct machine_order<M> {
  using type = order_of_memory<M>;
};
template <class M>
using order_of = typename machine_order<M>::type;

template <class Order>
class forall {
 public:
  template <class Memory>
  forall(Memory& memory, int N) : order_(memory, N) {}

  /// The first of the members of a set, a bit each.
  template <class Process>
  forall_turn first(Process& p, std::uint64_t members) const {
    if (members == 0) return {};
    const int member = order_.choose(p, members);
    return {member, members & ~(std::uint64_t{1} << member)};
  }
  template <class Process>
  forall_turn next(Process& p, const forall_turn& turn) const {
    return first(p, turn.left());
  }

 private:
  [[no_unique_address]] Order order_;
};

}  // namespace kgate
