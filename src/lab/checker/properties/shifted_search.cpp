// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/shifted_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <new>
#include <random>
#include <unordered_map>
#include <unordered_set>

#include "lab/checker/graph/graph.hpp"
#include "lab/checker/graph/local_analysis.hpp"
#include "lab/checker/model/walker.hpp"
#include "lab/checker/properties/checking.hpp"
#include "lab/checker/properties/plain_order.hpp"

namespace kgate::lab {

namespace {

using position = walker::position;

std::string key_of(const position& at) {
  std::string key(reinterpret_cast<const char*>(at.values.data()), at.values.size() * sizeof(code));
  return key.append(reinterpret_cast<const char*>(at.locals.data()), at.locals.size() * sizeof(local_id));
}

/// A program, its memory, and states of it as plain vectors.
class reduced_program {
 public:
  reduced_program(std::unique_ptr<model> m, int N, int k, const ticket_rule& rule, const mutations& wrong = {})
      : memory_(m->memory), rule_(rule), program_(std::move(m), N, k, {0, wrong}) {
    for (int v = 0; v < program_.variables(); ++v) {
      const std::string& name = program_.variable(v).name;
      const std::string base = name.substr(0, name.find_first_of(".["));
      const auto among = [&](const std::vector<std::string_view>& names) {
        return std::find(names.begin(), names.end(), base) != names.end();
      };
      counts_rounds_.push_back(among(rule.rounds));
      holds_ticket_.push_back(among(rule.variables) || counts_rounds_.back());
    }
  }

  program& text() { return program_; }
  position start() const {
    return {std::vector<code>(static_cast<std::size_t>(program_.variables()), 0),
            std::vector<local_id>(static_cast<std::size_t>(program_.N()), 0)};
  }
  const local_state& local(const position& at, int p) const {
    return program_.local(p, at.locals[static_cast<std::size_t>(p)]);
  }
  transition transition_of(const position& at, int p) {
    const int v = local(at, p).variable;
    return program_.step(p, at.locals[static_cast<std::size_t>(p)], v < 0 ? 0 : at.values[static_cast<std::size_t>(v)]);
  }
  bool can_move(const position& at, int p) { return !transition_of(at, p).blocked; }
  void step(position& at, int p) {
    const int v = local(at, p).variable;
    const transition t = transition_of(at, p);
    if (t.writes) at.values[static_cast<std::size_t>(v)] = t.written;
    at.locals[static_cast<std::size_t>(p)] = t.next;
  }

  void reduce(position& at) {
    shift_.clear();
    if (rule_.zero_stays) shift_[0] = 0;
    for (int v = 0; v < program_.variables(); ++v) note(v, at.values[static_cast<std::size_t>(v)]);
    for (int p = 0; p < program_.N(); ++p)
      for (local_id s = at.locals[static_cast<std::size_t>(p)]; !program_.local(p, s).starts_passage;
           s = program_.local(p, s).parent)
        note(program_.local(p, program_.local(p, s).parent).variable, program_.local(p, s).seen);
    std::uint64_t before = 0, last = 0;
    bool first = true;
    for (auto& [ticket, becomes] : shift_) {
      becomes = first ? ticket % rule_.array_size : last + shortened(ticket - before);
      first = false;
      before = ticket;
      last = becomes;
    }
    for (int p = 0; p < program_.N(); ++p) {
      local_id& s = at.locals[static_cast<std::size_t>(p)];
      s = shifted_local(p, s);
    }
    for (int v = 0; v < program_.variables(); ++v) {
      code& c = at.values[static_cast<std::size_t>(v)];
      c = shifted(v, c);
    }
  }

  /// Whether all processes are about to do the same in both; else what differs.
  std::string differs(const position& text, const position& reduced) {
    for (int p = 0; p < program_.N(); ++p) {
      const local_state& a = local(text, p);
      const local_state& b = local(reduced, p);
      if (a.op == b.op && a.label == b.label && a.variable == b.variable && a.where == b.where &&
          a.waiting == b.waiting && a.name == b.name && can_move(text, p) == can_move(reduced, p))
        continue;
      return fmt::format("tickets more than {} apart are told apart: process {} is at label {} where it would be at {}",
                         rule_.window, p, a.label, b.label);
    }
    return "";
  }

