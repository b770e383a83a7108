// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Processes at a gate that perform any sequence of its operations, for the checker: which one comes next is a free
/// choice, so one exploration covers all scripts of a length. Generic over the protocol's text, so that the same runs
/// judge its mutants.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gate/lab/doze_cells.hpp"
#include "kgate/algorithms/gate_doze.hpp"
#include "kgate/algorithms/gate_short_path.hpp"
#include "kgate/algorithms/kgate_gate.hpp"
#include "lab/checker/model/machine.hpp"

namespace kgate::lab {

/// What a process may do next.
enum class gate_act : unsigned char {
  stop,         ///< nothing more
  enter,        ///< wait, be inside, leave
  enter_two,    ///< the same with two permits
  attempt,      ///< the same with one, unless it would have to wait
  give_up,      ///< the same with one, but give up once queued
  take_slot,    ///< enter with one permit and take a slot, leave
  touch,        ///< enter, be found alive by another process that takes over, leave
  enlarge,      ///< set the size to one more than at first
  shrink,       ///< set the size to what it was at first
  shrink_more,  ///< set the size to one
  rejoin,       ///< give the number back and take the first that is to be had
  retire,       ///< remove the gate by force
  pause,        ///< pause the gate, and resume it
  dismiss,      ///< end the passage of the member with the next number, if it waits
  stay_inside,  ///< enter, and stay inside as long as a permit is free that another waits for: it must be given away
  vanish,       ///< enter, and end inside: what a death there does
  give_up_end,  ///< as give_up, and end where it is about to wake one that was granted
  enlarge_end,  ///< as enlarge, and end when W has changed
  become,       ///< enter, say that it will end inside, and end: what --exec does
  end_queued    ///< enter, and end once queued
};

struct gate_scripts {
  int processes = 2;
  unsigned members = 2;  ///< numbers of the gate; processes beyond them begin by joining
  int k = 1;
  int acts = 2;           ///< of each process, at most
  int acts_of_first = 0;  ///< of the first one, if not 0
  unsigned overtakings = 0;
  bool short_paths = false;  ///< passages of one permit begin and end with those of gate_short_path.hpp, as shipped
  unsigned calls_most = 0;   ///< T of G12; 0: calls are not counted
  int passed_most = -1;      ///< of two processes: how often one may pass the other after it has called; -1: not asked
  std::vector<gate_act> among{gate_act::stop, gate_act::enter};
  /// Instead of a choice: what each process does, one after the other.
  std::vector<std::vector<gate_act>> each{};
  /// How many processes have begun their first passage: the first is inside, the others are queued behind it.
  unsigned arrived = 0;
  int dismissed = -1;  ///< the number that dismiss is about; -1: the next one
  dozes dozing = dozes::never;

  detail::gates::arrival first() const {
    detail::gates::arrival all;
    all.members = arrived;
    for (unsigned i = 0; i < arrived; ++i) all.weights[i] = each[i].front() == gate_act::enter_two ? 2 : 1;
    return all;
  }
};

/// What a process has to know between two operations, and nothing else.
struct script_position {
  std::uint64_t out = 0;    ///< its state when it is out
  std::uint64_t guess = 0;  ///< what it made of W (G11)
  std::uint8_t acts = 0;    ///< performed
  std::uint8_t number = 0;
  std::uint8_t joined = 0;
  std::uint8_t act = 0;     ///< what it is about
  std::uint8_t theirs = 0;  ///< if that is asked: the other one's passage when this one had called
  std::uint8_t looked = 0;  ///< of one that dozes: whether it has looked for dead holders (dozes::once_alone)
  std::uint16_t more = 0;
  friend bool operator==(const script_position&, const script_position&) = default;
};

/// The name a process has inside: the checker shows it to the invariant.
struct inside_name {
  int weight, number, slot;
  int passed = 0;  ///< how often the other one has, if that is asked
  int packed() const { return weight + 8 * number + 64 * (slot + 1) + 512 * passed; }
  static inside_name of(int packed) { return {packed % 8, packed / 8 % 8, packed / 64 % 8 - 1, packed / 512}; }
};

/// The cells of a process that may have to end in the middle of an operation.
class ending_cells : public dozing_cells<script_position> {
 public:
  using base = dozing_cells<script_position>;
  using Process = checker_machine::Process;
  struct ended {};

