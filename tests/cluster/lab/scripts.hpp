// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Clients of a simulated ensemble that enter, give up and resize, each in every order; generic over the recipe's text,
/// so that the same runs judge its mutants.

#include <memory>
#include <string>
#include <vector>

#include "checker/script_verdict.hpp"
#include "cluster/lab/simulated_client.hpp"

namespace kgate::lab {

enum class cluster_act : std::uint8_t {
  enter,
  enter_two,
  give_up,      ///< enters unless it would have to wait
  stay_inside,  ///< enters, and stays inside as long as a slot is free that another waits for: it must be given away
  stay,         ///< enters, and stays inside until every waiter that was dismissed has learnt of it
  enlarge,      ///< sets the size to one more than at first
  shrink,       ///< sets the size to one
  reduce,       ///< sets the size to one less than at first
  pause,        ///< pauses the gate for a while
  dismiss,      ///< removes the node of the first waiter of another client
  remove,       ///< removes the gate with all that is in it
  make          ///< makes another gate of that name if there is none, with one slot; from then on it knows that one
};

struct cluster_scripts {
  int clients = 2;
  int k = 1;
  int acts = 2;      ///< of each client
  int losses = 0;    ///< of answers, for each client
  int expiries = 0;  ///< of sessions, for each client
  int deaths = 0;    ///< in all
  int faulty = 3;    ///< how many clients lose answers and sessions; which ones does not matter, for all are alike
  std::vector<cluster_act> among{cluster_act::enter};
  std::vector<std::vector<cluster_act>> fixed{};  ///< what each client does instead, one after the other
  bool remembers = false;  ///< each client knows from one act to the next what a cluster_gate knows, at first of room
  bool own_listeners = false;  ///< of each request, as at a cluster_gate; else of each session (ensemble.hpp)
};

/// What a client has inside, shown to the invariant as its name.
struct inside_name {
  unsigned slots = 0, fence = 0, gate = 0;
  int packed() const { return static_cast<int>(slots | fence << 3 | gate << 11); }
  static inside_name of(int packed) {
    const auto bits = static_cast<unsigned>(packed);
    return {bits & 7U, bits >> 3 & 255U, bits >> 11};
  }
};

template <template <class> class Recipe>
class scripted_clients {
 public:
  using Process = checker_machine::Process;
  using outcome = detail::cluster::outcome;
  using client_type = simulated_client<ensemble>;

  scripted_clients(checker_machine::Memory& memory, const cluster_scripts& what)
      : what_(what),
        world_(memory, ensemble{.k = static_cast<std::uint8_t>(what.k),
                                .own_listeners = static_cast<std::uint8_t>(what.own_listeners)}),
        next_act_(memory, "next", static_cast<int>(what.among.size())) {}

  void perform(Process& p) const {
    const bool faulty = p.id().value < what_.faulty;
    script_position at{.losses = static_cast<std::uint8_t>(faulty ? what_.losses : 0),
                       .expiries = static_cast<std::uint8_t>(faulty ? what_.expiries : 0)};
    at.known = packed({what_.k, 0, 0, what_.remembers ? 1 : 0});
    const bool chooses = what_.fixed.empty();
    const auto& own = chooses ? what_.among : what_.fixed[static_cast<std::size_t>(p.id().value)];
    const int acts = chooses ? what_.acts : static_cast<int>(own.size());
    for (; at.acts < acts; ++at.acts) {
      p.begin_entry();
      p.live(at);
      const int chosen = !chooses ? at.acts : own.size() == 1 ? 0 : next_act_.read(p["choose"]);
      at.act = static_cast<std::uint8_t>(own[static_cast<std::size_t>(chosen)]);
      p.live(at);
      act(p, at);
      at.act = 0;
      p.live(at);
    }
    p.end_section();
  }

 private:
  void act(Process& p, script_position& at) const {
    const auto what = static_cast<cluster_act>(at.act);
    client_type client(world_, p, at, what == cluster_act::give_up);
    if (what == cluster_act::enlarge || what == cluster_act::shrink || what == cluster_act::reduce) {
      client.resize(what == cluster_act::enlarge ? what_.k + 1 : what == cluster_act::shrink ? 1 : what_.k - 1);
      return;
    }
    if (what == cluster_act::pause) return pause_for_a_while(client);
    if (what == cluster_act::dismiss) return dismiss(p, at, client);
    if (what == cluster_act::remove) {
      client.remove_gate();
      return;
    }
    if (what == cluster_act::make) {
      client.make_gate(1);
      return read_anew(p, at);
    }
    detail::cluster::gate_size known = unpacked(at.known);
    if (!what_.remembers) known.room = -1;
    Recipe<client_type> recipe(client, at.gate, known);
    const outcome how = recipe.acquire(what == cluster_act::enter_two ? 2 : 1);
    if (what_.remembers) at.known = packed(recipe.at().size);
    if (how == outcome::too_heavy && what != cluster_act::enter_two) {
      p.live(at);
      world_.E.rmw(p["refused"], [](ensemble e) {
        e.breaks(broken::refused);
        return e;
      });
    }
    if (how == outcome::removed) return read_anew(p, at);
    if (how != outcome::done) return;
    const auto mine = recipe.at();
    p.live(at, mine);
    p.enter_critical(inside_name{mine.slots.mask, mine.fence, at.gate}.packed());
    if (what == cluster_act::stay_inside)
      world_.E.await(p["linger"], [](const ensemble& e) {
        return e.waiting() == 0 || e.held() >= e.k || e.paused != 0 || e.removed();
      });
    if (what == cluster_act::stay) world_.E.await(p["stay"], [](const ensemble& e) { return e.dismissed == 0; });
    recipe.release();
  }

