// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lemma 4.3 decided over all states: does the system without supervisor k-simulate the one with it? A plain search of
/// its own, since one step of this text is a function of a large variable and of a large local state, and almost no
/// two steps are alike: the checker, which runs a text anew for each, needs fifty times as long.
///
/// In every reachable state, and for every step, it looks at
///   C1      at most l are inside
///   R1-R6   what the lemma asks of the system it is given; how many states R7 and R8 speak of is counted
///   S1-S3   a process that takes the supervisor's step has its state: beside each state runs the supervisor itself
///   E1, E2  the invariants of flbb79_supervisor.hpp
///   C5'     if asked for: processes become enabled, and stay so, in the order of their arrival
///   S4      supervisor steps never stop for good while fewer than k processes fail. Between two of them only finitely
///           many steps change anything (`progress_of` grows with each), so a run without supervisor steps comes to
///           stand still: in a state in which all trying processes but those that failed, at most k-1, step in vain.
/// Processes are alike and have no numbers in this text: states are kept up to their permutations.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kgate/algorithms/flbb79_fifo.hpp"
#include "kgate/algorithms/flbb79_supervisor.hpp"

namespace kgate::flbb79 {

/// Numbers for values, by their bytes.
template <class T>
class numbering {
  static_assert(std::has_unique_object_representations_v<T>);

 public:
  std::uint32_t of(const T& value) {
    const auto [at, fresh] = numbers_.try_emplace(value, static_cast<std::uint32_t>(values_.size()));
    if (fresh) values_.push_back(&at->first);
    return at->second;
  }
  const T& operator[](std::uint32_t number) const { return *values_[number]; }
  std::size_t size() const { return values_.size(); }

 private:
  struct bytes {
    std::size_t operator()(const T& value) const {
      return std::hash<std::string_view>{}({reinterpret_cast<const char*>(&value), sizeof value});
    }
    bool operator()(const T& a, const T& b) const { return std::memcmp(&a, &b, sizeof a) == 0; }
  };
  std::unordered_map<T, std::uint32_t, bytes, bytes> numbers_;
  std::vector<const T*> values_;
};

/// How many requests of the supervisor wait for a worker: each is answered by one step, and the next needs a step of
/// the supervisor. The first is that of the buckets, or of a mutant of them.
template <class Value>
requires requires(const Value& v) { v.move; }
int requests_to_workers(const Value& v) { return v.move; }
inline int requests_to_workers(const fifo_value& v) {
  return static_cast<int>(std::count_if(v.talk.begin(), v.talk.end(), [](line at) {
    return at == line::call || at == line::want || at == line::down0 || at == line::down1 || at == line::cancel;
  }));
}

template <SupervisedSystem System, class Reading, int N>
class simulation_search {
 public:
  using rule = elimination<System, Reading>;
  using Local = typename rule::Local;
  using Supervisor = typename System::Supervisor;

  /// What was found, and how much of the lemma was at work.
  struct account {
    std::string wrong;  ///< empty if nothing is
    bool complete = false;
    std::size_t states = 0, values = 0;
    std::size_t distributed = 0;            ///< states with loccur = DIST
    std::size_t distributed_stages = 0;     ///< supervisor steps taken from DIST
    std::size_t handed_over = 0;            ///< steps by which a state was received through channels
    std::size_t quitters_holding = 0;       ///< states in which a quitter holds a slot
    std::size_t lonely_releases = 0;        ///< slots released for elig = D alone
    std::size_t states_in_memory = 0;       ///< of the supervisor, with one value and at most c1 trying: R7
    std::size_t next_states = 0;            ///< of the supervisor, from one state of it: R8
    std::size_t closest_to_standstill = N;  ///< the fewest trying processes whose steps were not in vain, others trying
  };

  /// `in_order`: C5' too.
  simulation_search(int l, int k, bool in_order = false) : l_(l), k_(k), in_order_(in_order), rule_(N, l, k) {}

