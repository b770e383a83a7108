// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Members of a gate that perform scripts, one schedule of them, and what must be true after every step of it.
///
/// Generic over the protocol's text (Protocol<Cells>), so that the same runs judge its mutants.

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "explored_cells.hpp"

namespace kgate::explored {

/// What a member does in one operation of its script.
enum class doing : unsigned char {
  enter,      ///< wait, be inside for a step, leave
  attempt,    ///< the same, unless it would have to wait
  give_up,    ///< the same, but a member that is queued gives up at once
  take_slot,  ///< enter, take a slot, leave
  touch,      ///< enter, be found alive again (the command of a wrapper takes over the lock), leave
  resize,
  rejoin  ///< give the number back and take it again
};

struct act {
  doing what = doing::enter;
  int amount = 1;  ///< weight or size
};

using script = std::vector<act>;

inline std::string text_of(const script& acts) {
  static constexpr const char* names[] = {"enter", "attempt", "give_up", "take_slot", "touch", "resize", "rejoin"};
  std::string text;
  for (const act& a : acts)
    text += (text.empty() ? "" : ", ") + std::string(names[static_cast<int>(a.what)]) + " " + std::to_string(a.amount);
  return "{" + text + "}";
}

struct setup {
  int k;
  std::vector<script> scripts;
  unsigned overtakings = 0;
  cells::fault broken = cells::fault::none;
};

/// At the steps in `switches` the next process takes over, at those in `deaths` the running one dies, and at those in `births`
/// a new process takes over the number of a dead one and performs the rest of its script.
struct schedule {
  std::vector<std::size_t> switches;
  std::vector<std::size_t> deaths;
  std::vector<std::size_t> births;
};

inline std::string text_of(const schedule& s) {
  std::string text;
  const auto add = [&](const char* what, const std::vector<std::size_t>& steps) {
    text += what;
    for (const std::size_t step : steps) text += " " + std::to_string(step);
  };
  add("; switches at", s.switches);
  add(", deaths at", s.deaths);
  add(", births at", s.births);
  return text;
}

struct verdict {
  bool good = true;
  std::size_t steps = 0;
  std::string text;
};

template <template <class> class Protocol>
class run {
 public:
  static constexpr std::size_t steps_max = 20'000;

  explicit run(const setup& given)
      : given_(given), n_(static_cast<unsigned>(given.scripts.size())), world_(given.k, n_), members_(n_), k_(given.k) {
    world_.memory.break_it(given.broken);
    world_.memory.set_overtakings(given.overtakings);
    for (unsigned i = 0; i < n_; ++i) members_[i].process = world_.add([this, i] { perform(i); });
    seen_ = world_.memory.peek();
  }

  verdict play(const schedule& s) {
    unsigned now = 0;
    std::size_t since_switch = 0;
    while (out_.good && out_.steps < steps_max && !all_done()) {
      if (contains(s.births, out_.steps)) give_birth();
      // Fair in the end: nobody waits by spinning for ever.
      if (contains(s.switches, out_.steps) || since_switch > 150 || !runnable(now)) {
        do now = (now + 1) % n_;
        while (!runnable(now));
        since_switch = 0;
      }
      world_.step(members_[now].process);
      ++since_switch;
      if (contains(s.deaths, out_.steps)) kill(now);
      ++out_.steps;
      check_change();
      check_state();
    }
    if (out_.steps >= steps_max) fail("somebody never gets in");
    if (out_.good) check_end();
    return out_;
  }

 private:
  struct member {
    unsigned process = 0;
    std::size_t at = 0;  ///< in its script
    state out{};         ///< its own state when it is out
    int inside = 0;      ///< permits it believes to have
    int slot = -1;
    bool joined = true;  ///< its number is its own: nobody has to heal the one that had it before
  };

  static bool contains(const std::vector<std::size_t>& steps, std::size_t step) {
    return std::find(steps.begin(), steps.end(), step) != steps.end();
  }
  bool runnable(unsigned i) const { return !world_.finished(members_[i].process) && !dead(i); }
  bool dead(unsigned i) const { return std::find(dead_.begin(), dead_.end(), i) != dead_.end(); }
  bool all_done() const {
    for (unsigned i = 0; i < n_; ++i)
      if (runnable(i)) return false;
    return true;
  }
  void fail(const char* what) {
    if (out_.good) out_.text = std::string(what) + " at step " + std::to_string(out_.steps);
    out_.good = false;
  }

  void kill(unsigned i) {
    world_.memory.die(i);
    members_[i].inside = 0;
    members_[i].slot = -1;
    members_[i].joined = false;
    dead_.push_back(i);
  }
  void give_birth() {
    if (dead_.empty()) return;
    const unsigned i = dead_.front();
    dead_.pop_front();
    ++members_[i].at;
    members_[i].process = world_.add([this, i] {
      take_number(i);
      perform(i);
    });
  }
  /// As the library joins: the dead member is healed without its lock, then the number is taken and looked at once more.
  void take_number(unsigned i) {
    for (;;) {
      if (world_.memory.state_of(i).where() != kind::out && !protocol_.heal(i)) continue;
      world_.yield();
      world_.memory.take_over(i);
      protocol_.load_and_help();
      members_[i].out = world_.memory.state_of(i);
      members_[i].joined = members_[i].out.where() == kind::out;
      if (members_[i].joined) return;
      world_.yield();
      world_.memory.die(i);
    }
  }

