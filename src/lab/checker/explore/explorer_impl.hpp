// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The explorer's text, apart from its interface because only the translation units that bring an observer need it.

#include <algorithm>
#include <array>
#include <exception>
#include <new>

#include "lab/checker/explore/explorer.hpp"
#include "lab/checker/explore/parallel_for.hpp"
#include "lab/checker/explore/symmetry.hpp"

namespace kgate::lab {

/// Something found in a state. The lowest-numbered state of the earliest level is kept.
class finding {
 public:
  void level_ends() { settled_ = get() != no_state; }
  void note(state_id s) {
    if (settled_) return;
    state_id old = first_.load(std::memory_order_relaxed);
    while (s < old && !first_.compare_exchange_weak(old, s, std::memory_order_relaxed)) {
    }
  }
  state_id get() const { return first_.load(std::memory_order_relaxed); }

 private:
  std::atomic<state_id> first_{no_state};
  bool settled_ = false;
};

template <unsigned W, class Observer>
class explorer {
 public:
  explorer(tables& t, state_store& store, const Observer& observer, const explore_options& options, watch& w,
           const run_limits& limits, exploration& result)
      : table_(t),
        store_(store),
        observer_(observer),
        options_(options),
        watch_(w),
        limits_(limits),
        result_(result),
        workers_(static_cast<std::size_t>(std::max(1, limits.threads))) {
    if (options.symmetry)
      for (worker& each : workers_) each.canonical = std::make_unique<canonical_form>(t);
  }

  void run() {
    std::uint64_t first[W];
    table_.initial_state(first);
    if (workers_[0].canonical) workers_[0].canonical->reduce(first);
    start_at(first);
    if (options_.renamed_starts)
      canonical_form(table_).for_each_renaming(first, [&](const std::uint64_t* words) { start_at(words); });
    finish_level();
    while (!result_.levels.back().empty() && !over_ && !stop_early()) expand_level();
    if (result_.levels.back().empty()) result_.levels.pop_back();
    total();
    result_.complete = !over_ && !(stop_early() && queue_ > 0);
    result_.why = over_ ? watch_.why() : result_.complete ? "" : "not explored beyond the violation";
  }

 private:
  struct candidate {
    std::array<std::uint64_t, W> words;
    std::size_t slot;
    state_id parent;
    bool enters;
  };
  struct alignas(128) worker {
    state_store::writer ids;
    std::uint64_t transitions = 0;
    std::uint64_t orbits = 0;
    std::array<candidate, 256> batch;
    std::size_t batched = 0;
    std::exception_ptr error;
    std::unique_ptr<canonical_form> canonical;  // own caches, so that workers share nothing
  };

  void start_at(const std::uint64_t* words) {
    bool fresh = false;
    store_.template insert<W>(words, store_.slot(state_store::hash<W>(words)), no_state, workers_[0].ids, fresh);
  }

  bool stop_early() const {
    return exclusion_.get() != no_state || names_.get() != no_state || broken_invariant_.get() != no_state;
  }

  void total() {
    result_.states = result_.transitions = result_.orbit_states = 0;
    for (const worker& w : workers_) {
      result_.states += w.ids.count;
      result_.transitions += w.transitions;
      result_.orbit_states += w.orbits;
    }
    result_.exclusion = exclusion_.get();
    result_.names = names_.get();
    result_.broken_invariant = broken_invariant_.get();
    result_.deadlock = deadlock_.get();
    result_.exit_blocked = exit_blocked_.get();
  }

  void finish_level() {
    std::vector<id_range> made;
    for (worker& w : workers_) {
      made.insert(made.end(), w.ids.made.begin(), w.ids.made.end());
      w.ids.made.clear();
    }
    std::sort(made.begin(), made.end(), [](const id_range& a, const id_range& b) { return a.begin < b.begin; });
    queue_ = 0;
    for (const id_range& r : made) queue_ += r.end - r.begin;
    used_.insert(used_.end(), made.begin(), made.end());
    result_.levels.push_back(std::move(made));
  }

  void expand_level() {
    // Pieces small enough to share the level out evenly, large enough to be worth fetching.
    std::vector<id_range> pieces;
    for (const id_range& r : result_.levels.back())
      for (state_id begin = r.begin; begin < r.end; begin += piece)
        pieces.push_back({begin, std::min(r.end, begin + piece)});
    std::size_t done = 0;
    while (done < pieces.size() && !over_) {
      try {
        const std::size_t room = make_room();
        const std::size_t count = std::min(pieces.size() - done, std::max<std::size_t>(1, room / piece));
        round(pieces.data() + done, count);
        done += count;
      } catch (const std::bad_alloc&) {
        out_of_memory();
      }
      total();
      const std::uint64_t bytes = bytes_for(result_.states);
      watch_.report("exploring", result_.states, queue_ - std::min<std::uint64_t>(queue_, done * piece), bytes);
      if (watch_.over(bytes)) over_ = true;
    }
    finish_level();
    for (finding* f : {&exclusion_, &names_, &broken_invariant_, &deadlock_, &exit_blocked_}) f->level_ends();
  }

  /// How many states may be expanded before the index is too full even if every step leads to a new state.
  std::size_t make_room() {
    const std::size_t N = static_cast<std::size_t>(table_.source().N()) * table_.steps_max() + 1;
    for (;;) {
      const std::size_t used = result_.states;
      const std::size_t limit = store_.capacity() / 4 * 3;
      if (limit > used && (limit - used) / N >= std::max(std::size_t{2} * piece, used / 64)) return (limit - used) / N;
      std::vector<id_range> present = used_;
      for (const worker& w : workers_) present.insert(present.end(), w.ids.made.begin(), w.ids.made.end());
      store_.grow(present, limits_.threads);
    }
  }

