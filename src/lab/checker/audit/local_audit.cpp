// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/audit/local_audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <span>
#include <string_view>

#include "lab/checker/graph/components.hpp"

namespace kgate::lab {

namespace {

/// What a run costs besides its accesses, in accesses.
constexpr std::uint64_t run_cost = 20;
/// A walk that does not end its passage.
constexpr std::size_t walk_max = 400;

std::string name_of(const program& p, int v) { return v < 0 ? "nothing" : p.variable(v).name; }

std::string written(const program& p, int v, const std::optional<code>& value) {
  return value ? fmt::format(" := {}", p.variable(v).text(*value)) : "";
}

}  // namespace

bool audit_agrees(const checker_machine::made& text, const local_state& at, const transition& step) {
  return text.op == at.op && text.variable == at.variable && text.label == at.label && text.where == at.where &&
         text.waiting == at.waiting && text.name == at.name && text.state == at.hash &&
         text.written.has_value() == step.writes && (!step.writes || *text.written == step.written);
}

std::string audit_difference(const program& p, int process, const local_state& at, const transition& step,
                             const checker_machine::made* text, const program::outcome& after) {
  const auto value = step.writes ? std::optional<code>(step.written) : std::nullopt;
  const std::string is = fmt::format("its automaton makes {} {}{} at {}", to_string(at.op), name_of(p, at.variable),
                                     written(p, at.variable, value), at.label);
  if (text == nullptr)
    return fmt::format("process {} {} at {}, {}", process, after.last.blocked ? "is blocked" : "has finished",
                       after.label, is);
  const std::string does = fmt::format("{} {}{} at {}", to_string(text->op), name_of(p, text->variable),
                                       written(p, text->variable, text->written), text->label);
  if (const std::string same = fmt::format("its automaton makes {}", does); same == is)
    return fmt::format(
        "process {} makes {}, its automaton the same with other local variables: one that live(...) names there was "
        "made of one that had been forgotten",
        process, does);
  return fmt::format("process {} makes {}, {}", process, does, is);
}

std::string audit_difference(const program& p, int process, const local_state& at, const program::outcome& after) {
  const checker_machine::pending& next = after.next;
  if (next.op != at.op || next.variable != at.variable || next.label != at.label || next.where != at.where ||
      next.waiting != at.waiting || next.name != at.name)
    return fmt::format("process {} is about to {} {} at {}, its automaton to {} {} at {}", process, to_string(next.op),
                       name_of(p, next.variable), next.label, to_string(at.op), name_of(p, at.variable), at.label);
  if (next.hash != at.hash)
    return fmt::format(
        "process {} is about to {} {} at {}, its automaton to do so with other local variables: one that live(...) "
        "names there was made of one that had been forgotten",
        process, to_string(next.op), name_of(p, next.variable), next.label);
  return "";
}

local_audit::local_audit(const program& p, int process, std::mt19937_64& random, audit_result& result)
    : program_(p), process_(process), random_(random), result_(result), out_(p.locals(process)), refused_(out_.size()) {
  p.for_each_step(process, [&](local_id from, code seen, const transition& t) {
    edges_.push_back({from, seen, t, !t.blocked && local(t.next).starts_passage});
  });
  std::sort(edges_.begin(), edges_.end(),
            [](const edge& a, const edge& b) { return a.from != b.from ? a.from < b.from : a.seen < b.seen; });
  for (edge_id e = 0; e < edges_.size(); ++e) {
    numbers_.emplace((std::uint64_t{edges_[e].from} << 32) | edges_[e].seen, e);
    out_[edges_[e].from].push_back(e);
    if (edges_[e].step.blocked) refused_[edges_[e].from].push_back(edges_[e].seen);
  }
  find_completions();
  find_components();
}

local_audit::edge_id local_audit::edge_of(local_id from, code seen) const {
  const auto known = numbers_.find((std::uint64_t{from} << 32) | seen);
  return known == numbers_.end() ? none : known->second;
}

local_audit::path local_audit::way_to(local_id s) const {
  path way;
  for (; !local(s).starts_passage; s = local(s).parent) way.push_back(edge_of(local(s).parent, local(s).seen));
  std::reverse(way.begin(), way.end());
  return way;
}

void local_audit::find_completions() {
  toward_end_.assign(out_.size(), none);
  std::vector<std::vector<edge_id>> into(out_.size());
  std::deque<local_id> found;
  for (edge_id e = 0; e < edges_.size(); ++e) {
    if (edges_[e].step.blocked) continue;
    if (!edges_[e].ends) {
      into[edges_[e].step.next].push_back(e);
    } else if (toward_end_[edges_[e].from] == none) {
      toward_end_[edges_[e].from] = e;
      found.push_back(edges_[e].from);
    }
  }
  for (; !found.empty(); found.pop_front())
    for (const edge_id e : into[found.front()]) {
      if (toward_end_[edges_[e].from] != none) continue;
      toward_end_[edges_[e].from] = e;
      found.push_back(edges_[e].from);
    }
}

void local_audit::complete(path& to) const {
  if (!to.empty() && !inner(edges_[to.back()])) return;
  for (local_id s = to.empty() ? 0 : edges_[to.back()].step.next; toward_end_[s] != none;) {
    const edge& e = edges_[toward_end_[s]];
    to.push_back(toward_end_[s]);
    if (e.ends) return;
    s = e.step.next;
  }
}

/// A process's steps within a passage.
struct local_audit::within_passages {
  using vertex = local_id;
  static constexpr vertex nowhere = no_state;
  const local_audit& of;
  int most = 0;
  local_id end() const { return static_cast<local_id>(of.out_.size()); }
  bool valid(local_id) const { return true; }
  int steps() const { return most; }
  state_id next(local_id s, int i) const {
    if (static_cast<std::size_t>(i) >= of.out_[s].size()) return no_state;
    const edge& e = of.edges_[of.out_[s][static_cast<std::size_t>(i)]];
    return of.inner(e) ? e.step.next : no_state;
  }
};

void local_audit::find_components() {
  within_passages graph{*this};
  for (const auto& steps : out_) graph.most = std::max(graph.most, static_cast<int>(steps.size()));
  component_.assign(out_.size(), 0);
  std::uint32_t number = 0;
  const run_limits no_limits;
  watch endless(no_limits);
  components<within_passages>(graph).for_each([](local_id) { return true; }, [](local_id, int) { return true; },
                                              [&](std::span<const local_id> members, auto&&) {
                                                ++number;
                                                for (const local_id s : members) component_[s] = number;
                                                return true;
                                              },
                                              endless);
}

local_audit::path local_audit::cycle_from(edge_id first) const {
  const local_id start = edges_[first].from;
  std::unordered_map<local_id, edge_id> came_by;
  std::deque<local_id> found{edges_[first].step.next};
  came_by.emplace(found.front(), none);
  for (; !found.empty() && !came_by.contains(start); found.pop_front())
    for (const edge_id e : out_[found.front()]) {
      const edge& step = edges_[e];
      if (!inner(step) || component_[step.step.next] != component_[start]) continue;
      if (came_by.emplace(step.step.next, e).second) found.push_back(step.step.next);
    }
  path cycle;
  for (local_id s = start; came_by.at(s) != none; s = edges_[came_by.at(s)].from) cycle.push_back(came_by.at(s));
  cycle.push_back(first);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

local_audit::path local_audit::round_and_round(const path& cycle) const {
  path way = way_to(edges_[cycle.front()].from);
  const std::size_t rounds = std::clamp<std::size_t>(passage_max / cycle.size(), 2, loop_rounds);
  way.reserve(way.size() + (rounds + 1) * cycle.size());
  for (std::size_t i = 0; i < rounds; ++i) way.insert(way.end(), cycle.begin(), cycle.end());
  return way;
}

std::vector<local_audit::edge_id> local_audit::shuffled() const {
  std::vector<edge_id> all(edges_.size());
  for (edge_id e = 0; e < all.size(); ++e) all[e] = e;
  std::shuffle(all.begin(), all.end(), random_);
  return all;
}

void local_audit::note_refused(const path& along) {
  refused_on_way_.clear();
  for (const edge_id e : along) {
    const edge& each = edges_[e];
    const bool awaits = !each.step.blocked && local(each.from).op == operation::await && local(each.from).ways == 1;
    refused_on_way_.push_back(awaits && !refused_[each.from].empty() ? &refused_[each.from] : nullptr);
  }
}

void local_audit::compare(const path& along) {
  constexpr std::array<int, 4> times{1, 2, 1, 3};
  checker_machine::calling calls;
  calls.times = times[compared_++ % times.size()];
  compare(along, calls);
}

void local_audit::compare(const path& along, const checker_machine::calling& calls) {
  history_.clear();
  made_.clear();
  for (const edge_id e : along) history_.push_back(edges_[e].seen);
  const program::outcome after = program_.run(process_, history_, &made_, calls);
  result_.accesses += along.size() + run_cost + static_cast<std::uint64_t>(calls.times / 10);
  for (std::size_t i = 0; i < along.size(); ++i) {
    const edge& e = edges_[along[i]];
    const local_state& at = local(e.from);
    if (e.step.blocked) {  // the last one
      if (!after.last.blocked || made_.size() != i)
        result_.difference =
            fmt::format("process {} can move at {}, its automaton is blocked", process_, local(e.from).label);
      continue;
    }
    if (i < made_.size() && audit_agrees(made_[i], at, e.step)) continue;
    result_.difference =
        audit_difference(program_, process_, at, e.step, i < made_.size() ? &made_[i] : nullptr, after);
    break;
  }
  if (result_.difference.empty() && !along.empty() && !edges_[along.back()].step.blocked) {
    const edge& last = edges_[along.back()];
    if (after.finished != last.ends)
      result_.difference = fmt::format("process {} and its automaton disagree whether the passage ends at {}", process_,
                                       local(last.from).label);
    else if (!last.ends && !local(last.step.next).done)
      result_.difference = audit_difference(program_, process_, local(last.step.next), after);
  }
  if (result_.difference.empty()) return;
  result_.difference += fmt::format(" (after {} accesses in its passage)", made_.size());
  program_.require_pure(process_, history_, calls);
  program_.require_pure(process_, history_, {.times = predicate_repeats});
}

void local_audit::run_steps_again(std::uint64_t accesses_max) {
  const std::uint64_t until = result_.accesses + accesses_max;
  result_.steps_again.all += edges_.size();
  for (const edge_id e : shuffled()) {
    if (!goes_on(until)) return;
    path way = way_to(edges_[e].from);
    way.push_back(e);
    const operation op = local(edges_[e].from).op;
    if (op != operation::await && op != operation::rmw) {
      compare(way);
    } else {
      compare(way, {.times = predicate_repeats, .from = way.size() - 1});
      complete(way);
      note_refused(way);
      if (goes_on(until)) compare(way, {.refused = &refused_on_way_});
    }
    ++result_.steps_again.made;
  }
}

void local_audit::continue_merged(std::uint64_t accesses_max) {
  const std::uint64_t until = result_.accesses + accesses_max;
  for (const edge& e : edges_) result_.merged.all += merges(e) ? 1 : 0;
  for (const edge_id e : shuffled()) {
    if (!merges(edges_[e])) continue;
    if (!goes_on(until)) return;
    path way = way_to(edges_[e].from);
    way.push_back(e);
    const std::size_t common = way.size();
    for (const edge_id next : out_[edges_[e].step.next]) {
      if (!goes_on(until)) return;
      way.resize(common);
      way.push_back(next);
      complete(way);
      compare(way);
    }
    ++result_.merged.made;
  }
}

void local_audit::go_round_loops(std::uint64_t accesses_max) {
  const std::uint64_t until = result_.accesses + accesses_max;
  const auto on_cycle = [&](const edge& e) { return inner(e) && component_[e.from] == component_[e.step.next]; };
  for (const edge& e : edges_) result_.loops.all += on_cycle(e) ? 1 : 0;
  std::vector<bool> done(edges_.size(), false);
  std::vector<path> cycles;
  for (const edge_id e : shuffled()) {
    if (done[e] || !on_cycle(edges_[e])) continue;
    if (!goes_on(until)) return;
    path cycle = cycle_from(e);
    path way = round_and_round(cycle);
    complete(way);
    compare(way);
    for (const edge_id each : cycle) {
      if (!done[each]) ++result_.loops.made;
      done[each] = true;
    }
    cycles.push_back(std::move(cycle));
  }
  for (const path& cycle : cycles) {
    path way = round_and_round(cycle);
    for (const edge_id each : cycle) {
      for (const edge_id out : out_[edges_[each].from]) {
        if (out == each) continue;
        if (!goes_on(until)) return;
        path leaving = way;
        leaving.push_back(out);
        complete(leaving);
        compare(leaving);
      }
      way.push_back(each);
    }
  }
}

void local_audit::walk(std::uint64_t accesses_max) {
  const std::uint64_t until = result_.accesses + accesses_max;
  std::vector<edge_id> begins;
  for (edge_id e = 0; e < edges_.size(); ++e)
    if (merges(edges_[e])) begins.push_back(e);
  if (begins.empty()) return;
  std::vector<edge_id> usual(out_.size(), none);  // the step that this walk makes at a local state, most of the time
  while (goes_on(until)) {
    const unsigned often = static_cast<unsigned>(random_() % 4) * 30;
    if (often > 0) std::fill(usual.begin(), usual.end(), none);
    const edge_id first = begins[random_() % begins.size()];
    path way = way_to(edges_[first].from);
    way.push_back(first);
    while (way.size() < walk_max && inner(edges_[way.back()])) {
      const local_id s = edges_[way.back()].step.next;
      if (out_[s].empty()) break;
      edge_id next = usual[s];
      if (next == none || random_() % 100 >= often) next = out_[s][random_() % out_[s].size()];
      usual[s] = next;
      way.push_back(next);
    }
    complete(way);
    compare(way);
  }
}

}  // namespace kgate::lab