  void perform(unsigned i) {
    for (member& me = members_[i]; me.at < given_.scripts[i].size(); ++me.at) perform(i, given_.scripts[i][me.at]);
  }
  void perform(unsigned i, act a) {
    switch (a.what) {
      case doing::resize:
        members_[i].out = members_[i].out.with_weight(a.amount);
        protocol_.resize(i, members_[i].out);
        protocol_.advance();
        return;
      case doing::rejoin:
        world_.yield();
        world_.memory.die(i);
        members_[i].joined = false;
        take_number(i);
        return;
      default:
        if (enter(i, a)) be_inside(i, a);
    }
  }
  bool enter(unsigned i, act a) {
    state& out = members_[i].out;
    out = out.with_weight(a.amount);
    word became;
    auto result = protocol_.request(i, out, a.what != doing::attempt, became);
    using outcome = decltype(result);
    if (result == outcome::refused) return false;
    if (result == outcome::queued && a.what == doing::give_up) {
      result = protocol_.abandon(i);
      if (result != outcome::entered) {
        out = out.next_passage();
        protocol_.advance();
        return false;
      }
    }
    if (result == outcome::entered) return true;
    for (;;) {
      const state now = world_.memory.state_of(i);
      if (now == out.at(kind::in)) return true;
      if (now == out.next_passage()) {  // refused
        out = now;
        return false;
      }
      if (now != out.at(kind::waits)) fail("a state that nobody wrote");
      protocol_.load_and_help();
      for (unsigned j = 0; j < n_; ++j)
        if (j != i && !world_.memory.is_alive(j)) protocol_.heal(j);
      protocol_.advance();
    }
  }
  void be_inside(unsigned i, act a) {
    member& me = members_[i];
    me.inside = a.amount;
    if (a.what == doing::take_slot) {
      me.slot = protocol_.take_slot(i, me.out.at(kind::in), 8);
      if (me.slot < 0) fail("no slot for one inside");
    }
    if (a.what == doing::touch && !protocol_.touch(i, me.out.at(kind::in))) fail("the living was healed");
    world_.yield();
    me.inside = 0;
    me.slot = -1;
    word became;
    protocol_.leave(i, me.out.at(kind::in), became);
    me.out = me.out.next_passage();
    if (became.waiting()) protocol_.hand_over();
  }

  /// Order and sizes, which each change of W decides.
  void check_change() {
    const word w = world_.memory.peek();
    if (w == seen_) return;
    seen_ = w;
    const unsigned i = w.subject();
    const bool entered = w.operation() == op::enter || w.operation() == op::grant;
    if (entered && w.free() < 0) fail("let in above the size");
    if (w.operation() == op::enqueue) queue_.push_back(i);
    if (w.operation() == op::enter && given_.overtakings == 0 && !queue_.empty()) fail("passed the queue");
    if (w.operation() == op::grant) {
      if (queue_.empty() || queue_.front() != i) return fail("granted out of order");
      queue_.pop_front();
    }
    if (w.operation() == op::abandon) {
      queue_.erase(std::remove(queue_.begin(), queue_.end(), i), queue_.end());
      const act a = given_.scripts[i][members_[i].at];
      if (members_[i].joined && a.what != doing::give_up && a.amount <= k_) fail("refused one that fits");
    }
    if (w.operation() == op::resize) k_ = given_.scripts[i][members_[i].at].amount;
  }
  void check_state() {
    int inside = 0;
    for (unsigned i = 0; i < n_; ++i) {
      const member& m = members_[i];
      inside += m.inside;
      for (unsigned j = 0; j < i; ++j)
        if (m.slot >= 0 && m.slot == members_[j].slot) fail("two with one slot");
    }
    if (inside > world_.memory.permits_inside()) fail("inside without a permit");
    if (world_.memory.k() != k_) fail("not the size that was set");
    if (!world_.memory.sound()) fail("the counts do not fit (G3, G4)");
  }
  /// Whoever comes later heals the rest, and finds every permit.
  void check_end() {
    bool whole = false;
    const unsigned last = world_.add([&] {
      for (unsigned i = 0; i < n_; ++i)
        if (!world_.memory.is_alive(i)) protocol_.heal(i);
      protocol_.advance();
      protocol_.load_and_help();
      whole = true;
    });
    for (int guard = 0; guard < 10'000 && world_.step(last); ++guard) {
    }
    check_state();
    if (!whole || world_.memory.permits_inside() != 0 || world_.memory.peek().free() != k_) fail("a permit is lost");
  }

  setup given_;
  unsigned n_;
  world world_;
  Protocol<cells> protocol_{world_.memory};
  std::vector<member> members_;
  std::deque<unsigned> dead_;
  std::deque<unsigned> queue_;
  word seen_;
  int k_;
  verdict out_;
};

template <template <class> class Protocol>
verdict play(const setup& given, const schedule& s) {
  run<Protocol> one(given);
  verdict v = one.play(s);
  if (v.good) return v;
  for (const script& acts : given.scripts) v.text += " " + text_of(acts);
  v.text += ", k = " + std::to_string(given.k) + text_of(s);
  return v;
}

}  // namespace kgate::explored