  ending_cells(detail::gates::machine_cells<checker_machine>& gate, Process& p, const script_position& at)
      : base(gate, p, at), gate_(gate), p_(p), act_(static_cast<gate_act>(at.act)), number_(at.number) {}

  void ring(unsigned i) {
    if (act_ == gate_act::give_up_end && i != number_) end();
    base::ring(i);
  }
  bool cas_word(detail::gates::word expected, detail::gates::word desired) {
    const bool done = base::cas_word(expected, desired);
    if (done && act_ == gate_act::enlarge_end) end();
    return done;
  }
  /// What the kernel does when the process ends.
  void vanish() {
    gate_.kernel.rmw(p_["vanish"], [me = static_cast<unsigned>(p_.id().value)](detail::gates::kernel_part all) {
      return all.without(me);
    });
  }
  [[noreturn]] void end() {
    vanish();
    throw ended{};
  }

 private:
  detail::gates::machine_cells<checker_machine>& gate_;
  Process& p_;
  gate_act act_;
  unsigned number_;
};

template <template <class> class Protocol, template <class> class ShortPath = detail::gates::short_path,
          template <class, class> class Dozing = detail::gates::dozing>
class scripted_gate {
 public:
  using Process = checker_machine::Process;
  using cells = ending_cells;
  using state = detail::gates::state;
  using kind = detail::gates::kind;
  using outcome = detail::gates::outcome;

  scripted_gate(checker_machine::Memory& memory, const gate_scripts& what)
      : what_(what),
        gate_(memory, what.members, what.k + 1, what.k, std::min(what.members, static_cast<unsigned>(what.processes)),
              what.overtakings, what.calls_most, what.first()),
        next_act_(memory, "next", static_cast<int>(what.among.size())),
        begun_(memory, {.name = "begun"}, 0),
        time_(memory, "time", 2) {}

  void perform(Process& p) const {
    script_position at;
    at.number = static_cast<std::uint8_t>(p.id().value);
    at.joined = static_cast<unsigned>(p.id().value) < what_.members ? 1 : 0;
    p.begin_entry();
    if (what_.arrived > 0) begin_in_turn(p);
    const int acts = acts_of(p.id().value);
    while (at.acts < acts) {
      p.live(at);
      at.act = static_cast<std::uint8_t>(next_act(p, at.acts));
      if (static_cast<gate_act>(at.act) == gate_act::stop) break;
      ++at.acts;
      p.live(at);
      p.begin_entry();
      cells c(gate_, p, at);
      Protocol<cells> gate(c);
      if (at.joined == 0 && !join(p, c, gate, at)) break;
      p.live(at);
      try {
        act(p, c, gate, at);
      } catch (const cells::ended&) {
        break;
      }
      if (what_.dozing == dozes::once_alone && at.acts == acts) c.vanish();
      at.act = 0;  // what it did is over: scripts that leave the same behind go on as one
      at.theirs = 0;
      p.live(at);
    }
    p.end_section();
  }

 private:
  /// Its first step, before which it is in its remainder for the checker, which may last for ever: so none begins
  /// before those that it may depend on.
  void begin_in_turn(Process& p) const {
    const int before = std::min(int{p.id().value}, static_cast<int>(what_.arrived));
    begun_.await(p["turn"], [before](int begun) { return begun >= before; });
    if (p.id().value < static_cast<int>(what_.arrived)) begun_.write(p["begin"], p.id().value + 1);
  }
  int acts_of(int process) const {
    if (!what_.each.empty()) return static_cast<int>(what_.each[static_cast<std::size_t>(process)].size());
    return process == 0 && what_.acts_of_first > 0 ? what_.acts_of_first : what_.acts;
  }
  gate_act next_act(Process& p, std::size_t done) const {
    if (!what_.each.empty()) return what_.each[static_cast<std::size_t>(p.id().value)][done];
    return what_.among[static_cast<std::size_t>(next_act_.read(p["choose"]))];
  }

  bool join(Process& p, cells& c, Protocol<cells>& gate, script_position& at) const {
    for (unsigned i = 0; i < what_.members; ++i) {
      p.live(at, i);
      state mine;
      const bool taken = c.call([&] { return take(gate, c, i, mine); });
      if (!taken) continue;
      at.out = mine_after(p, i);
      at.number = static_cast<std::uint8_t>(i);
      at.joined = 1;
      return true;
    }
    return false;
  }
  static bool take(Protocol<cells>& gate, cells& c, unsigned i, state& mine) { return gate.take_number(i, c, mine); }
  /// Its own number's state, which no other changes while it is out.
  std::uint64_t mine_after(Process& p, unsigned i) const { return gate_.states[i].read(p["own"]).at(kind::out).bits; }

