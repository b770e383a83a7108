// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One session of the simulated ensemble, as the recipe sees it. Each request has a fate, which is a free choice as
/// long as the session has any left to draw: it is answered, its answer is lost, or the session expires. A write whose
/// answer was lost stays pending; it is carried out at any moment until the session's next write or sync, or never.

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>

#include "cluster/lab/ensemble.hpp"
#include "lab/checker/model/machine.hpp"

namespace kgate::lab {

/// What a client has to know between two requests besides the recipe's own variables.
struct script_position {
  std::uint8_t acts = 0;  ///< performed
  std::uint8_t act = 0;
  std::uint8_t losses = 0;    ///< answers that may still get lost
  std::uint8_t expiries = 0;  ///< sessions that may still expire
  std::uint8_t pending = 0;
  std::uint8_t known = 0;  ///< the gate_size that it begins with: k, and bits for its room and version
  std::uint8_t gate = 1;   ///< the id of the gate that it knows
  friend bool operator==(const script_position&, const script_position&) = default;
};

/// What all clients share: an ensemble, and perhaps more.
template <class World>
struct simulated_world {
  simulated_world(checker_machine::Memory& memory, const World& initial)
      : E(memory, {.name = "E"}, initial), one_of_two(memory, "fate", 2) {
    E.allow_ways(4);
  }

  checker_machine::Var<World> E;
  checker_machine::Choice one_of_two;
};

template <class World>
class simulated_client {
 public:
  using Process = checker_machine::Process;
  template <class T>
  using answered = detail::cluster::answered<T>;

  struct waiter {
    request_name request{};
    short_sequence sequence{};
    friend bool operator==(const waiter&, const waiter&) = default;
  };
  struct waiter_list {
    std::array<waiter, waiters_max> nodes{};
    unsigned size = 0;
    const waiter* begin() const { return nodes.data(); }
    const waiter* end() const { return nodes.data() + size; }
  };
  struct slot_set {
    std::uint16_t mask = 0;  // a passage has no padding then
    static slot_set only(int slot) { return {static_cast<std::uint16_t>(1U << slot)}; }
    bool has(slot_set one) const { return (mask & one.mask) != 0; }
    int count() const { return std::popcount(mask); }
    int count_below(int k) const { return std::popcount(mask & ((1U << k) - 1)); }
    slot_set lowest_free(int weight) const {
      unsigned chosen = 0;
      for (unsigned i = 0; weight > 0; ++i)
        if ((mask >> i & 1) == 0) {
          chosen |= 1U << i;
          --weight;
        }
      return {static_cast<std::uint8_t>(chosen)};
    }
    bool below(int k) const { return mask < 1U << k; }
    slot_set take_one() {
      const unsigned lowest = mask & ~(mask - 1U);
      mask = static_cast<std::uint16_t>(mask - lowest);
      return {static_cast<std::uint8_t>(lowest)};
    }
  };
  using token = std::uint32_t;
  using gate_id = std::uint8_t;  ///< 0: whichever gate has the name
  struct holding {
    request_name request{};
    token fence = 0;
  };

  simulated_client(simulated_world<World>& world, Process& p, script_position& at, bool gives_up)
      : world_(world), p_(p), at_(at), gives_up_(gives_up) {}

  request_name request() const { return {session(), number()}; }