 private:
  /// By multiples of the array's size, until it is no longer than the window.
  std::uint64_t shortened(std::uint64_t gap) const {
    if (gap <= rule_.window) return gap;
    return gap - (gap - rule_.window + rule_.array_size - 1) / rule_.array_size * rule_.array_size;
  }
  /// The number that a variable holds; none if it holds something else.
  std::optional<std::uint64_t> number(int v, code c) const {
    const std::string& bytes = program_.variable(v).values.bytes(c);
    if (bytes.size() == sizeof(std::uint64_t)) return from_bytes<std::uint64_t>(bytes);
    if (bytes.size() == sizeof(std::uint32_t)) return from_bytes<std::uint32_t>(bytes);
    return std::nullopt;
  }
  std::uint64_t unit(int v) const { return counts_rounds_[static_cast<std::size_t>(v)] ? rule_.array_size : 1; }
  std::optional<std::uint64_t> ticket(int v, code c) const {
    if (v < 0 || !holds_ticket_[static_cast<std::size_t>(v)]) return std::nullopt;
    const auto value = number(v, c);
    if (!value || std::find(rule_.no_tickets.begin(), rule_.no_tickets.end(), *value) != rule_.no_tickets.end())
      return std::nullopt;
    return (*value >> rule_.low_bits) * unit(v);
  }
  void note(int v, code c) {
    if (const auto value = ticket(v, c)) shift_.try_emplace(*value, 0);
  }
  code shifted(int v, code c) {
    const auto value = ticket(v, c);
    if (!value) return c;
    const std::uint64_t low = *number(v, c) & ((std::uint64_t{1} << rule_.low_bits) - 1);
    const std::uint64_t all = shift_.at(*value) / unit(v) << rule_.low_bits | low;
    value_table& values = memory_.at(v).values;
    return values.intern(values.bytes(c).size() == sizeof all ? to_bytes(all)
                                                              : to_bytes(static_cast<std::uint32_t>(all)));
  }
  /// Where the process stands if all it has observed in its passage were shifted.
  local_id shifted_local(int p, local_id s) {
    std::vector<std::pair<int, code>> path;
    for (; !program_.local(p, s).starts_passage; s = program_.local(p, s).parent)
      path.emplace_back(program_.local(p, program_.local(p, s).parent).variable, program_.local(p, s).seen);
    local_id here = 0;
    for (auto it = path.rbegin(); it != path.rend(); ++it)
      here = program_.step(p, here, shifted(it->first, it->second)).next;
    return here;
  }

  checker_machine::Memory& memory_;
  const ticket_rule rule_;
  program program_;
  std::vector<bool> holds_ticket_, counts_rounds_;
  std::map<std::uint64_t, std::uint64_t> shift_;  // the tickets of the state that is reduced, and what they become
};

/// Random runs of the text beside its reduction.
std::string audit_reduction(reduced_program& of, std::uint64_t seed, int walks, int steps) {
  std::mt19937_64 random(seed);
  const int N = of.text().N();
  for (int i = 0; i < walks; ++i) {
    position text = of.start(), reduced = of.start();
    int asleep = -1;
    for (int j = 0; j < steps; ++j) {
      if (random() % 64 == 0)
        asleep = static_cast<int>(random() % static_cast<unsigned>(2 * N));  // half of the time none
      const int p = static_cast<int>(random() % static_cast<unsigned>(N));
      if (p == asleep || !of.can_move(text, p)) continue;
      of.step(text, p);
      of.step(reduced, p);
      of.reduce(reduced);
      if (std::string wrong = of.differs(text, reduced); !wrong.empty()) return wrong;
    }
  }
  return "";
}

using state = std::uint32_t;
constexpr state nowhere = 0xFFFFFFFF;

class shifted_search {
 public:
  shifted_search(std::unique_ptr<model> m, const shifted_request& request)
      : request_(request),
        N_(request.of.N),
        reduced_(std::move(m), N_, request.of.k, request.rule, request.of.wrong),
        watch_(request.limits) {}