  void round(const id_range* pieces, std::size_t count) {
    std::atomic<std::size_t> cursor{0};
    const auto work = [&](worker& w) {
      try {
        for (std::size_t i = cursor.fetch_add(1); i < count && !over_.load(std::memory_order_relaxed);
             i = cursor.fetch_add(1)) {
          for (state_id s = pieces[i].begin; s < pieces[i].end; ++s) expand(w, s);
          if (&w == &workers_[0] && i % 64 == 63) pulse();
        }
        flush(w);
      } catch (const std::bad_alloc&) {
        out_of_memory();
      } catch (...) {
        w.error = std::current_exception();
        over_ = true;
      }
    };
    const std::size_t threads = std::min(workers_.size(), std::max<std::size_t>(1, count / 4));
    parallel_for(static_cast<int>(threads), threads, [&](std::size_t t, bool) { work(workers_[t]); });
    for (worker& w : workers_)
      if (w.error) std::rethrow_exception(w.error);
  }

  void pulse() {
    const std::uint64_t states = workers_[0].ids.count * workers_.size();
    watch_.report("exploring", states, queue_, bytes_for(states));
    if (watch_.over(bytes_for(states))) over_ = true;
  }

  std::uint64_t bytes_for(std::uint64_t states) const { return store_.bytes(states) + table_.bytes(); }

  void out_of_memory() {
    watch_.end("memory limit reached");
    over_ = true;
  }

  void expand(worker& w, state_id s) {
    std::uint64_t from[W];
    for (unsigned i = 0; i < W; ++i) from[i] = store_.record(s)[i];
    if (w.batched + static_cast<std::size_t>(table_.source().N()) * table_.steps_max() * 2 > w.batch.size()) flush(w);
    int movable = 0;
    bool blocked_in_entry = false;
    for_each_step<W>(
        table_, observer_, options_.contention, from,
        [&](const step& it, const std::uint64_t* to) {
          if (it.row.where != region::remainder && !it.entry.blocked() && it.choice == 0) ++movable;
          ++w.transitions;
          candidate& c = w.batch[w.batched++];
          for (unsigned i = 0; i < W; ++i) c.words[i] = to[i];
          c.enters = it.row.where != region::critical && !it.entry.blocked() &&
                     table_.row(it.p, it.entry.next()).where == region::critical;
          if (w.canonical) w.canonical->reduce(c.words.data());
          c.slot = store_.slot(state_store::hash<W>(c.words.data()));
          c.parent = s;
          store_.prefetch_slot(c.slot);
        },
        [&](const step& it) {
          if (it.row.where == region::entry) blocked_in_entry = true;
          if (it.row.where == region::exit || it.row.where == region::critical) exit_blocked_.note(s);
        });
    if (blocked_in_entry && movable <= options_.crashes) deadlock_.note(s);
    if (w.canonical) w.orbits += w.canonical->orbit_size(from);
  }

  void flush(worker& w) {
    for (std::size_t i = 0; i < w.batched; ++i) store_.prefetch_record(w.batch[i].slot);
    for (std::size_t i = 0; i < w.batched; ++i) {
      candidate& c = w.batch[i];
      bool fresh = false;
      const state_id s = store_.insert<W>(c.words.data(), c.slot, c.parent, w.ids, fresh);
      if (fresh && c.enters) inspect(s);
      if (fresh && options_.find_broken_invariant) [[unlikely]] {
        if (!broken_invariant(table_, store_.record(s)).empty()) broken_invariant_.note(s);
      }
    }
    w.batched = 0;
  }

  /// A process has just entered: are too many inside, or two with one name?
  void inspect(state_id s) {
    const program& source = table_.source();
    const std::uint64_t* words = store_.record(s);
    int inside = 0;
    bool clash = false;
    std::array<std::int16_t, 64> held;
    for (int p = 0; p < source.N(); ++p) {
      const local_row& row = table_.row(p, static_cast<local_id>(table_.packing().local[p].get(words)));
      if (row.where != region::critical) continue;
      if (row.name >= source.k()) clash = true;
      for (int q = 0; q < inside && q < 64; ++q) clash |= row.name >= 0 && held[q] == row.name;
      if (inside < 64) held[inside] = row.name;
      ++inside;
    }
    if (options_.find_exclusion && inside > source.k()) exclusion_.note(s);
    if (options_.find_names && clash) names_.note(s);
  }

  static constexpr state_id piece = 256;

  tables& table_;
  state_store& store_;
  const Observer& observer_;
  const explore_options& options_;
  watch& watch_;
  const run_limits& limits_;
  exploration& result_;
  std::vector<worker> workers_;
  std::vector<id_range> used_;
  std::uint64_t queue_ = 0;
  std::atomic<bool> over_{false};
  finding exclusion_, names_, broken_invariant_, deadlock_, exit_blocked_;
};

}  // namespace kgate::lab

namespace kgate::lab {

template <class Observer>
exploration explore(program& p, const explore_options& options, const run_limits& limits, unsigned extra_bits,
                    const std::function<Observer(const tables&)>& observe) {
  watch w(limits);
  widths bits = tables::first(p, extra_bits);
  for (;;) {
    exploration result;
    result.contention = options.contention;
    result.table = std::make_unique<tables>(p, bits);
    result.store = std::make_unique<state_store>(result.table->packing().words, limits.memory_max);
    const Observer observer = observe(*result.table);
    try {
      with_words(result.table->packing().words, [&]<unsigned W>() {
        explorer<W, Observer>(*result.table, *result.store, observer, options, w, limits, result).run();
      });
      result.seconds = w.seconds();
      return result;
    } catch (const overflow&) {
      bits = result.table->wider();
    }
  }
}

}  // namespace kgate::lab