  /// `passages` of each process; 0: without limit.
  account run(int passages, std::size_t states_max) {
    passages_ = passages;
    shared start{rule_.first_value(), rule_.system().first_supervisor()};
    state first{shared_.of(start), {}};
    first.local.fill(locals_.of(process{}));
    add(first);
    for (std::size_t at = 0; at < queue_.size() && account_.wrong.empty(); ++at) {
      if (queue_.size() > states_max) return finish(false);
      visit(queue_[at]);
    }
    return finish(account_.wrong.empty());
  }

 private:
  struct shared {
    typename rule::Value V;
    Supervisor x;
  };
  struct process {
    Local me;
    std::uint8_t passages = 0;
    std::uint8_t position = 0;  ///< among those that try and are not enabled, by arrival from 1; 0: none, or not wanted
  };
  struct state {
    std::uint32_t v;
    std::array<std::uint32_t, N> local;
    friend bool operator==(const state&, const state&) = default;
  };
  static constexpr std::uint32_t unused = ~0U;
  static std::size_t hash_of(const state& s) {
    std::uint64_t h = s.v;
    for (const std::uint32_t each : s.local) {
      h = (h ^ each) * 0x9e3779b97f4a7c15ULL;
      h ^= h >> 29;
    }
    return h;
  }

  account finish(bool complete) {
    account_.complete = complete;
    account_.states = queue_.size();
    account_.values = shared_.size();
    count_supervisors();
    return account_;
  }
  /// What R7 and R8 ask to be bounded, whatever N is, over the values and states that were met.
  void count_supervisors() {
    const System& system = rule_.system();
    numbering<typename System::Value> values;
    numbering<Supervisor> states;
    std::vector<std::set<std::uint32_t>> in_memory, next;
    const auto note = [](std::vector<std::set<std::uint32_t>>& all, std::uint32_t at, std::uint32_t one) {
      if (all.size() <= at) all.resize(at + 1);
      all[at].insert(one);
      return all[at].size();
    };
    for (std::uint32_t i = 0; i < shared_.size(); ++i) {
      const shared& v = shared_[i];
      const std::uint32_t x = states.of(v.x);
      if (system.active(v.V.v, v.x) <= system.c1())
        account_.states_in_memory = std::max(account_.states_in_memory, note(in_memory, values.of(v.V.v), x));
      const std::uint32_t then = states.of(system.newstate(v.x, system.transno(v.V.v, v.x)));
      account_.next_states = std::max(account_.next_states, note(next, x, then));
    }
  }
  /// Keeps s if it is new: an open hash table of positions in the queue.
  void add(state s) {
    std::sort(s.local.begin(), s.local.end());
    if (2 * queue_.size() >= met_.size()) {
      met_.assign(std::max<std::size_t>(1 << 16, 2 * met_.size()), unused);
      for (std::size_t i = 0; i < queue_.size(); ++i) met_[slot_of(queue_[i])] = static_cast<std::uint32_t>(i);
    }
    std::uint32_t& position = met_[slot_of(s)];
    if (position != unused) return;
    position = static_cast<std::uint32_t>(queue_.size());
    queue_.push_back(s);
  }
  /// Where s is in the table, or would be.
  std::size_t slot_of(const state& s) const {
    std::size_t at = hash_of(s) & (met_.size() - 1);
    while (met_[at] != unused && !(queue_[met_[at]] == s)) at = (at + 1) & (met_.size() - 1);
    return at;
  }
  void expect(bool good, const char* what) {
    if (!good && account_.wrong.empty()) account_.wrong = what;
  }
  static std::size_t slot(const Local& me) { return static_cast<std::size_t>(me.s - 1); }
  bool holds(const shared& v, const Local& me, slot_status status) const {
    return me.s != 0 && v.V.status[slot(me)] == status;
  }
  static bit_string encoded(const System& system, Supervisor x) {
    bit_coder coder;
    system.code(coder, x);
    return coder.bits();
  }