  check_result run() {
    check_request request;
    request.of = request_.of;
    request.properties = request_.properties;
    request.crashes = request_.crashes;
    request.limits = request_.limits;
    request.seed = request_.seed;
    check_result r = nothing_decided(request, "");
    try {
      explore();
    } catch (const std::bad_alloc&) {
      watch_.end("memory limit reached");
    }
    r.states = states_.size();
    r.transitions = transitions_;
    r.bytes_per_state = static_cast<double>(bytes_each());
    r.complete = watch_.why().empty();
    r.why = watch_.why();
    r.reached = coverage_of(reduced_.text());
    const std::string unsound = audit_reduction(reduced_, request_.seed, 10, 1500);
    for (property_result& one : r.properties) {
      if (!unsound.empty())
        one.why = unsound;
      else
        judge_within_memory(one, r.complete);
    }
    r.explore_seconds = watch_.seconds();
    audit_options options;
    options.seed = request_.seed;
    options.accesses = audited_accesses(transitions_);
    options.start = [this](std::mt19937_64& any) { return way_to(static_cast<state>(any() % states_.size())); };
    audit_text(r, reduced_.text(), options);
    r.seconds = watch_.seconds();
    return r;
  }

 private:
  void explore() {
    position first = reduced_.start();
    reduced_.reduce(first);
    insert(first, nowhere);
    for (state s = 0; s < states_.size(); ++s) {
      if (s % 256 == 0 && watch_.over(states_.size() * bytes_each())) return;
      if (s % 256 == 0) watch_.report("exploring", states_.size(), states_.size() - s, states_.size() * bytes_each());
      for (int p = 0; p < N_; ++p) {
        position at = states_[s];
        if (!reduced_.can_move(at, p)) continue;
        reduced_.step(at, p);
        reduced_.reduce(at);
        ++transitions_;
        const state to = insert(at, s);
        next_[std::size_t{s} * static_cast<std::size_t>(N_) + static_cast<std::size_t>(p)] = to;
      }
    }
  }
  std::uint64_t bytes_each() const {
    return 2 * (states_[0].values.size() + states_[0].locals.size()) * sizeof(code) + 4 * static_cast<unsigned>(N_) +
           128;
  }
  state insert(const position& at, state from) {
    const auto [known, fresh] = numbers_.try_emplace(key_of(at), static_cast<state>(states_.size()));
    if (fresh) {
      states_.push_back(at);
      from_.push_back(from);
      next_.resize(next_.size() + static_cast<std::size_t>(N_), nowhere);
    }
    return known->second;
  }
  state next(state s, int p) const {
    return next_[std::size_t{s} * static_cast<std::size_t>(N_) + static_cast<std::size_t>(p)];
  }
  region where(state s, int p) const { return reduced_.local(states_[s], p).where; }
  /// Fairness obliges it to move in the end.
  bool obliged(state s, int p) const { return where(s, p) != region::remainder && next(s, p) != nowhere; }

  void judge_within_memory(property_result& r, bool complete) {
    try {
      judge(r, complete);
    } catch (const std::bad_alloc&) {
      r.is = verdict::undecided;
      r.why = "memory limit reached";
    }
  }

  void judge(property_result& r, bool complete) {
    if (r.name == "k-exclusion") {
      for (state s = 0; s < states_.size(); ++s) {
        int inside = 0;
        for (int p = 0; p < N_; ++p) inside += where(s, p) == region::critical ? 1 : 0;
        if (inside > request_.of.k) return violated(r, s, too_many_inside(request_.of.k), true);
      }
    }
    if (!complete) {
      r.why = watch_.why();
      return;
    }
    if (r.name != "k-exclusion" && r.name != "deadlock-free" && r.name != "starvation-free")
      return judge_order(r, plain());
    r.is = verdict::holds;
    if (r.name == "k-exclusion") return;
    for (process_set F = 0; F < (process_set{1} << N_); ++F) {
      if (std::popcount(F) > request_.crashes) continue;
      if (r.name == "deadlock-free") {
        if (const state s = fair_component(F, -1); s != nowhere)
          return violated(r, s, "a process is in its entry and nobody ever enters", false);
        continue;
      }
      for (int p = 0; p < N_; ++p)
        if (!has(F, p))
          if (const state s = fair_component(F, p); s != nowhere)
            return violated(r, s, fmt::format("process {} stays in its entry for ever", p), false);
    }
  }

