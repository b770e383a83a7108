// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All that n processes can do with the labels of afek94_labelling.hpp over an atomic snapshot: any of them takes a
/// snapshot and makes its new label, any time later writes it. Searched breadth first; L1-L3 are looked at in every
/// state.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "kgate/algorithms/afek94_labelling.hpp"

namespace kgate::afek94 {

struct label_walk_result {
  std::size_t states = 0;
  std::string violated;  ///< empty if L1-L3 hold
};

/// `Labelling` is labelling or a mutant of it. A state: the labels, which processes have a new one pending, and the
/// pending ones.
template <class Labelling = labelling>
class label_walk {
 public:
  explicit label_walk(int n) : n_(n), labels_(n) {}

  label_walk_result run() {
    visit({0, 0, 0});
    while (!queue_.empty() && result_.violated.empty()) {
      const state s = queue_.back();
      queue_.pop_back();
      for (int i = 0; i < n_ && result_.violated.empty(); ++i) step(s, i);
    }
    result_.states = seen_.size();
    return result_;
  }

 private:
  struct state {
    label_vector labels, pending;
    unsigned busy;
    bool operator==(const state&) const = default;
  };
  struct hash {
    std::size_t operator()(const state& s) const {
      std::uint64_t x = s.labels * 0x9E3779B97F4A7C15u ^ (s.pending + s.busy) * 0xC2B2AE3D27D4EB4Fu;
      return x ^ x >> 29;
    }
  };

  bool before(label_vector l, int i, int j) const { return labels_.before(labels_.get(l, i), i, labels_.get(l, j), j); }
  void visit(const state& s) {
    if (seen_.insert(s).second) queue_.push_back(s);
  }
  void step(state s, int i) {
    if ((s.busy & 1u << i) == 0) {
      if (labels_.last(s.labels) == i) return;
      const label_vector renewed = labels_.set(s.labels, i, labels_.next(s.labels, i));
      for (int j = 0; j < n_; ++j)
        if (j != i && !before(renewed, j, i)) result_.violated = "L2";
      s.busy |= 1u << i;
      s.pending = labels_.set(s.pending, i, labels_.next(s.labels, i));
    } else {
      const label_vector old = s.labels;
      s.labels = labels_.set(s.labels, i, labels_.get(s.pending, i));
      s.pending = labels_.set(s.pending, i, 0);
      s.busy &= ~(1u << i);
      for (int j = 0; j < n_; ++j)
        if (j != i && before(old, j, i) && !before(s.labels, j, i)) result_.violated = "L3";
      if (!total(s.labels)) result_.violated = "L1";
    }
    visit(s);
  }
  /// One comes after all others, and so on down: no cycles, and no two that neither precedes the other.
  bool total(label_vector l) const {
    unsigned beaten = 0;
    for (int i = 0; i < n_; ++i) {
      int after = 0;
      for (int j = 0; j < n_; ++j)
        if (j != i && before(l, j, i)) ++after;
      beaten |= 1u << after;
    }
    return beaten == (1u << n_) - 1;
  }

  int n_;
  Labelling labels_;
  label_walk_result result_;
  std::unordered_set<state, hash> seen_;
  std::vector<state> queue_;
};

}  // namespace kgate::afek94