  static std::uint8_t packed(const detail::cluster::gate_size& s) {
    return static_cast<std::uint8_t>(s.slots | s.paused << 2 | s.room << 3 | s.version << 4);
  }
  static detail::cluster::gate_size unpacked(unsigned packed) {
    return {static_cast<int>(packed & 3), static_cast<int>(packed >> 4), static_cast<int>(packed >> 2 & 1),
            static_cast<int>(packed >> 3 & 1)};
  }

  /// For the next act it knows the gate that has the name now, if there is one.
  void read_anew(Process& p, script_position& at) const {
    p.live(at);
    const auto seen = world_.E.rmw_seeing(
        p["look"], [](ensemble e) { return e; },
        [](const ensemble& e) {
          return e.removed() ? 0U : static_cast<unsigned>(e.id << 8 | packed({e.k, e.version, e.paused, 0}));
        });
    if (seen == 0) return;
    at.gate = static_cast<std::uint8_t>(seen >> 8);
    at.known = static_cast<std::uint8_t>(seen);
  }

  static void pause_for_a_while(client_type& client) {
    for (const bool paused : {true, false}) {
      client.live(21, paused);
      while (client.pause(paused).is == detail::cluster::answer::unknown) client.live(22, paused);
    }
  }

  static void dismiss(Process& p, const script_position& at, client_type& client) {
    const auto queue = client.queue(at.gate);
    for (const client_type::waiter& w : queue.value)
      if (w.request.session != p.id().value) {
        client.live(20, w);
        client.remove_waiter(at.gate, w);
        return;
      }
  }

  cluster_scripts what_;
  mutable simulated_world<ensemble> world_;
  checker_machine::Choice next_act_;
};

/// What is wrong in a state; empty if nothing is.
inline std::string judge(const cluster_scripts& what, const state_view& s) {
  const auto e = from_bytes<ensemble>(s.value(0));
  switch (static_cast<broken>(e.fault)) {
    case broken::passed:
      return "a waiter was passed";
    case broken::beyond_k:
      return "more than k slots are held";
    case broken::herd:
      return "one change woke several waiters";
    case broken::full:
      return "there are more waiters than clients";
    case broken::not_below_k:
      return "a slot was granted that is not below k";
    case broken::while_paused:
      return "a slot was granted while the gate was paused";
    case broken::refused:
      return "a request was refused that is not heavier than the gate";
    case broken::unprepared:
      return "a client waits that has not looked since it was notified of a change";
    case broken::twice:
    case broken::local:
    case broken::nothing:
      break;
  }
  for (int p = 0; p < what.clients; ++p) {
    const bool out =
        s.where(p) == region::remainder || s.label(p) == "choose" || s.label(p) == "create" || s.label(p) == "look";
    if (out && !e.owns_nothing(static_cast<unsigned>(p))) return "a client that is out has left a node behind";
    if (s.where(p) != region::critical) continue;
    const inside_name mine = inside_name::of(s.name(p));
    if (!e.has(static_cast<std::uint8_t>(mine.gate))) continue;
    if (mine.slots == 0) return "a client is inside without a slot";
    for (unsigned i = 0; i < slots_max; ++i) {
      if ((mine.slots >> i & 1) == 0) continue;
      if (e.slots[i].request.session != p) return "a client is inside and its slot is not its own";
      if (e.slots[i].fence != mine.fence) return "a client is inside with a token that is not its slot's";
    }
  }
  return "";
}

template <template <class> class Recipe>
std::unique_ptr<model> make_scripted_clients(const cluster_scripts& what) {
  auto m = std::make_unique<model>();
  auto clients = std::make_shared<scripted_clients<Recipe>>(m->memory, what);
  m->algorithm = clients;
  m->object = {reinterpret_cast<const char*>(clients.get()), sizeof *clients};
  m->passage = [c = clients.get()](checker_machine::Process& p) { c->perform(p); };
  m->deaths = mortality{0, [](const std::string& value, int p) {
                          auto e = from_bytes<ensemble>(value);
                          e.expire(static_cast<unsigned>(p));
                          return to_bytes(e);
                        }};
  m->invariant = [what](const state_view& s) { return judge(what, s); };
  return m;
}

template <template <class> class Recipe>
script_verdict explore_clients(const cluster_scripts& what, std::uint64_t memory_max = std::uint64_t{5} << 30) {
  program p(make_scripted_clients<Recipe>(what), what.clients, what.k,
            program_options{.passages = 1, .wrong = {}, .deaths_max = what.deaths});
  return judge_scripts(p, "cluster scripts", what.clients, what.k, memory_max);
}

}  // namespace kgate::lab