  void visit(const state s) {
    const shared v = shared_[s.v];
    check_state(v, s);
    std::size_t trying = 0, vain = 0;
    for (std::size_t p = 0; p < N && account_.wrong.empty(); ++p) {
      if (p > 0 && s.local[p] == s.local[p - 1]) {  // alike: the same step
        trying += last_trying_, vain += last_vain_;
        continue;
      }
      process before = locals_[s.local[p]];
      const region where = System::where(before.me.w);
      last_trying_ = where == region::entry, last_vain_ = 0;
      if (where == region::remainder && passages_ > 0 && before.passages == passages_) continue;
      const auto [next, changed] = step(v, s, p, before);
      if (where == region::entry && !changed) last_vain_ = 1;
      trying += last_trying_, vain += last_vain_;
      if (changed) add(next);
    }
    if (vain > 0) {
      expect(trying - vain >= static_cast<std::size_t>(k_), "S4: the supervisor stops");
      account_.closest_to_standstill = std::min(account_.closest_to_standstill, trying - vain);
    }
  }

  std::pair<state, bool> step(const shared& v, const state& s, std::size_t p, const process& before) {
    const System& system = rule_.system();
    const bool receiving = holds(v, before.me, slot_status::RECEIVE);
    const bool supervises =
        v.V.loccur == state_location::SHARE || (holds(v, before.me, slot_status::CURRENT) && v.V.stateholders == k_);
    shared after = v;
    process now = before;
    rule_.step(after.V, now.me);
    if (supervises) {
      expect((v.V.loccur == state_location::SHARE ? v.V.xs : before.me.x) == encoded(system, v.x), "S2: not its state");
      auto value = v.V.v;
      auto w = before.me.w;
      system.work(value, w);
      const int t = system.transno(value, v.x);
      expect(system.newval(value, v.x) == after.V.v, "S2: not its step");
      after.x = system.newstate(v.x, t);
      account_.distributed_stages += v.V.loccur == state_location::DIST;
    }
    account_.handed_over += receiving && holds(after, now.me, slot_status::CURRENT);
    classes(v, after, s, p, before, now, supervises);
    const region where = System::where(before.me.w);
    if (where != region::remainder && System::where(now.me.w) == region::remainder && passages_ > 0) ++now.passages;
    state next = s;
    next.v = shared_.of(after);
    next.local[p] = locals_.of(now);
    if (in_order_) order(v, after, next, p, where == region::remainder);
    const bool changed = supervises || !(next == s);
    if (changed && !supervises && where == System::where(now.me.w))
      expect(progress_of(v, before.me) < progress_of(after, now.me), "a stage may have no end");
    return {next, changed};
  }

  /// Can enter by its next step. That is enabled, since `order` holds that no other changes it.
  bool able(const shared& v, const process& one) const {
    if (System::where(one.me.w) != region::entry) return false;
    auto w = one.me.w;
    auto value = v.V.v;
    rule_.system().work(value, w);
    return System::where(w) == region::critical;
  }
  /// C5' over one step of process p, and the positions after it.
  void order(const shared& v, const shared& after, state& next, std::size_t p, bool arrives) {
    std::array<process, N> all;
    std::uint8_t last = 0, served = 0;
    for (std::size_t q = 0; q < N; ++q) {
      all[q] = locals_[next.local[q]];
      last = std::max(last, all[q].position);
      if (q != p) expect(!able(v, all[q]) || able(after, all[q]), "C5': enabled no longer");
    }
    if (arrives && System::where(all[p].me.w) == region::entry) all[p].position = static_cast<std::uint8_t>(last + 1);
    for (const process& one : all) served += one.position > 0 && able(after, one);
    for (process& one : all) {
      if (one.position == 0) continue;
      expect(able(after, one) == (one.position <= served), "C5': enabled out of turn");
      one.position = one.position <= served ? 0 : static_cast<std::uint8_t>(one.position - served);
    }
    for (std::size_t q = 0; q < N; ++q) next.local[q] = locals_.of(all[q]);
  }

