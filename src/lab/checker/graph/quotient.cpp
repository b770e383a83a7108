// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/graph/quotient.hpp"

#include <algorithm>

#include "lab/checker/explore/parallel_for.hpp"
#include "lab/checker/explore/symmetry.hpp"
#include "lab/checker/graph/local_analysis.hpp"
#include "lab/checker/model/walker.hpp"

namespace kgate::lab {

namespace {

std::vector<permutation> all_permutations(int N) {
  std::vector<int> to(static_cast<std::size_t>(N));
  for (int i = 0; i < N; ++i) to[static_cast<std::size_t>(i)] = i;
  std::vector<permutation> all;
  do {
    permutation p;
    for (int i = 0; i < N; ++i) p.set(i, to[static_cast<std::size_t>(i)]);
    all.push_back(p);
  } while (std::next_permutation(to.begin(), to.end()));
  std::sort(all.begin(), all.end(), [](permutation a, permutation b) { return a.bits() < b.bits(); });
  return all;
}

/// Rows are found by their states in blocks of so many.
constexpr state_id block = 64;

std::vector<id_range> in_order(std::vector<id_range> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const id_range& a, const id_range& b) { return a.begin < b.begin; });
  return ranges;
}

}  // namespace

quotient_graph::quotient_graph(exploration& e, watch& w, const run_limits& limits)
    : N_(e.table->source().N()), choices_(static_cast<int>(e.table->steps_max())), permutations_(all_permutations(N_)) {
  std::vector<std::vector<bool>> recurrent;
  for (int p = 0; p < N_; ++p) recurrent.push_back(recurrent_locals(e.table->source(), p, region::entry));
  for (const id_range& r : in_order(e.used()))
    for (state_id s = r.begin; s < r.end; ++s) {
      process_set stays = 0;
      for (int p = 0; p < N_; ++p)
        if (recurrent[p][e.table->packing().local[p].get(e.store->record(s))]) stays |= only(p);
      if (stays == 0) continue;
      while (before_.size() <= s / block) before_.push_back(end());
      states_.push_back(s);
      stays_.push_back(static_cast<std::uint8_t>(stays));
    }
  while (before_.size() <= e.store->end() / block + 1) before_.push_back(end());
  if (e.store->bytes(e.states) + bytes() > limits.memory_max) {
    w.end("memory limit reached");
    complete_ = false;
    return;
  }
  const std::size_t entries = std::size_t{end()} * static_cast<std::size_t>(steps());
  next_memory_ = reserved_memory(entries * sizeof(std::uint32_t));
  by_memory_ = reserved_memory(entries * sizeof(std::uint16_t));
  mask_memory_ = reserved_memory(end());
  next_ = static_cast<std::uint32_t*>(next_memory_.data());
  by_ = static_cast<std::uint16_t*>(by_memory_.data());
  obliged_ = static_cast<std::uint8_t*>(mask_memory_.data());
  const auto threads = static_cast<std::size_t>(std::max(1, limits.threads));
  with_words(e.store->words(), [&]<unsigned W>() {
    parallel_for(limits.threads, threads, [&](std::size_t t, bool) { fill<W>(e, t, threads, w); });
  });
  complete_ = w.why().empty();
}

std::uint64_t quotient_graph::bytes() const {
  const std::size_t each = static_cast<std::size_t>(steps()) * (sizeof(std::uint32_t) + sizeof(std::uint16_t)) +
                           sizeof(state_id) + 2 * sizeof(std::uint8_t);
  return end() * each + before_.size() * sizeof(before_[0]);
}

std::uint16_t quotient_graph::index_of(permutation p) const {
  const auto found = std::lower_bound(permutations_.begin(), permutations_.end(), p,
                                      [](permutation a, permutation b) { return a.bits() < b.bits(); });
  return static_cast<std::uint16_t>(found - permutations_.begin());
}

std::uint32_t quotient_graph::row_of(state_id s) const {
  const auto begin = states_.begin() + before_[s / block], end = states_.begin() + before_[s / block + 1];
  const auto found = std::lower_bound(begin, end, s);
  return found != end && *found == s ? static_cast<std::uint32_t>(found - states_.begin()) : no_state;
}

template <unsigned W>
void quotient_graph::fill(exploration& e, std::size_t thread, std::size_t threads, watch& w) {
  canonical_form canonical(*e.table);
  constexpr std::uint32_t piece = 4096;
  for (std::size_t begin = thread * piece; begin < end(); begin += threads * piece) {
    if (w.over(0)) return;
    if (thread == 0) w.report("linking", begin, end() - begin, e.store->bytes(e.states) + bytes());
    for (auto r = static_cast<std::uint32_t>(begin); r < std::min<std::size_t>(end(), begin + piece); ++r) {
      std::fill_n(next_ + at(r, 0), steps(), no_state);
      for_each_step<W>(
          *e.table, no_observer{}, e.contention, e.store->record(state(r)),
          [&](const step& it, const std::uint64_t* to) {
            if (it.choice == death_choice) return;  // no process owes it, and no cycle contains it
            if (it.row.where != region::remainder && it.choice == 0)
              obliged_[r] |= static_cast<std::uint8_t>(only(it.p));
            std::uint64_t reduced[W];
            std::copy_n(to, W, reduced);
            const std::size_t i = at(r, it.p * choices_ + it.choice);
            by_[i] = index_of(canonical.reduce(reduced));
            next_[i] = row_of(e.store->find<W>(reduced));
          },
          [](const step&) {});
    }
  }
}

}  // namespace kgate::lab