  void act(Process& p, cells& c, Protocol<cells>& gate, script_position& at) const {
    switch (static_cast<gate_act>(at.act)) {
      case gate_act::enter:
      case gate_act::take_slot:
      case gate_act::touch:
      case gate_act::stay_inside:
      case gate_act::vanish:
      case gate_act::become:
      case gate_act::end_queued:
        return pass(p, c, gate, at, 1, true);
      case gate_act::enter_two:
        return pass(p, c, gate, at, 2, true);
      case gate_act::attempt:
        return pass(p, c, gate, at, 1, false);
      case gate_act::give_up:
      case gate_act::give_up_end:
        return pass(p, c, gate, at, 1, true);
      case gate_act::enlarge:
      case gate_act::enlarge_end:
        return resize(gate, at, what_.k + 1);
      case gate_act::shrink:
        return resize(gate, at, what_.k);
      case gate_act::shrink_more:
        return resize(gate, at, 1);
      case gate_act::rejoin:
        c.unlock(at.number);
        at.joined = 0;
        at.out = 0;
        at.guess = 0;
        at.number = 0;
        return;
      case gate_act::retire:
        gate.retire(true);
        return;
      case gate_act::pause:
        resize(gate, at, what_.k | detail::gates::limit::paused_flag);
        p.live(at);
        return resize(gate, at, what_.k);
      case gate_act::dismiss:
        return dismiss_next(p, c, gate, at);
      case gate_act::stop:
        return;
    }
  }

  void resize(Protocol<cells>& gate, script_position& at, int slots) const {
    at.guess = 0;
    at.out = state{at.out}.with_weight(slots).bits;
    gate.resize(at.number, state{at.out});
    at.out = state{at.out}.next_passage().bits;
  }

  void dismiss_next(Process& p, cells& c, Protocol<cells>& gate, script_position& at) const {
    const unsigned i = what_.dismissed >= 0 ? static_cast<unsigned>(what_.dismissed) : (at.number + 1U) % what_.members;
    const state theirs = c.state_of(i);
    if (theirs.where() != kind::waits) return;
    p.live(at, theirs);
    gate.dismiss_by(at.number, state{at.out}, i, theirs);
    at.out = state{at.out}.next_passage().bits;
  }

  void pass(Process& p, cells& c, Protocol<cells>& gate, script_position& at, int weight, bool may_queue) const {
    const unsigned number = at.number;
    ShortPath<cells&> short_path(c);
    const bool at_once = what_.short_paths && weight == 1 && short_path.enter(number, state{at.out}, at.guess);
    if (!at_once &&
        !(has_arrived(p, at) ? proceed(p, c, gate, at, weight) : enter_slowly(p, c, gate, at, weight, may_queue)))
      return;
    p.live(at);
    int slot = -1;
    const state in = state{at.out}.at(kind::in);
    const auto what = static_cast<gate_act>(at.act);
    if (what == gate_act::take_slot || what == gate_act::touch) at.guess = 0;
    if (what == gate_act::take_slot) slot = gate.take_slot(at.number, in, what_.k + 1);
    if (what == gate_act::touch) gate.touch(at.number, in);
    p.live(at, slot);
    int passed = 0;
    if (what_.passed_most >= 0 && !at_once) passed = other_passage(c, at) - at.theirs;
    p.live(at, slot, passed);
    p.enter_critical(inside_name{weight, at.number, slot, passed}.packed());
    if (what == gate_act::stay_inside)
      gate_.W.await(p["linger"], [](detail::gates::word w) {
        return w.free() < 1 || !w.waiting() || w.operation() == detail::gates::op::retired;
      });
    if (what == gate_act::become) Dozing<Protocol<cells>, cells>(gate, c).will_end(at.number);
    if (what == gate_act::vanish || what == gate_act::become) return c.vanish();
    if (what_.short_paths && short_path.leave(number, state{at.out}, at.guess)) {
      at.out = in.next_passage().bits;
      return;
    }
    at.guess = 0;
    detail::gates::word became{};
    gate.leave(at.number, in, became);
    at.out = in.next_passage().bits;
    keep_guess(at, became, weight);
    p.live(at, became.bits);
    if (became.waiting()) gate.hand_over(became);
  }