  answered<waiter> enqueue(gate_id gate) {
    const reply r = write("create", {.kind = write_request::enqueue, .number = number(), .gate = gate});
    return {r.is, {request(), short_sequence::wrapped(static_cast<int>(r.value) - 8)}};
  }
  answered<waiter_list> queue(gate_id gate) {
    const reply r = read("list q", [me = session(), gate](ensemble& e) {
      e.forget(me);
      e.dismissed &= static_cast<std::uint8_t>(~ensemble::bit(me));
      if (!e.has(gate)) return reply{answer::no_node};
      std::uint32_t packed = 0;
      for (unsigned i = waiters_max; i-- > 0;) {
        const waiter_node& w = e.queue[i];
        packed = packed << 7 | w.request.session | (w.request.number & 1U) << 2 |
                 static_cast<std::uint32_t>(w.sequence.value + 8) << 3;
      }
      return reply{answer::ok, packed};
    });
    answered<waiter_list> list{r.is, {}};
    for (std::uint32_t packed = r.value; list.value.size < waiters_max && (packed & 3) != no_session; packed >>= 7)
      list.value.nodes[list.value.size++] = {
          {static_cast<std::uint8_t>(packed & 3), static_cast<std::uint8_t>(packed >> 2 & 1)},
          short_sequence::wrapped(static_cast<int>(packed >> 3 & 15) - 8)};
    return list;
  }
  answered<bool> watch_waiter(gate_id gate, const waiter& w) {
    const reply r = read("watch", [me = session(), gate, sequence = w.sequence](ensemble& e) {
      const unsigned position = e.has(gate) ? e.position_of(sequence) : waiters_max;
      if (position == waiters_max) return reply{answer::no_node};
      e.queue[position].watchers |= ensemble::bit(me);
      return reply{};
    });
    return {r.is, true};
  }
  answered<slot_set> slots(gate_id gate, bool watched) {
    const reply r = read("list s", [me = session(), gate, watched](ensemble& e) {
      if (watched) e.forget(me);
      if (!e.has(gate)) return reply{answer::no_node};
      if (watched) e.slot_watchers |= ensemble::bit(me);
      return reply{answer::ok, e.held_mask()};
    });
    return {r.is, {static_cast<std::uint8_t>(r.value)}};
  }
  answered<detail::cluster::gate_size> size(gate_id gate) {
    const reply r = read("size", [me = session(), gate](ensemble& e) {
      if (e.removed()) return reply{answer::no_node};
      e.size_watchers |= ensemble::bit(me);
      if (!e.has(gate)) return reply{answer::no_node};
      return reply{answer::ok, e.k + 8U * e.paused + 16U * e.version};
    });
    return {r.is,
            {static_cast<std::int32_t>(r.value % 8), static_cast<std::int32_t>(r.value / 16),
             static_cast<std::int32_t>(r.value / 8 % 2)}};
  }
  answered<token> grant(gate_id gate, const waiter& me, slot_set chosen, std::int32_t version) {
    const reply r = write("grant", {.kind = write_request::grant,
                                    .number = number(),
                                    .sequence = me.sequence,
                                    .slots = static_cast<std::uint8_t>(chosen.mask),
                                    .version = static_cast<std::int8_t>(version),
                                    .gate = gate});
    return {r.is, static_cast<token>(r.value)};
  }
  answered<bool> remove_waiter(gate_id gate, const waiter& me) {
    return {write("delete q", {.kind = write_request::remove_waiter, .sequence = me.sequence, .gate = gate}).is, true};
  }
  answered<holding> holder(gate_id gate, slot_set chosen) {
    const reply r = read("holder", [gate, chosen](ensemble& e) {
      if (!e.has(gate)) return reply{answer::no_node};
      for (unsigned i = 0; i < slots_max; ++i)
        if ((chosen.mask >> i & 1) != 0) {
          const slot_node& s = e.slots[i];
          if (s.request.session == no_session) return reply{answer::no_node};
          return reply{answer::ok, s.request.session + 4U * s.request.number + 16U * s.fence};
        }
      return reply{answer::no_node};
    });
    return {r.is,
            {{static_cast<std::uint8_t>(r.value % 4), static_cast<std::uint8_t>(r.value / 4 % 4)},
             static_cast<token>(r.value / 16)}};
  }
  answered<bool> free(gate_id gate, slot_set chosen) {
    return {write("free",
                  {.kind = write_request::free_slots, .slots = static_cast<std::uint8_t>(chosen.mask), .gate = gate})
                .is,
            true};
  }
  answered<bool> sync() {
    const reply r = request_step("sync", true, [](ensemble&) { return reply{}; }, {});
    return {r.is, true};
  }
  answered<bool> resize(int k) {
    return {write("resize", {.kind = write_request::resize, .slots = static_cast<std::uint8_t>(k)}).is, true};
  }
  answered<bool> pause(bool paused) {
    return {write("pause", {.kind = write_request::pause, .slots = static_cast<std::uint8_t>(paused)}).is, true};
  }

