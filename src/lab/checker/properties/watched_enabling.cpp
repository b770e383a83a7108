// SPDX-License-Identifier: Apache-2.0
// What a run shows of the properties that speak of being enabled, as far as a short search of what may follow tells.
#include <fmt/format.h>

#include "lab/checker/properties/watched_run.hpp"
#include "lab/checker/trace/able.hpp"

namespace kgate::lab {

namespace {

constexpr std::size_t glance = 200;    ///< positions, to show that a process is not enabled
constexpr std::size_t proof = 30'000;  ///< positions, to show that a process is

}  // namespace

std::optional<seen_violation> watched_run::overtakes(int q, const position& before) {
  for (int p = 0; p < program_.N(); ++p)
    if (p != q && has(later_[static_cast<std::size_t>(p)], q) && local(p).where == region::entry) {
      if (what_.fifo) return seen_violation{"fifo", p};
      if (position_in_run(program_, before).shown_not_enabled(p, glance))
        return seen_violation{what_.fifo_enabling ? "fifo-enabling" : "l-queuelike", p};
    }
  return std::nullopt;
}

std::optional<seen_violation> watched_run::passes(int q) {
  for (int p = 0; p < program_.N() && what_.passings_max >= 0; ++p)
    if (p != q && has(later_[static_cast<std::size_t>(p)], q) && local(p).where == region::entry &&
        ++passings_[static_cast<std::size_t>(p)][static_cast<std::size_t>(q)] > what_.passings_max)
      return seen_violation{fmt::format("bounded-overtaking:{}", what_.passings_max), p};
  return std::nullopt;
}

std::optional<seen_violation> watched_run::enabled_too_early(int q) {
  if (!past_doorway(q)) return std::nullopt;
  for (int p = 0; p < program_.N() && proofs_left_ > 0; ++p) {
    if (!has(first_[static_cast<std::size_t>(q)], p)) continue;
    auto found = waits_alone(p, "enabled-in-order");
    if (!found || waits_alone(q, "")) continue;
    --proofs_left_;
    if (position_in_run(program_, at_).shown_to_enter(q, proof)) return found;
  }
  return std::nullopt;
}

/// Those that do not wait stop; those inside may stay. A set of processes to which permits are allocated has none that
/// waits in vain or is not able: it would step first, and one fewer enters than the set has.
std::optional<seen_violation> watched_run::group_stalled() {
  position_in_run here(program_, at_);
  int waiting = 0, movers = 0, able = 0;
  for (int p = 0; p < program_.N(); ++p) {
    if (local(p).where == region::remainder || local(p).where == region::critical) continue;
    able += here.able(p) ? 1 : 0;
    ++(waits_stuck(p) ? waiting : movers);
  }
  if (waiting == 0 || movers > what_.crashes || able >= here.enabled_wanted()) return std::nullopt;
  return seen_violation{"kl-deadlock-free"};
}

std::optional<seen_violation> watched_run::about_enabling(int q, const position& before, bool changed) {
  if (what_.judges_arrivals() || what_.passings_max >= 0) {
    if (changed && local(q).where == region::critical) {
      if (what_.judges_arrivals())
        if (auto found = overtakes(q, before)) return found;
      if (auto found = passes(q)) return found;
    }
    for (int p = 0; p < program_.N(); ++p) {
      process_set& later = later_[static_cast<std::size_t>(p)];
      if (local(p).where != region::entry) {
        later = 0;
        passings_[static_cast<std::size_t>(p)].assign(passings_.size(), 0);
      }
      if (local(q).where == region::critical) later &= ~only(q);
      for (int other = 0; other < program_.N() && local(p).where == region::entry; ++other)
        if (local(other).where == region::remainder) later |= only(other);
    }
  }
  if (what_.judges_full()) {
    position_in_run here(program_, at_);
    if (what_.queuelike && here.leaving()) return seen_violation{"l-queuelike"};
    if (changed && here.inside() <= program_.k() && here.enabled_max(glance) < here.enabled_wanted())
      return seen_violation{what_.full ? "l-full" : "l-queuelike"};
  }
  if (what_.enabled_in_order && changed)
    if (auto found = enabled_too_early(q)) return found;
  return what_.group_deadlock ? group_stalled() : std::nullopt;
}

}  // namespace kgate::lab