  /// Whether this is a passage that had begun before.
  bool has_arrived(const Process& p, const script_position& at) const {
    return at.acts == 1 && static_cast<unsigned>(p.id().value) < what_.arrived;
  }
  bool proceed(Process& p, cells& c, Protocol<cells>& gate, script_position& at, int weight) const {
    at.out = state{}.with_weight(weight).bits;
    return at.number == 0 || wait(p, c, gate, at);
  }

  bool enter_slowly(Process& p, cells& c, Protocol<cells>& gate, script_position& at, int weight,
                    bool may_queue) const {
    at.guess = 0;
    at.out = state{at.out}.with_weight(weight).bits;
    detail::gates::word became{};
    const outcome result = request(p, c, gate, at, may_queue, became);
    if (result == outcome::retired || result == outcome::refused) return false;
    if (result == outcome::queued) return wait(p, c, gate, at);
    keep_guess(at, became, weight);
    return true;
  }

  /// How many passages of the other of two processes are over.
  static std::uint8_t other_passage(cells& c, const script_position& at) {
    return static_cast<std::uint8_t>(c.state_of(1U - at.number).passage());
  }

  outcome request(Process& p, cells& c, Protocol<cells>& gate, script_position& at, bool may_queue,
                  detail::gates::word& became) const {
    if (!may_queue) return gate.attempt(at.number, state{at.out}, became);
    const std::uint32_t call = gate.call(at.number, state{at.out});
    p.live(at, call);
    if (what_.passed_most >= 0) at.theirs = other_passage(c, at);
    p.live(at, call);
    return gate.request(at.number, state{at.out}, call, became);
  }

  void keep_guess(script_position& at, detail::gates::word made, int weight) const {
    if (what_.short_paths) at.guess = detail::gates::guess_after(made, weight);
  }

  /// In the queue until granted: true; or refused, retired or given up.
  bool wait(Process& p, cells& c, Protocol<cells>& gate, script_position& at) const {
    const auto what = static_cast<gate_act>(at.act);
    if (what == gate_act::end_queued) c.end();
    c.gives_up = what == gate_act::give_up || what == gate_act::give_up_end;
    const bool over = doze(p, c, gate, at) || gate.wait(at.number);
    p.live(at, over);
    const state now = over ? c.state_of(at.number) : state{at.out}.at(kind::waits);
    bool inside = now.where() == kind::in;
    if (now.where() == kind::waits) {
      p.live(at);
      inside = gate.abandon(at.number) == outcome::entered;
    }
    if (!inside) at.out = state{at.out}.next_passage().bits;
    return inside;
  }

  bool doze(Process& p, cells& c, Protocol<cells>& gate, script_position& at) const {
    if (what_.dozing == dozes::never) return false;
    c.begin_to_doze(what_.dozing, time_, at.looked);
    const bool inside =
        Dozing<Protocol<cells>, cells>(gate, c).doze_while_it_moves(at.number, state{at.out}.at(kind::in));
    p.live(at, inside);
    return inside;
  }

