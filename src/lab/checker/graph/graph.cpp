// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/graph/graph.hpp"

#include <algorithm>
#include <atomic>

#include "lab/checker/explore/parallel_for.hpp"
#include "lab/checker/graph/local_analysis.hpp"

namespace kgate::lab {

namespace {

std::vector<id_range> in_pieces(const std::vector<id_range>& used) {
  constexpr state_id size = 4096;
  std::vector<id_range> pieces;
  for (const id_range& r : used)
    for (state_id begin = r.begin; begin < r.end; begin += size)
      pieces.push_back({begin, std::min(r.end, begin + size)});
  return pieces;
}

}  // namespace

state_graph::state_graph(exploration& e, watch& w, const run_limits& limits)
    : N_(e.table->source().N()),
      choices_(static_cast<int>(e.table->steps_max())),
      end_(e.store->end()),
      valid_(end_, 0) {
  if (e.store->bytes(e.states) + bytes() > limits.memory_max) {
    w.end("memory limit reached");
    complete_ = false;
    return;
  }
  next_memory_ = reserved_memory(std::size_t{end_} * static_cast<std::size_t>(steps()) * sizeof(state_id));
  mask_memory_ = reserved_memory(std::size_t{end_} * 5 * sizeof(process_set));
  next_ = static_cast<state_id*>(next_memory_.data());
  obliged_ = static_cast<process_set*>(mask_memory_.data());
  entry_ = obliged_ + end_;
  exit_ = entry_ + end_;
  enters_ = exit_ + end_;
  stays_ = enters_ + end_;
  for (int p = 0; p < N_; ++p) recurrent_.push_back(recurrent_locals(e.table->source(), p, region::entry));
  const std::vector<id_range> pieces = in_pieces(e.used());
  const auto threads = static_cast<std::size_t>(std::max(1, limits.threads));
  with_words(e.store->words(), [&]<unsigned W>() {
    parallel_for(limits.threads, threads, [&](std::size_t t, bool) { fill<W>(e, pieces, t, threads, w); });
  });
  complete_ = w.why().empty();
}

std::uint64_t state_graph::bytes() const {
  return std::uint64_t{end_} * (static_cast<std::uint64_t>(steps()) * sizeof(state_id) + 5 * sizeof(process_set) + 1);
}

template <unsigned W>
void state_graph::fill(exploration& e, const std::vector<id_range>& pieces, std::size_t from, std::size_t step_size,
                       watch& w) {
  struct wanted {
    std::uint64_t words[W];
    state_id* target;
  };
  std::vector<wanted> batch;
  const auto settle = [&] {
    for (const wanted& one : batch) e.store->prefetch_record(e.store->slot(state_store::hash<W>(one.words)));
    for (const wanted& one : batch) *one.target = e.store->find<W>(one.words);
    batch.clear();
  };
  for (std::size_t i = from; i < pieces.size(); i += step_size) {
    if (w.over(0)) return;
    if (from == 0) w.report("linking", pieces[i].begin, end_ - pieces[i].begin, bytes());
    for (state_id s = pieces[i].begin; s < pieces[i].end; ++s) {
      valid_[s] = 1;
      state_id* row = next_ + std::size_t{s} * static_cast<std::size_t>(steps());
      std::fill_n(row, steps(), no_state);
      for (int p = 0; p < N_; ++p) {
        const auto here = static_cast<local_id>(e.table->packing().local[p].get(e.store->record(s)));
        const local_row& at = e.table->row(p, here);
        if (at.where == region::entry) entry_[s] |= only(p);
        if (recurrent_[p][here]) stays_[s] |= only(p);
        if (at.where == region::exit) exit_[s] |= only(p);
      }
      for_each_step<W>(
          *e.table, no_observer{}, e.contention, e.store->record(s),
          [&](const step& it, const std::uint64_t* to) {
            if (it.choice == death_choice) return;  // no process owes it, and no cycle contains it
            if (it.row.where != region::remainder && it.choice == 0) obliged_[s] |= only(it.p);  // no accident is owed
            if (it.row.where != region::critical && e.table->row(it.p, it.entry.next()).where == region::critical)
              enters_[s] |= only(it.p);
            wanted& one = batch.emplace_back();
            for (unsigned j = 0; j < W; ++j) one.words[j] = to[j];
            one.target = &row[it.p * choices_ + it.choice];
            e.store->prefetch_slot(e.store->slot(state_store::hash<W>(one.words)));
          },
          [](const step&) {});
      if (batch.size() >= 128) settle();
    }
  }
  settle();
}

depths::depths(const exploration& e) {
  for (std::size_t level = 0; level < e.levels.size(); ++level)
    for (const id_range& r : e.levels[level]) pieces_.push_back({r, static_cast<std::uint32_t>(level)});
  std::sort(pieces_.begin(), pieces_.end(),
            [](const piece& a, const piece& b) { return a.range.begin < b.range.begin; });
}

std::uint32_t depths::of(state_id s) const {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), s,
                                      [](state_id id, const piece& one) { return id < one.range.begin; });
  return std::prev(after)->level;
}

}  // namespace kgate::lab
