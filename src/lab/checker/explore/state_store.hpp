// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The states met so far, stored exactly: packed words, the state each was first reached from, and an open-addressing
/// index. Several threads may insert at once; growing is done between rounds.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kgate::lab {

using state_id = std::uint32_t;
inline constexpr state_id no_state = 0xFFFFFFFF;

/// Anonymous memory that is only reserved until it is touched. It counts as in use, unless the caller counts its parts.
class reserved_memory {
 public:
  enum class counted { here, by_caller };

  reserved_memory() = default;
  explicit reserved_memory(std::size_t bytes, counted by = counted::here);
  reserved_memory(reserved_memory&& other) noexcept;
  reserved_memory& operator=(reserved_memory&& other) noexcept;
  ~reserved_memory();

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t counted_ = 0;
};

struct id_range {
  state_id begin;
  state_id end;
};

class state_store {
 public:
  state_store(unsigned words, std::size_t bytes_max);
  ~state_store();

  unsigned words() const { return words_; }
  const std::uint64_t* record(state_id s) const { return records_ + std::size_t{s} * words_; }
  state_id parent(state_id s) const { return parents_[s]; }
  /// One past the largest number given out; a few numbers below it may be unused when several threads explored.
  state_id end() const { return next_.load(std::memory_order_relaxed); }
  std::size_t capacity() const { return capacity_; }
  std::size_t bytes(std::size_t states) const;

  /// The numbers one thread gives out.
  struct writer {
    state_id next = 0;
    state_id end = 0;
    std::vector<id_range> made;  ///< of the current level
    std::uint64_t count = 0;

    void note(state_id s) {
      ++count;
      if (!made.empty() && made.back().end == s) {
        ++made.back().end;
      } else {
        made.push_back({s, s + 1});
      }
    }
  };

  template <unsigned W>
  static std::uint64_t hash(const std::uint64_t* words) {
    std::uint64_t h = 0x9E3779B97F4A7C15ULL;
    for (unsigned i = 0; i < W; ++i) {
      h ^= words[i];
      h *= 0xD6E8FEB86659FD93ULL;
      h ^= h >> 32;
    }
    return h * 0xD6E8FEB86659FD93ULL;
  }
  std::size_t slot(std::uint64_t hash) const { return hash >> shift_; }
  void prefetch_slot(std::size_t slot) const { __builtin_prefetch(&slots_[slot]); }
  void prefetch_record(std::size_t slot) const {
    const std::uint32_t v = slots_[slot].load(std::memory_order_relaxed);
    if (v != 0) __builtin_prefetch(record(v - 1));
  }

  /// The number of the state, given one if it is new. `fresh` tells.
  template <unsigned W>
  state_id insert(const std::uint64_t* words, std::size_t slot, state_id parent, writer& w, bool& fresh) {
    for (std::size_t i = slot;; i = (i + 1) & (capacity_ - 1)) {
      std::uint32_t v = slots_[i].load(std::memory_order_acquire);
      if (v == 0) {
        if (w.next == w.end) refill(w);
        const state_id mine = w.next;
        std::uint64_t* r = records_ + std::size_t{mine} * W;
        for (unsigned j = 0; j < W; ++j) r[j] = words[j];
        parents_[mine] = parent;
        if (slots_[i].compare_exchange_strong(v, mine + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
          ++w.next;
          w.note(mine);
          fresh = true;
          return mine;
        }
      }
      if (same<W>(record(v - 1), words)) {
        fresh = false;
        return v - 1;
      }
    }
  }
  template <unsigned W>
  state_id find(const std::uint64_t* words) const {
    for (std::size_t i = slot(hash<W>(words));; i = (i + 1) & (capacity_ - 1)) {
      const std::uint32_t v = slots_[i].load(std::memory_order_relaxed);
      if (v == 0) return no_state;
      if (same<W>(record(v - 1), words)) return v - 1;
    }
  }

  /// Doubles the index; no other thread may be at work. `levels` are the numbers in use.
  void grow(const std::vector<id_range>& used, int threads);

 private:
  template <unsigned W>
  static bool same(const std::uint64_t* a, const std::uint64_t* b) {
    for (unsigned j = 0; j < W; ++j)
      if (a[j] != b[j]) return false;
    return true;
  }
  void refill(writer& w);
  template <unsigned W>
  void reinsert(const std::vector<id_range>& used, int thread, int threads);
  void index(std::size_t capacity);
  std::size_t bytes_each() const { return words_ * sizeof(std::uint64_t) + sizeof(state_id); }

  unsigned words_;
  reserved_memory record_memory_, parent_memory_, slot_memory_;
  std::uint64_t* records_ = nullptr;
  state_id* parents_ = nullptr;
  std::atomic<std::uint32_t>* slots_ = nullptr;
  std::size_t capacity_ = 0;
  unsigned shift_ = 0;
  std::size_t states_max_ = 0;
  std::atomic<state_id> next_{0};
};

/// Calls f<W>() with W = words.
template <class F>
decltype(auto) with_words(unsigned words, F&& f) {
  switch (words) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 3:
      return f.template operator()<3>();
    case 4:
      return f.template operator()<4>();
    case 5:
      return f.template operator()<5>();
    case 6:
      return f.template operator()<6>();
    case 7:
      return f.template operator()<7>();
    default:
      return f.template operator()<8>();
  }
}

}  // namespace kgate::lab