  gate_scripts what_;
  mutable detail::gates::machine_cells<checker_machine> gate_;
  checker_machine::Choice next_act_;
  mutable checker_machine::Var<int> begun_;  ///< of those that have arrived, how many have made a step
  checker_machine::Choice time_;             ///< whether it is over
};

/// What is wrong with the queue (G9), given the states with W's effect applied.
inline std::string judge_queue(detail::gates::word w, detail::gates::link ends,
                               const std::array<detail::gates::link, 8>& links,
                               const std::array<detail::gates::state, 8>& states, unsigned members) {
  using namespace detail::gates;
  const bool moves = w.operation() == op::enqueue || w.operation() == op::grant || w.operation() == op::abandon;
  if (moves && ends.seq() != w.seq())
    return w.operation() == op::grant && ends.before() != w.subject() ? "a waiter was passed" : "";
  if (w.operation() == op::enqueue && ends.behind() != w.subject()) return "a newcomer is not the last of the queue";
  unsigned seen = 0, before = no_member;
  for (unsigned i = ends.before(); i != no_member; before = i, i = links[i].behind()) {
    if (i >= members || (seen >> i & 1) != 0) return "the queue is no list (G9)";
    if (links[i].before() != before) return "the queue is not the same from both ends (G9)";
    if (states[i].where() != kind::waits) return "one in the queue does not wait (G9)";
    seen |= 1U << i;
  }
  if (ends.behind() != before) return "the queue does not end with its last (G9)";
  for (unsigned i = 0; i < members; ++i)
    if (states[i].where() == kind::waits && (seen >> i & 1) == 0) return "one that waits is not in the queue (G9)";
  return "";
}

/// What is wrong in a state of a gate; empty if nothing is. Counts the effect of W's operation as applied.
inline std::string judge_gate(const gate_scripts& what, const state_view& s) {
  using namespace detail::gates;
  const auto w = from_bytes<word>(s.value(0));
  const auto size = from_bytes<limit>(s.value(1));
  const auto kernel = from_bytes<kernel_part>(s.value(2));
  if (w.operation() == op::retired) return "";
  std::array<state, 8> states{};
  std::array<link, 8> links{};
  const auto ends = from_bytes<link>(s.value(static_cast<int>(3 + 2 * what.members)));
  int inside = 0, queued = 0;
  for (unsigned i = 0; i < what.members; ++i) {
    states[i] = from_bytes<state>(s.value(static_cast<int>(3 + i)));
    links[i] = from_bytes<link>(s.value(static_cast<int>(3 + what.members + i)));
    if (i == w.subject()) states[i] = effect(w.operation(), states[i]);
    inside += states[i].where() == kind::in ? states[i].weight() : 0;
    queued += states[i].where() == kind::waits ? 1 : 0;
  }
  const limit current = size.lacks(w) ? limit::of(states[w.subject()].weight(), 0) : size;
  const int k = current.slots();
  if (k != what.k && k != what.k + 1 && k != 1) return "the gate has a size that nobody set";
  if (w.free() + inside != current.permits()) return "free permits and those inside do not add up to k (G3)";
  if (w.waiting() != (queued > 0)) return "W does not say whether somebody waits (G4)";
  if ((w.operation() == op::enter || w.operation() == op::grant) && w.free() < 0)
    return "somebody was let in although there was no room";
  if (w.operation() == op::enter && w.waiting() && what.overtakings == 0) return "a newcomer passed the queue";
  if (w.operation() == op::enter && w.closed()) return "a newcomer passed a queue that is closed";
  if (const std::string wrong = judge_queue(w, ends, links, states, what.members); !wrong.empty()) return wrong;
  unsigned slots = 0;
  for (int p = 0; p < what.processes; ++p) {
    if (s.where(p) != region::critical) continue;
    const inside_name me = inside_name::of(s.name(p));
    if (kernel.holder(static_cast<unsigned>(me.number)) != static_cast<unsigned>(p))
      return "a process is inside with a number that is not its own";
    const state mine = states[static_cast<std::size_t>(me.number)];
    if (mine.where() != kind::in || mine.weight() != me.weight)
      return "a process is inside and the gate does not know it";
    if (what.passed_most >= 0 && me.passed > what.passed_most) return "one that had called was passed too often (G12)";
    if (me.slot < 0) continue;
    if ((slots >> me.slot & 1) != 0) return "two inside have the same slot";
    slots |= 1U << me.slot;
  }
  return "";
}

template <template <class> class Protocol, template <class> class ShortPath = detail::gates::short_path,
          template <class, class> class Dozing = detail::gates::dozing>
std::unique_ptr<model> make_scripted_gate(const gate_scripts& what) {
  auto m = std::make_unique<model>();
  auto gate = std::make_shared<scripted_gate<Protocol, ShortPath, Dozing>>(m->memory, what);
  m->algorithm = gate;
  m->object = {reinterpret_cast<const char*>(gate.get()), sizeof *gate};
  m->passage = [g = gate.get()](checker_machine::Process& p) { g->perform(p); };
  m->deaths =
      mortality{2, [](const std::string& locks, int p) {
                  return to_bytes(from_bytes<detail::gates::kernel_part>(locks).without(static_cast<unsigned>(p)));
                }};
  m->invariant = [what](const state_view& s) { return judge_gate(what, s); };
  return m;
}

}  // namespace kgate::lab
