// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Is a recorded history of operations on an object linearizable? The search of Wing & Gong with Lowe's memory:
/// operations are put into an order one after the other, and what was tried from the same operations and the same state
/// is not tried again.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_set>
#include <vector>

namespace kgate::lab {

/// An operation that was observed: it took effect at a moment between begin and end. Operations that touch at a moment
/// count as overlapping. T is a sequential object: a trivially copyable state with operation, result and apply.
template <class T>
struct observed_operation {
  typename T::operation what{};
  typename T::result result{};
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

template <class T>
class linearizer {
 public:
  linearizer(const T& initial, std::vector<observed_operation<T>> history)
      : initial_(initial), all_(std::move(history)), done_((all_.size() + 63) / 64) {
    std::sort(all_.begin(), all_.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  }

  bool linearizable() { return explain(initial_, 0, 0); }
  /// How many pairs of operations done and state were looked at.
  std::size_t looked_at() const { return tried_.size(); }

 private:
  bool is_done(std::size_t i) const { return (done_[i / 64] >> (i % 64) & 1) != 0; }
  void flip(std::size_t i) { done_[i / 64] ^= std::uint64_t{1} << (i % 64); }

  /// All before `first` are done, and `count` are in all.
  bool explain(const T& state, std::size_t first, std::size_t count) {
    if (count == all_.size()) return true;
    while (is_done(first)) ++first;
    std::string key(reinterpret_cast<const char*>(done_.data()), done_.size() * sizeof done_[0]);
    key.append(reinterpret_cast<const char*>(&state), sizeof state);
    if (!tried_.insert(std::move(key)).second) return false;
    // Next may be what began before everything that is not done ended.
    std::int64_t earliest_end = all_[first].end;
    for (std::size_t i = first; i < all_.size() && all_[i].begin <= earliest_end; ++i)
      if (!is_done(i)) earliest_end = std::min(earliest_end, all_[i].end);
    for (std::size_t i = first; i < all_.size() && all_[i].begin <= earliest_end; ++i) {
      if (is_done(i)) continue;
      T next = state;
      const typename T::result got = next.apply(all_[i].what);
      if (std::memcmp(&got, &all_[i].result, sizeof got) != 0) continue;
      flip(i);
      if (explain(next, first, count + 1)) return true;
      flip(i);
    }
    return false;
  }

  T initial_;
  std::vector<observed_operation<T>> all_;
  std::vector<std::uint64_t> done_;
  std::unordered_set<std::string> tried_;
};

}  // namespace kgate::lab
