// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/plain_order.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "lab/checker/graph/components.hpp"
#include "lab/checker/properties/liveness.hpp"

namespace kgate::lab {

namespace {

constexpr auto every_step = [](state_id, int) { return true; };

}  // namespace

bool plain_order::find_kept_out() {
  if (!kept_out_.empty()) return true;
  std::vector<process_set> kept_out(graph_.end(), 0);
  components parts(graph_);
  for (int p = 0; p < graph_.N; ++p) {
    const auto in = [&](state_id s) { return has(graph_.where[s].entry, p); };
    // Components come after those they lead to.
    const bool complete = parts.for_each(
        in, every_step,
        [&](std::span<const state_id> members, auto&& same) {
          const auto waits = [&](state_id s) {
            if (graph_.next(s, p) == no_state) return true;
            for (int q = 0; q < graph_.N; ++q) {
              const state_id t = graph_.next(s, q);
              if (t != no_state && in(t) && ((q == p && same(t)) || has(kept_out[t], p))) return true;
            }
            return false;
          };
          if (std::any_of(members.begin(), members.end(), waits))
            for (const state_id s : members) kept_out[s] |= only(p);
          return true;
        },
        watch_);
    if (!complete) return false;
  }
  kept_out_ = std::move(kept_out);
  return true;
}

/// `late` starts while all of `first` are past their doorways, and while they stay there and bad(state) holds it makes
/// a step for which overtakes(state, process, state) holds.
template <class Overtakes, class Bad>
std::optional<unfair_run> plain_order::overtaking(process_set first, int late, Overtakes&& overtakes, Bad&& bad) const {
  struct origin {
    state_id s = no_state;
    int p = -1;
  };
  std::vector<origin> before(graph_.end());
  std::vector<state_id> open;
  std::optional<unfair_run> found;
  const auto follow = [&](state_id s, int p) {
    const state_id t = graph_.next(s, p);
    if (t == no_state || !graph_.past_doorway(t, first) || !bad(t)) return;
    if (overtakes(s, p, t)) {
      found = unfair_run{s, {p}, -1, first, late};
    } else if (has(graph_.where[t].entry, late) && before[t].p < 0) {
      before[t] = {s, p};
      open.push_back(t);
    }
  };
  for (state_id s = 0; s < graph_.end() && !found; ++s)
    if (has(graph_.where[s].remainder(graph_.N), late) && graph_.past_doorway(s, first)) follow(s, late);
  for (std::size_t i = 0; i < open.size() && !found; ++i)
    for (int p = 0; p < graph_.N && !found; ++p) follow(open[i], p);
  if (!found) return found;
  for (state_id s = found->from; before[s].p >= 0; s = before[s].s) {
    found->steps.push_back(before[s].p);
    found->from = before[s].s;
  }
  std::reverse(found->steps.begin(), found->steps.end());
  return found;
}

fairness_result plain_order::out_of_order(std::string_view property) {
  const int N = graph_.N, k = graph_.k;
  const auto entering = [&](int late) {
    return [this, late](state_id s, int p, state_id t) { return p == late && graph_.enters(s, p, t); };
  };
  const auto result = [&](std::optional<unfair_run> found) {
    return fairness_result{watch_.why().empty(), std::move(found)};
  };
  if (property == "k-fcfs") {
    for (const process_set first : sets_up_to(N, k))
      for (int late = 0; late < N && !watch_.over(0); ++late)
        if (std::popcount(first) == k && !has(first, late))
          if (auto found = overtaking(first, late, entering(late), [](state_id) { return true; }))
            return result(std::move(found));
    return result(std::nullopt);
  }
  if (!find_kept_out()) return {false, std::nullopt};
  for (int p = 0; p < N; ++p)
    for (int late = 0; late < N && !watch_.over(0); ++late) {
      if (p == late) continue;
      // Once enabled one stays so.
      const auto kept_out = [&](state_id t) { return has(kept_out_[t], p); };
      const auto enabled = [&](state_id, int, state_id t) {
        return graph_.past_doorway(t, only(late)) && !has(kept_out_[t], late);
      };
      auto found = property == "fife" ? overtaking(only(p), late, entering(late), kept_out)
                                      : overtaking(only(p), late, enabled, kept_out);
      if (found) return result(std::move(found));
    }
  return result(std::nullopt);
}

waiting_result plain_order::longest_wait(bool until_enabled, bool doorway) {
  waiting_result result;
  if (until_enabled && !find_kept_out()) {
    result.complete = false;
    return result;
  }
  const auto N = static_cast<std::size_t>(graph_.N);
  std::vector<std::uint8_t> trips(graph_.end() * N, 0);  // how often j can still get in while p waits
  components parts(graph_);
  for (int p = 0; p < graph_.N && result.complete && !result.found; ++p) {
    const auto in = [&](state_id s) {
      if (!until_enabled) return has(graph_.where[s].entry, p);
      return has(kept_out_[s], p) && (!doorway || graph_.past_doorway(s, only(p)));
    };
    const auto add = [&](std::span<const state_id> members, auto&& same) {
      std::array<int, graph_processes_max> most{};
      for (const state_id s : members)
        for (int q = 0; q < graph_.N; ++q) {
          const state_id t = graph_.next(s, q);
          if (t == no_state) continue;
          const bool overtakes = q != p && graph_.enters(s, q, t);
          if (in(t) && same(t)) {
            if (!overtakes) continue;
            result.found = unfair_run{s, {}, -1, only(p), q};
            return false;
          }
          for (std::size_t j = 0; j < N; ++j) {
            const int further = in(t) ? trips[t * N + j] : 0;
            most[j] = std::max(most[j], std::min(waiting_bound_max, further + (overtakes && j == std::size_t(q))));
          }
        }
      for (const state_id s : members)
        for (std::size_t j = 0; j < N; ++j) {
          trips[s * N + j] = static_cast<std::uint8_t>(most[j]);
          if (has(graph_.where[s].remainder(graph_.N) & ~only(p), static_cast<int>(j)))
            result.b = std::max(result.b, most[j]);
        }
      return true;
    };
    if (!parts.for_each(in, every_step, add, watch_) && !result.found) result.complete = false;
  }
  return result;
}

template <class Blocked, class In>
std::optional<stay> plain_order::stays(int p, Blocked&& may_block, In&& in) {
  for (state_id s = 0; s < graph_.end(); ++s)
    if (may_block(s) && graph_.next(s, p) == no_state) return stay{s, true};
  std::optional<stay> found;
  components parts(graph_);
  parts.for_each(
      in, every_step,
      [&](std::span<const state_id> members, auto&& same) {
        for (const state_id s : members)
          if (const state_id t = graph_.next(s, p); t != no_state && in(t) && same(t)) {
            found = stay{s, false};
            return false;
          }
        return true;
      },
      watch_);
  return found;
}

std::optional<stay> plain_order::stays_in_doorway(int p) {
  const auto in = [&](state_id s) { return has(graph_.where[s].entry & ~graph_.where[s].past_doorway, p); };
  return stays(
      p, [&](state_id s) { return in(s) || has(graph_.where[s].remainder(graph_.N), p); }, in);
}

std::optional<stay> plain_order::stays_in_exit(int p) {
  return stays(
      p, [&](state_id s) { return has(graph_.where[s].inside | graph_.where[s].exit, p); },
      [&](state_id s) { return has(graph_.where[s].exit, p); });
}

}  // namespace kgate::lab