  answered<bool> remove_gate() { return {write("remove", {.kind = write_request::remove}).is, true}; }
  answered<bool> make_gate(int k) {
    return {write("make", {.kind = write_request::make, .slots = static_cast<std::uint8_t>(k)}).is, true};
  }

  bool reconnect() const { return true; }
  /// A while is over at any moment.
  detail::cluster::event wait(bool briefly) {
    if (gives_up_) return detail::cluster::event::given_up;
    if constexpr (!std::is_same_v<World, ensemble>) {
      if (!briefly) await_something([](const World&) { return false; });
      briefly = true;
    }
    constexpr std::uint32_t late = 1U << 16, expired = 1U << 17;
    for (;;) {
      const fates possible = fates_of(false);
      const std::uint32_t seen = world_.E.await_choosing(
          p_["wait"], possible.count,
          [me = session(), briefly](const World& e) { return briefly || (e.fired >> me & 1) != 0 || !e.may_wait(me); },
          [me = session(), possible](World e, int way) {
            if (possible.all[static_cast<std::size_t>(way)] == fate::expires) e.expire(me);
            if (possible.all[static_cast<std::size_t>(way)] == fate::late) e.carry_out(me);
            if (possible.all[static_cast<std::size_t>(way)] != fate::answered) return e;
            if (!e.may_wait(me)) e.breaks(broken::unprepared);
            if ((e.fired >> me & 1) != 0) e.see_events(me);
            return e;
          },
          [me = session(), possible](const World& e, int way) {
            if (possible.all[static_cast<std::size_t>(way)] == fate::expires) return expired;
            if (possible.all[static_cast<std::size_t>(way)] == fate::late) return late;
            return static_cast<std::uint32_t>(e.granted[me]) << 1 | (e.fired >> me & 1U);
          });
      if (seen == late) {
        at_.pending = 0;
        live_again();
        continue;
      }
      if (seen == expired) {
        at_.expiries = at_.pending = 0;
        return detail::cluster::event::expired;
      }
      if ((seen & 1U) == 0) return detail::cluster::event::elapsed;
      granted_ = short_sequence::wrapped(static_cast<int>(seen >> 1) - 9);
      return seen >> 1 != 0 ? detail::cluster::event::granted : detail::cluster::event::changed;
    }
  }
  short_sequence granted() const { return granted_; }
  template <class... T>
  void live(int point, const T&... values) {
    lives_ = to_bytes(point);
    ((lives_ += to_bytes(values)), ...);
    live_again();
  }

 protected:
  /// What becomes of a request: answered; lost, the answer; expires, the session; late: nothing yet, and an earlier
  /// request whose answer was lost is carried out.
  enum class fate : std::uint8_t { answered, lost, expires, late };
  struct fates {
    std::array<fate, 4> all{};
    int count = 0;
  };
  static constexpr std::uint32_t reply_late = 6;  // beside the numbers of answers
  static_assert(static_cast<std::uint32_t>(answer::expired) < reply_late);

  /// One step with its fate: one that chooses first and makes the request later does nothing that others could see
  /// between.
  fates fates_of(bool has_answer) const {
    fates out;
    const auto add = [&](fate one) { out.all[static_cast<std::size_t>(out.count++)] = one; };
    add(fate::answered);
    if (has_answer && at_.losses > 0) add(fate::lost);
    if (at_.expiries > 0) add(fate::expires);
    if (at_.pending != 0) add(fate::late);
    return out;
  }
  /// What still matters, where the recipe said so last; the position may have changed since.
  void live_again() {
    if (lives_.empty()) return;
    live_value all(0);
    all.bytes = lives_ + to_bytes(at_);
    p_.live(all);
  }

  /// Of the request: the name of the last but one is free again.
  std::uint8_t number() const { return at_.acts & 1U; }
  std::uint8_t session() const { return static_cast<std::uint8_t>(p_.id().value); }