  plain_graph plain() const {
    plain_graph g{N_, request_.of.k, std::vector<plain_graph::regions>(states_.size()), next_};
    for (state s = 0; s < states_.size(); ++s)
      for (int p = 0; p < N_; ++p) {
        const local_state& here = reduced_.local(states_[s], p);
        if (here.where == region::entry) g.where[s].entry |= only(p);
        if (here.where == region::entry && here.waiting) g.where[s].past_doorway |= only(p);
        if (here.where == region::critical) g.where[s].inside |= only(p);
        if (here.where == region::exit) g.where[s].exit |= only(p);
      }
    return g;
  }

  /// bounded-exit, and the order of entering.
  void judge_order(property_result& r, const plain_graph& g) {
    plain_order order(g, watch_);
    if (r.name == "bounded-exit") {
      for (int p = 0; p < N_; ++p)
        if (const auto found = order.stays_in_exit(p))
          return violated(r, found->at,
                          found->blocked ? fmt::format("process {} waits in its exit", p)
                                         : "a process takes steps in its exit for ever",
                          found->blocked, p);
      if (!has_cycle_in(reduced_.text(), region::exit))
        r.figures.emplace_back("steps", exit_steps_max(reduced_.text()));
    } else {
      const bool bound = r.name == "bounded-waiting" || r.name == "bounded-overtaking";
      const doorways marks = doorways_of(reduced_.text());
      if (!bound && marks == doorways::none) {
        r.why = no_doorway;
        return;
      }
      waiting_result found;
      if (bound)
        found = order.longest_wait(r.name == "bounded-waiting", marks == doorways::marked);
      else
        static_cast<fairness_result&>(found) = order.out_of_order(r.name);
      if (found.found) return out_of_order_at(r, *found.found);
      if (r.name != "bounded-overtaking" && marks == doorways::marked)
        for (int p = 0; p < N_; ++p)
          if (const auto waits = order.stays_in_doorway(p)) {
            r.why = waits_in_doorway(p, waits->blocked, reduced_.local(states_[waits->at], p).label);
            return;
          }
      if (bound && found.complete) r.figures.emplace_back("b", found.b);
      if (found.b >= waiting_bound_max) {
        r.why = "larger bounds are not counted";
        return;
      }
    }
    if (watch_.why().empty())
      r.is = verdict::holds;
    else
      r.why = watch_.why();
  }

  void out_of_order_at(property_result& r, const unfair_run& run) {
    violated(r, run.from, out_of_order(r.name, run), r.name == "k-fcfs");
    if (r.counterexample)
      r.counterexample->schedule.insert(r.counterexample->schedule.end(), run.steps.begin(), run.steps.end());
  }

  /// A schedule that leads to a state that is reduced to s.
  std::vector<int> way_to(state s) const {
    std::vector<int> schedule;
    for (; from_[s] != nowhere; s = from_[s])
      for (int p = 0; p < N_; ++p)
        if (next(from_[s], p) == s) {
          schedule.push_back(p);
          break;
        }
    std::reverse(schedule.begin(), schedule.end());
    return schedule;
  }

  void violated(property_result& r, state s, const std::string& what, bool finite, int victim = -1) {
    r.is = verdict::violated;
    trace t;
    t.of = request_.of;
    t.property = r.name;
    t.what = what;
    t.victim = victim;
    t.schedule = way_to(s);
    if (finite) {
      r.counterexample = std::move(t);
    } else {
      // In the text itself tickets grow round after round, so no state comes back.
      r.why = fmt::format("{}, from a cycle of states on that {} leads to", what, schedule_text(t.schedule));
    }
  }

