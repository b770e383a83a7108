// SPDX-License-Identifier: Apache-2.0
#include "lab/experiments/crowd.hpp"

#include <algorithm>
#include <cstddef>
#include <random>
#include <unordered_set>
#include <vector>

#include "kgate/detail/contracts.hpp"

namespace kgate::lab {

namespace {

/// States one behind the other, each `length` numbers, and an index of them.
class crowd_store {
 public:
  explicit crowd_store(std::size_t length) : length_(length), index_(1024, hash{this}, equal{this}) {}

  /// Adds the state unless it is known.
  void add(const std::vector<std::uint32_t>& state) {
    numbers_.insert(numbers_.end(), state.begin(), state.end());
    if (index_.insert(count_).second) {
      ++count_;
    } else {
      numbers_.resize(count_ * length_);
    }
  }
  const std::uint32_t* at(std::size_t i) const { return numbers_.data() + i * length_; }
  std::size_t count() const { return count_; }
  std::uint64_t bytes() const {
    constexpr std::uint64_t node = 32, bucket = 8;
    return numbers_.capacity() * sizeof(std::uint32_t) + index_.size() * node + index_.bucket_count() * bucket;
  }

 private:
  struct hash {
    const crowd_store* store;
    std::size_t operator()(std::size_t i) const {
      std::uint64_t h = 0x9E3779B97F4A7C15ULL;
      for (std::size_t j = 0; j < store->length_; ++j) h = (h ^ store->at(i)[j]) * 0xD6E8FEB86659FD93ULL, h ^= h >> 32;
      return h;
    }
  };
  struct equal {
    const crowd_store* store;
    bool operator()(std::size_t a, std::size_t b) const {
      return std::equal(store->at(a), store->at(a) + store->length_, store->at(b));
    }
  };

  std::size_t length_;
  std::size_t count_ = 0;
  std::vector<std::uint32_t> numbers_;
  std::unordered_set<std::size_t, hash, equal> index_;
};

/// A state: the variable's value, then the local states.
using crowd = std::vector<std::uint32_t>;

/// Lets one that is in the local state at index j make its step; false if it is blocked.
bool advance(program& p, crowd& state, std::size_t j) {
  const transition t = p.step(0, state[j], state[0]);
  if (t.blocked) return false;
  if (t.writes) state[0] = t.written;
  state[j] = t.next;
  return true;
}

crowd first_state(const program& p) {
  KGATE_EXPECTS(p.variables() == 1 && !p.variable(0).names_process, "the processes share one variable that names none");
  return crowd(1 + static_cast<std::size_t>(p.N()), 0);
}

}  // namespace

void walk_crowd(program& p, long steps, const run_limits& limits) {
  watch w(limits);
  std::mt19937 random(1);
  crowd state = first_state(p);
  for (long i = 0; i < steps; ++i) {
    if (i % 256 == 0 && w.over(0)) return;
    const std::size_t who = 1 + random() % static_cast<unsigned>(p.N());
    const bool rare = i / 1000 % 2 == 0;
    if (rare && p.local(0, state[who]).where == region::remainder && random() % 16 != 0) continue;
    advance(p, state, who);
  }
}

crowd_states explore_crowd(program& p, const run_limits& limits) {
  watch w(limits);
  const crowd first = first_state(p);
  crowd_store known(first.size());
  known.add(first);
  for (std::size_t i = 0; i < known.count(); ++i) {
    if (i % 256 == 0) {
      w.report("exploring", known.count(), known.count() - i, known.bytes());
      if (w.over(known.bytes())) return {known.count(), false};
    }
    const crowd from(known.at(i), known.at(i) + first.size());
    for (std::size_t j = 1; j < from.size(); ++j) {
      if (j > 1 && from[j] == from[j - 1]) continue;  // another one in the same local state does the same
      crowd to = from;
      if (!advance(p, to, j)) continue;
      std::sort(to.begin() + 1, to.end());
      known.add(to);
    }
  }
  return {known.count(), true};
}

}  // namespace kgate::lab
