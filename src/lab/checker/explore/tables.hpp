// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The automata of a program as flat tables over one layout: the explorer's inner loop reads nothing else.

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/checker/explore/layout.hpp"
#include "lab/checker/model/program.hpp"

namespace kgate::lab {

/// One entry of a table: what a process does on one observed value. All zero: not yet known.
class step_entry {
 public:
  constexpr step_entry() = default;
  explicit step_entry(const transition& t)
      : bits_(1U | (t.blocked ? 2U : 0U) | (t.writes ? 4U : 0U) | (std::uint64_t{t.written} << 8) |
              (std::uint64_t{t.next} << 32)) {}
  static step_entry of(std::uint64_t bits) {
    step_entry e;
    e.bits_ = bits;
    return e;
  }

  bool known() const { return bits_ != 0; }
  bool blocked() const { return (bits_ & 2) != 0; }
  bool writes() const { return (bits_ & 4) != 0; }
  code written() const { return static_cast<code>((bits_ >> 8) & 0xFFFFFF); }
  local_id next() const { return static_cast<local_id>(bits_ >> 32); }
  std::uint64_t bits() const { return bits_; }

 private:
  std::uint64_t bits_ = 0;
};

/// What a process does on the values that it was found to observe, where these are few of very many: a table by their
/// codes. One thread at a time adds to it, others may read meanwhile; it is copied when it grows.
class step_index {
 public:
  explicit step_index(unsigned bits) : bits_(bits), seen_(std::size_t{1} << bits), entries_(std::size_t{1} << bits) {}

  step_entry find(code seen) const {
    for (std::size_t i = slot(seen);; i = (i + 1) & (seen_.size() - 1)) {
      const std::uint32_t at = seen_[i].load(std::memory_order_acquire);
      if (at == seen + 1) return step_entry::of(entries_[i]);
      if (at == 0) return {};
    }
  }
  bool full() const { return count_ * 3 >= seen_.size() * 2; }
  void add(code seen, step_entry e);
  std::unique_ptr<step_index> larger() const;
  std::size_t bytes() const { return seen_.size() * (sizeof(std::uint32_t) + sizeof(std::uint64_t)); }

 private:
  std::size_t slot(code seen) const { return (seen * 0x9E3779B1U) >> (32 - bits_); }

  unsigned bits_;
  std::size_t count_ = 0;
  std::vector<std::atomic<std::uint32_t>> seen_;  // the code and 1; stored after its entry
  std::vector<std::uint64_t> entries_;
};

/// A local state as the inner loop needs it.
struct local_row {
  field variable;  ///< of the variable it accesses next; a field of no bits if none
  std::uint16_t variable_number = 0;
  region where = region::remainder;
  bool waiting = false;
  bool done = false;
  bool has_variable = false;
  std::int16_t name = -1;
  const std::vector<code>* domain = nullptr;  ///< of a read of a safe register: what it may return while `unstable`
  code unstable = 0;
  std::uint8_t ways = 1;  ///< in how many ways its access may end
  bool made = false;
  std::atomic<std::uint64_t>* steps = nullptr;  ///< by the observed value, if it takes few
  std::atomic<step_index*> index = nullptr;     ///< otherwise those that are known
};

/// Raised when a value or a local state does not fit its field; the exploration starts again with wider ones.
struct overflow : std::exception {
  const char* what() const noexcept override { return "a value or a local state does not fit its field"; }
};

class tables;

/// A packed state with everything named.
class packed_state final : public state_view {
 public:
  packed_state(const tables& of, const std::uint64_t* words) : table_(of), words_(words) {}
  const std::string& value(int v) const override;
  region where(int p) const override;
  int name(int p) const override;
  std::string_view label(int p) const override;
  bool waiting(int p) const override;

 private:
  local_id local(int p) const;

  const tables& table_;
  const std::uint64_t* words_;
};

/// What the program's invariant says of a packed state: empty if it is true there.
std::string broken_invariant(const tables& t, const std::uint64_t* words);

class tables {
 public:
  tables(program& p, const widths& w);

  const layout& packing() const { return layout_; }
  const widths& bits() const { return widths_; }
  program& source() const { return program_; }

  const local_row& row(int p, local_id s) const { return rows_[p][s]; }
  const local_row* rows(int p) const { return rows_[p].get(); }

  /// What p in local state s does on `seen`. Throws overflow.
  step_entry step(int p, local_id s, code seen) {
    const local_row& r = rows_[p][s];
    const step_entry e = r.steps != nullptr ? step_entry::of(r.steps[seen].load(std::memory_order_acquire))
                                            : r.index.load(std::memory_order_acquire)->find(seen);
    return e.known() ? e : miss(p, s, seen);
  }

  /// The widths to try next, after an overflow.
  widths wider() const;
  /// The widths to begin with: narrow; overflows find the rest quickly.
  static widths first(const program& p, unsigned extra);

  /// Makes local state s of p usable in states. Throws overflow.
  void ensure_row(int p, local_id s);

  void initial_state(std::uint64_t* words) const;

  bool mortal() const { return mortal_; }
  /// Whether one more process may die in this state.
  bool may_die(const std::uint64_t* words) const;
  /// Turns the state into what it is after the death of p. Throws overflow.
  void kill(int p, std::uint64_t* words);

  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  /// The most steps one process can have in one state: more than one only on safe registers.
  std::size_t steps_max() const { return steps_max_; }

 private:
  step_entry miss(int p, local_id s, code seen);
  void add_row(int p, local_id s);
  void use_index(local_row& r, std::unique_ptr<step_index> index);

  program& program_;
  widths needed_;  // what is known to be needed
  widths widths_;  // and the bits that were left over
  layout layout_;
  std::size_t steps_max_ = 1;
  bool mortal_ = false;
  int deaths_max_ = 0;
  field death_field_{};
  unsigned death_bits_ = 0;
  std::vector<std::unique_ptr<local_row[]>> rows_;
  std::deque<std::vector<std::atomic<std::uint64_t>>> steps_;
  std::deque<std::unique_ptr<step_index>> indices_;  // those that were outgrown, too: a thread may still read them
  std::atomic<std::uint64_t> bytes_{0};
  std::mutex mutex_;
};

}  // namespace kgate::lab