  /// A state of a fair component in which `victim` stays in its entry; without a victim: in which a living process is
  /// in its entry and none enters. Those of F do not move. Tarjan's algorithm, without recursion.
  state fair_component(process_set F, int victim) {
    const auto inside = [&](state s) { return victim < 0 || where(s, victim) == region::entry; };
    const auto edge = [&](state s, int p) {
      const state t = has(F, p) ? nowhere : next(s, p);
      if (t == nowhere || !inside(t)) return nowhere;
      const bool enters = where(s, p) != region::critical && where(t, p) == region::critical;
      return victim < 0 && enters ? nowhere : t;
    };
    const auto count = static_cast<state>(states_.size());
    std::vector<state> index(count, nowhere), low(count, 0), component(count, nowhere), open;
    struct frame {
      state s;
      int p;
    };
    state numbered = 0;
    for (state root = 0; root < count; ++root) {
      if (index[root] != nowhere || !inside(root)) continue;
      std::vector<frame> stack{{root, 0}};
      index[root] = low[root] = numbered++;
      open.push_back(root);
      while (!stack.empty()) {
        frame& top = stack.back();
        if (top.p < N_) {
          const state t = edge(top.s, top.p++);
          if (t == nowhere) continue;
          if (index[t] == nowhere) {
            index[t] = low[t] = numbered++;
            open.push_back(t);
            stack.push_back({t, 0});
          } else if (component[t] == nowhere) {
            low[top.s] = std::min(low[top.s], index[t]);
          }
          continue;
        }
        const state s = top.s;
        stack.pop_back();
        if (!stack.empty()) low[stack.back().s] = std::min(low[stack.back().s], low[s]);
        if (low[s] != index[s]) continue;
        std::vector<state> members;
        for (;;) {
          const state t = open.back();
          open.pop_back();
          component[t] = s;
          members.push_back(t);
          if (t == s) break;
        }
        if (is_fair(members, component, s, F, victim, edge)) return s;
      }
    }
    return nowhere;
  }

  template <class Edge>
  bool is_fair(const std::vector<state>& members, const std::vector<state>& component, state root, process_set F,
               int victim, Edge&& edge) const {
    process_set settled = F;
    bool somebody = victim >= 0;
    for (const state s : members)
      for (int p = 0; p < N_; ++p) {
        const state t = edge(s, p);
        if (!obliged(s, p) || (t != nowhere && component[t] == root)) settled |= only(p);
        somebody |= !has(F, p) && where(s, p) == region::entry;
      }
    return somebody && settled == (process_set{1} << N_) - 1;
  }

  const shifted_request& request_;
  const int N_;
  mutable reduced_program reduced_;
  watch watch_;
  std::vector<position> states_;
  std::vector<state> from_, next_;
  std::unordered_map<std::string, state> numbers_;
  std::uint64_t transitions_ = 0;
};

}  // namespace

bool can_be_shifted(std::string_view property) {
  constexpr std::string_view all[] = {"k-exclusion",      "deadlock-free",   "starvation-free",
                                      "bounded-exit",     "k-fcfs",          "fife",
                                      "enabled-in-order", "bounded-waiting", "bounded-overtaking"};
  return std::find(std::begin(all), std::end(all), property) != std::end(all);
}

check_result check_shifted(std::unique_ptr<model> m, const shifted_request& request) {
  return shifted_search(std::move(m), request).run();
}

std::string compare_with_reduced(std::unique_ptr<model> m, int N, int k, const ticket_rule& rule, int passages) {
  reduced_program of(std::move(m), N, k, rule);
  struct pair {
    position text, reduced;
    std::vector<int> begun;
  };
  std::unordered_set<std::string> met;
  std::deque<pair> queue{{of.start(), of.start(), std::vector<int>(static_cast<std::size_t>(N), 0)}};
  while (!queue.empty()) {
    const pair here = std::move(queue.front());
    queue.pop_front();
    for (int p = 0; p < N; ++p) {
      const bool starts = of.local(here.text, p).where == region::remainder;
      if (!of.can_move(here.text, p) || (starts && here.begun[static_cast<std::size_t>(p)] == passages)) continue;
      pair to = here;
      if (starts) ++to.begun[static_cast<std::size_t>(p)];
      of.step(to.text, p);
      of.step(to.reduced, p);
      of.reduce(to.reduced);
      if (std::string wrong = of.differs(to.text, to.reduced); !wrong.empty()) return wrong;
      std::string key = key_of(to.text) + key_of(to.reduced);
      for (const int count : to.begun) key += static_cast<char>(count);
      if (met.insert(std::move(key)).second) queue.push_back(std::move(to));
    }
  }
  return "";
}

}  // namespace kgate::lab