  /// R1 for all processes over one step of process p, and how p came to release its slot.
  void classes(const shared& v, const shared& after, const state& s, std::size_t p, const process& before,
               const process& now, bool supervises) {
    const System& system = rule_.system();
    for (std::size_t q = 0; q < N; ++q) {
      const Local& other = locals_[s.local[q]].me;
      const eligibility was = system.elig(v.V.v, other.w);
      const eligibility is = system.elig(after.V.v, q == p ? now.me.w : other.w);
      const bool by_worker = q == p && was == eligibility::drone && is == eligibility::helper;  // it arrives
      const bool by_supervisor = supervises && ((was == eligibility::helper && is == eligibility::quitter) ||
                                                (was == eligibility::quitter && is == eligibility::drone));
      expect(was == is || by_worker || by_supervisor, "R1");
    }
    const bool released = before.me.s != 0 && now.me.s == 0;
    if (!released || system.elig(after.V.v, now.me.w) != eligibility::drone) return;
    // The status that the test of release_slot saw: that of after the supervisor's step, if there was one.
    const slot_status status = v.V.status[slot(before.me)];
    const bool dead = status == slot_status::DEAD ||
                      (supervises && (after.V.loccur == state_location::SHARE || status != slot_status::CURRENT));
    const bool previous = supervises ? status == slot_status::CURRENT : status == slot_status::PREVIOUS;
    account_.lonely_releases += !dead && !(previous && !before.me.prevhelper);
  }

  void check_state(const shared& v, const state& s) {
    const System& system = rule_.system();
    int inside = 0, trying = 0, helpers = 0, holders = 0;
    bool quitter_holds = false;
    std::array<int, slots_max> taken{};
    const bit_string x = encoded(system, v.x);
    for (const std::uint32_t number : s.local) {
      const Local& me = locals_[number].me;
      const region where = System::where(me.w);
      inside += where == region::critical;
      trying += where == region::entry;
      const eligibility mine = system.elig(v.V.v, me.w);
      helpers += mine == eligibility::helper;
      if (mine != eligibility::drone) {
        expect(where == region::entry, "R3");
        auto w = me.w;
        auto value = v.V.v;
        system.work(value, w);
        expect(System::where(w) != region::critical, "R4");
      }
      if (me.s == 0) continue;
      ++taken[slot(me)];
      quitter_holds |= mine == eligibility::quitter;
      if (v.V.loccur == state_location::DIST && v.V.status[slot(me)] == slot_status::CURRENT) {
        holders += mine == eligibility::helper;
        expect(me.x == x, "E2: a stateholder has another state");
      }
    }
    for (std::size_t t = 0; t < slots_max; ++t) expect(taken[t] == (v.V.status[t] != slot_status::FREE), "E1");
    if (v.V.loccur == state_location::SHARE)
      expect(v.V.xs == x, "E2: the shared state is another");
    else
      expect(holders == v.V.stateholders, "E2: not so many stateholders");
    expect(inside <= l_, "C1");
    expect(trying == system.active(v.V.v, v.x), "R5");
    expect(trying <= system.c1() || helpers >= 2 * k_ - 1, "R6");
    account_.distributed += v.V.loccur == state_location::DIST;
    account_.quitters_holding += quitter_holds;
  }

  /// Grows with every step of a process that changes anything, within a stage and a region.
  auto progress_of(const shared& v, const Local& me) const {
    int rank = 3;  // no slot
    if (me.s != 0) switch (v.V.status[slot(me)]) {
        case slot_status::FREE:
        case slot_status::DEAD:
          rank = 0;
          break;
        case slot_status::RECEIVE:
          rank = 4;
          break;
        case slot_status::PREVIOUS:
          rank = v.V.locprev == state_location::SHARE ? 5 : me.prevhelper ? 1 : 2;
          break;
        case slot_status::CURRENT:
          rank = 6;
          break;
      }
    int messages = 0;
    for (const std::uint8_t each : me.n) messages += each;
    if (me.s != 0)
      for (std::size_t t = 0; t < slots_max; ++t)
        messages += v.V.ch[slot(me)][t] == channel<Reading::message_bits>::DONE();
    const bool settled = me.prevhelper == (rule_.system().elig(v.V.v, me.w) == eligibility::helper);
    return std::tuple(-requests_to_workers(v.V.v), rank, messages, settled);
  }

  const int l_, k_;
  const bool in_order_;
  const rule rule_;
  int passages_ = 0;
  numbering<shared> shared_;
  numbering<process> locals_;
  std::deque<state> queue_;         ///< all states met, in the order in which they were
  std::vector<std::uint32_t> met_;  ///< positions in it, by hash
  std::size_t last_trying_ = 0, last_vain_ = 0;
  account account_;
};

}  // namespace kgate::flbb79