  /// Until a watch has fired, or something else comes. While one waits time passes: sessions of the dead end.
  template <class F>
  detail::cluster::event await_something(F&& else_comes) {
    const auto fired = [me = session()](const World& e) { return (e.fired >> me & 1) != 0; };
    if constexpr (std::is_same_v<World, ensemble>) {
      world_.E.await(p_["wait"], fired);
      return detail::cluster::event::changed;
    }
    const auto comes = [fired, else_comes](const World& e) { return fired(e) || else_comes(e); };
    int seen = 0;
    {
      [[maybe_unused]] auto frame = p_.frame();
      while (seen == 0) {
        p_.live(seen);
        world_.E.await(p_["wait"], [comes](const World& e) { return comes(e) || e.dead_sessions != 0; });
        seen = world_.E.rmw_seeing(
            p_["time is over"],
            [comes](World e) {
              if (comes(e)) return e;
              for (unsigned s = 0; s < sessions_max; ++s)
                if ((e.dead_sessions >> s & 1) != 0) e.expire(s);
              e.dead_sessions = 0;
              return e;
            },
            [fired, comes](const World& e) { return fired(e)   ? 2
                                                    : comes(e) ? 1
                                                               : 0; });
      }
    }
    p_.observed(static_cast<std::uint32_t>(seen));
    return seen == 2 ? detail::cluster::event::changed : detail::cluster::event::local;
  }
  /// The session goes, and the client opens another one when it goes on. A client that has not learnt of it yet looks
  /// like a slow one.
  void expire() {
    at_.expiries = 0;
    at_.pending = 0;
    world_.E.rmw_seeing(
        p_["expire"],
        [me = session()](World e) {
          e.expire(me);
          return e;
        },
        [](const World&) { return 0; });
  }
  /// What the lost request does before the next one: it is carried out, or not (yet).
  void carry_out_pending(bool last_moment) {
    if (at_.pending == 0) return;
    const bool now = world_.one_of_two.read(p_["pending"]) == 1;
    if (now || last_moment) at_.pending = 0;
    if (!now && !last_moment) return;
    world_.E.rmw_seeing(
        p_[now ? "late" : "never"],
        [me = session(), now](World e) {
          const write_request w = e.pending[me];
          e.pending[me] = {};
          if (now) e.commit(me, w);
          return e;
        },
        [](const World&) { return 0; });
  }
  template <class F>
  reply request_step(const char* label, bool orders, F&& f, const write_request& sent) {
    for (;;) {
      const fates possible = fates_of(true);
      const std::uint32_t packed = world_.E.rmw_choosing(
          p_[label], possible.count,
          [me = session(), f, orders, sent, possible](World e, int way) {
            switch (possible.all[static_cast<std::size_t>(way)]) {
              case fate::answered:
                if (orders) e.pending[me] = {};
                f(e);
                break;
              case fate::lost:
                if (sent.kind != write_request::none) e.pending[me] = sent;
                break;
              case fate::expires:
                e.expire(me);
                break;
              case fate::late:
                e.carry_out(me);
            }
            return e;
          },
          [f, possible](World e, int way) {
            switch (possible.all[static_cast<std::size_t>(way)]) {
              case fate::answered: {
                const reply r = f(e);
                return static_cast<std::uint32_t>(r.is) | r.value << 3;
              }
              case fate::lost:
                return static_cast<std::uint32_t>(answer::unknown);
              case fate::expires:
                return static_cast<std::uint32_t>(answer::expired);
              case fate::late:
                break;
            }
            return reply_late;
          });
      if (packed == reply_late) {
        at_.pending = 0;
        live_again();
        continue;
      }
      const reply r{static_cast<answer>(packed & 7), packed >> 3};
      if (r.is == answer::unknown) --at_.losses;
      if (r.is == answer::unknown && sent.kind != write_request::none) at_.pending = 1;
      if (r.is != answer::unknown && orders) at_.pending = 0;
      if (r.is == answer::expired) at_.expiries = at_.pending = 0;
      return r;
    }
  }
  template <class F>
  reply read(const char* label, F&& f) {
    return request_step(label, false, f, {});
  }
  reply write(const char* label, const write_request& sent) {
    return request_step(
        label, true, [me = session(), sent](ensemble& e) { return e.commit(me, sent); }, sent);
  }

  simulated_world<World>& world_;
  Process& p_;
  script_position& at_;
  bool gives_up_;
  short_sequence granted_{};  ///< as the last wait has shown
  std::string lives_;
};

}  // namespace kgate::lab
