// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Hosts with a lessor and jobs each, and clients of the ensemble itself, in every order; generic over the texts.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "checker/script_verdict.hpp"
#include "cluster/lab/hosts.hpp"
#include "cluster/lab/simulated_client.hpp"
#include "kgate/algorithms/cluster_lease.hpp"

namespace kgate::lab {

struct lease_scripts {
  int hosts = 2;
  int jobs = 1;    ///< of each host
  int direct = 0;  ///< clients without a lease
  int resize = 0;  ///< what the direct clients do instead of entering: set k; -1: remove the gate; -2: drain it and
                   ///< resume; -3: give the local gate another size, 2
  int k = 1;
  int passages = 1;        ///< of each job and each direct client
  int losses = 0;          ///< of answers, for each lessor
  int expiries = 0;        ///< of sessions, for each lessor
  int deaths = 0;          ///< in all
  bool successor = false;  ///< another lessor takes the place of host 0's when that has died
  bool idles = true;       ///< slots that are not used go back by themselves
  bool insists = false;    ///< a job goes on as long as another host waits
  bool any_order = false;  ///< that a waiter is passed does not count
  bool shrinks = false;    ///< the direct client first sets k to 1
  bool remakes = false;    ///< the direct client first removes the gate, and makes another one of its name

  int lessors() const { return hosts + (successor ? 1 : 0); }
  int sessions() const { return lessors() + direct; }
  int processes() const { return sessions() + hosts * jobs; }
  bool is_job(int p) const { return p >= sessions(); }
  unsigned host_of(int p) const {
    if (p < hosts) return static_cast<unsigned>(p);
    return p < sessions() ? 0 : static_cast<unsigned>((p - sessions()) % hosts);
  }
  std::uint8_t job_of(int p) const { return static_cast<std::uint8_t>((p - sessions()) / hosts); }
};

/// A lessor of the simulated ensemble.
class simulated_host : public simulated_client<host_world> {
 public:
  using base = simulated_client<host_world>;
  using local_slot = detail::cluster::local_slot<slot_set, token>;
  using local_view = detail::cluster::local_view;
  struct local_slots {
    std::array<local_slot, local_slots_max> all{};
    std::uint8_t used = 1;
    local_slot& operator[](std::size_t i) { return all[i]; }
    std::size_t size() const { return used; }
    void resize(std::size_t n) { used = static_cast<std::uint8_t>(n); }
    const local_slot* begin() const { return all.data(); }
    const local_slot* end() const { return all.data() + used; }
    local_slot* begin() { return all.data(); }
    local_slot* end() { return all.data() + used; }
  };
  using books = detail::cluster::lease_books<local_slots>;

  simulated_host(simulated_world<host_world>& world, Process& p, script_position& at, const lease_scripts& what,
                 unsigned host)
      : base(world, p, at, false), what_(what), host_(host) {
    mine.at.used = static_cast<std::uint8_t>(what.k);
  }

  books mine;

  void next_request() { at_.acts ^= 1; }
  answered<bool> anybody_waits(gate_id gate) {
    const reply r = read("anybody", [me = session(), gate](ensemble& e) {
      e.forget(me);
      if (!e.has(gate)) return reply{answer::no_node};
      bool others = false;
      for (unsigned i = 0; i < e.waiting(); ++i) others = others || e.queue[i].request.session != me;
      e.queue_watchers |= ensemble::bit(me);
      return reply{answer::ok, others ? 1U : 0U};
    });
    return {r.is, r.value != 0};
  }
  local_view local() {
    const std::uint32_t seen = world_.E.rmw_seeing(
        p_["local"],
        [h = host_, slots = mine.at.used](host_world w) {
          local_gate& g = w.host[h];
          if (g.taken < slots) g.taken = nobody_there;
          if (g.size != slots && !g.put_right(slots)) w.breaks(broken::local);
          return w;
        },
        [h = host_, what = what_, slots = mine.at.used](const host_world& w) {
          return view_of(w.host[h], what, slots);
        });
    last_ = seen;
    return unpacked(seen);
  }
  void request_slot() {
    change("request slot", [](local_gate& g) { return g.enter(the_lessor); });
  }
  void lend(int i, const slot_set& slots, token fence) {
    change("lend", [i, slots, fence](local_gate& g) {
      g.entry[static_cast<unsigned>(i)] = {static_cast<std::uint8_t>(slots.mask), static_cast<std::uint8_t>(fence),
                                           g.epoch};
      return g.holder[static_cast<unsigned>(i)] == the_lessor;
    });
  }
  void open(int i) {
    change("open", [i](local_gate& g) {
      return g.holder[static_cast<unsigned>(i)] == the_lessor && g.leave(static_cast<unsigned>(i));
    });
  }
  void withdraw(int i) {
    change("withdraw", [i](local_gate& g) {
      g.entry[static_cast<unsigned>(i)] = {};
      return g.holder[static_cast<unsigned>(i)] == the_lessor;
    });
  }
  void grow(int slots) {
    change("grow", [slots](local_gate& g) {
      g.size = static_cast<std::uint8_t>(slots);
      return g.advance();
    });
  }
  void forfeit() {
    change("forfeit", [](local_gate& g) {
      ++g.epoch;
      g.valid = 0;
      return true;
    });
  }
  bool renew() {
    change("renew", [](local_gate& g) {
      g.valid = 1;
      return true;
    });
    return true;
  }
  void close() {
    change("close", [](local_gate& g) {
      g.closed = 1;
      return true;
    });
  }
  detail::cluster::event wait() {
    carry_out_pending(false);
    if (at_.expiries > 0 && world_.one_of_two.read(p_["fate"]) == 1) {
      expire();
      return detail::cluster::event::expired;
    }
    return await_something([h = host_, what = what_, slots = mine.at.used, last = last_](const host_world& w) {
      return view_of(w.host[h], what, slots) != last;
    });
  }
  template <class... T>
  void live(int point, const T&... values) {
    if (point == 20) last_ = 0;
    p_.live(point, values..., at_, packed(mine), last_);
  }

 private:
  static std::array<std::uint8_t, 14> packed(const books& b) {
    std::array<std::uint8_t, 14> out{};
    for (std::size_t i = 0; i < local_slots_max; ++i) {
      const local_slot& one = b.at.all[i];
      out[3 * i] = one.is;
      out[3 * i + 1] = static_cast<std::uint8_t>(one.slots.mask);
      out[3 * i + 2] = static_cast<std::uint8_t>(one.fence);
    }
    out[6] = b.queued;
    out[7] = b.slot_requested;
    out[8] = b.closed;
    out[9] = static_cast<std::uint8_t>(b.owed);
    out[10] = b.at.used;
    out[11] = b.watching;
    out[12] = b.others_wait;
    out[13] = static_cast<std::uint8_t>(b.slots);
    return out;
  }
  static std::uint32_t view_of(const local_gate& g, const lease_scripts& what, std::uint8_t slots) {
    return (g.taken < slots ? g.taken : nobody_there) | (g.size != slots ? 1U << 8 : 0U) |
           static_cast<std::uint32_t>(g.wanted()) << 3 | (what.idles && g.lends_an_unused_slot() ? 1U << 6 : 0U) |
           (g.all_ended(what.jobs) ? 1U << 7 : 0U);
  }
  static local_view unpacked(std::uint32_t seen) {
    const int taken = static_cast<int>(seen & 7U);
    return {taken == nobody_there ? -1 : taken, static_cast<int>(seen >> 3 & 7U), (seen >> 6 & 1U) != 0, true,
            (seen >> 7 & 1U) != 0};
  }
  template <class F>
  void change(const char* label, F&& f) {
    world_.E.rmw_seeing(
        p_[label],
        [f, h = host_](host_world w) {
          if (!f(w.host[h])) w.breaks(broken::local);
          return w;
        },
        [](const host_world&) { return 0; });
  }

  lease_scripts what_;
  unsigned host_;
  std::uint32_t last_ = 0;
};

/// A job at the local gate.
class simulated_job {
 public:
  using Process = checker_machine::Process;
  struct lent {
    std::uint8_t slots = 0, fence = 0, epoch = 0, epoch_now = 0;
  };
  simulated_job(simulated_world<host_world>& world, Process& p, unsigned host, std::uint8_t number, int& passages)
      : world_(world), p_(p), host_(host), number_(number), passages_(passages) {}

  detail::cluster::outcome enter() {
    change("enter", [n = number_](local_gate& g) { return g.enter(n); });
    world_.E.await(p_["queue"],
                   [h = host_, n = number_](const host_world& w) { return w.host[h].slot_of(n) != nobody_there; });
    return detail::cluster::outcome::done;
  }
  bool valid() {
    return was_valid = read_gate("valid", [](const local_gate& g) { return g.valid; }) != 0;
  }
  bool was_valid = false;  ///< as it was read last
  lent entry() {
    const std::uint32_t seen = read_gate("entry", [n = number_](const local_gate& g) {
      const lent_entry& there = g.entry[g.slot_of(n)];
      if (g.closed != 0) return 0U;
      return static_cast<std::uint32_t>(there.slots | there.fence << 3 | there.epoch << 11 | g.epoch << 15);
    });
    return {static_cast<std::uint8_t>(seen & 7U), static_cast<std::uint8_t>(seen >> 3 & 255U),
            static_cast<std::uint8_t>(seen >> 11 & 15U), static_cast<std::uint8_t>(seen >> 15 & 15U)};
  }
  void leave() {
    change("leave", [n = number_](local_gate& g) { return g.leave(g.slot_of(n)); });
  }
  bool served() {
    return read_gate("served", [](const local_gate& g) { return g.alive != 0 && g.closed == 0 ? 1U : 0U; }) != 0;
  }
  template <class... T>
  void live(int point, const T&... values) {
    p_.live(point, values..., passages_);
  }

 private:
  template <class F>
  void change(const char* label, F&& f) {
    world_.E.rmw_seeing(
        p_[label],
        [f, h = host_](host_world w) {
          if (!f(w.host[h])) w.breaks(broken::local);
          return w;
        },
        [](const host_world&) { return 0; });
  }
  template <class F>
  std::uint32_t read_gate(const char* label, F&& f) {
    return world_.E.rmw_seeing(
        p_[label], [](host_world w) { return w; },
        [f, h = host_](const host_world& w) { return static_cast<std::uint32_t>(f(w.host[h])); });
  }

  simulated_world<host_world>& world_;
  Process& p_;
  unsigned host_;
  std::uint8_t number_;
  int& passages_;
};

/// What a job has inside, shown to the invariant as its name.
struct lent_name {
  unsigned slots = 0, fence = 0, epoch = 0;
  bool valid = true;  ///< when it got in
  int packed() const { return static_cast<int>(slots | fence << 3 | epoch << 11 | (valid ? 1U << 15 : 0U)); }
  static lent_name of(int packed) {
    const auto bits = static_cast<unsigned>(packed);
    return {bits & 7U, bits >> 3 & 255U, bits >> 11 & 15U, (bits >> 15 & 1U) != 0};
  }
};

template <template <class> class Lessor, template <class> class Passage>
class leased_hosts {
 public:
  using Process = checker_machine::Process;

  leased_hosts(checker_machine::Memory& memory, const lease_scripts& what) : what_(what), world_(memory, first(what)) {}

  void perform(Process& p) const {
    p.begin_entry();
    p.live();
    const int number = p.id().value;
    if (number < what_.hosts)
      begin(p, what_.host_of(number));
    else if (number < what_.lessors())
      succeed(p);
    else if (number < what_.sessions())
      enter_directly(p);
    else
      pass(p, what_.host_of(number), what_.job_of(number));
    p.live();
    p.end_section();
  }

 private:
  static host_world first(const lease_scripts& what) {
    host_world w;
    w.counts_grants = 1;
    w.any_order = what.any_order ? 1 : 0;
    w.k = static_cast<std::uint8_t>(what.k);
    for (unsigned h = 0; h < hosts_max; ++h) {
      w.host[h].size = w.k;
      w.host[h].session = static_cast<std::uint8_t>(h);
    }
    return w;
  }
  /// `keeps_all`: it has all slots of the local gate; else it has to collect them.
  void lease(Process& p, unsigned host, bool keeps_all) const {
    script_position at{.losses = static_cast<std::uint8_t>(what_.losses),
                       .expiries = static_cast<std::uint8_t>(what_.expiries)};
    simulated_host client(world_, p, at, what_, host);
    for (auto& one : client.mine.at)
      one.is = keeps_all ? simulated_host::local_slot::kept : simulated_host::local_slot::out;
    p.enter_critical(0);  // it waits for jobs, which may never come: that is no deadlock
    Lessor<simulated_host>(client, at.gate, {what_.k, 0}).serve();
    p.live(55);
    world_.E.rmw_seeing(
        p["turn away"],
        [host](host_world w) {
          w.host[host].closed = 1;
          w.host[host].forget(the_lessor);
          return w;
        },
        [](const host_world&) { return 0; });
  }
  void begin(Process& p, unsigned host) const {
    world_.E.rmw_seeing(
        p["begin"],
        [host, k = what_.k](host_world w) {
          w.host[host].alive = 1;
          w.host[host].valid = 1;
          w.host[host].size = static_cast<std::uint8_t>(k);
          std::fill_n(w.host[host].holder.begin(), k, the_lessor);
          return w;
        },
        [](const host_world&) { return 0; });
    p.live(54);
    lease(p, host, true);
  }
  /// A lessor that finds what another one left.
  void succeed(Process& p) const {
    p.enter_critical(0);
    world_.E.await(p["succeed"], [jobs = what_.jobs](const host_world& w) {
      return w.host[0].died != 0 || w.host[0].all_ended(jobs);
    });
    const auto begun = world_.E.rmw_seeing(
        p["begin"],
        [me = p.id().value](host_world w) {
          local_gate& g = w.host[0];
          if (g.alive != 0 || g.died == 0) return w;
          g.alive = 1;
          g.session = static_cast<std::uint8_t>(me);
          ++g.epoch;
          g.valid = 1;
          return w;
        },
        [](const host_world& w) { return w.host[0].alive != 0 || w.host[0].died == 0 ? 0U : 1U; });
    p.live(50, begun);
    if (begun != 0) lease(p, 0, false);
  }
  void drain_and_resume(Process& p, const script_position& at, simulated_client<host_world>& client) const {
    client.pause(true);
    p.live(51, at);
    world_.E.await(p["drain"], [](const host_world& w) { return w.held() == 0; });
    p.live(52, at);
    client.pause(false);
  }
  void resize_local(Process& p) const {
    world_.E.rmw_seeing(
        p["resize local"],
        [](host_world w) {
          w.host[0].size = local_slots_max;
          w.host[0].advance();
          return w;
        },
        [](const host_world&) { return 0; });
  }
  void enter_directly(Process& p) const {
    script_position at{};
    if (what_.remakes) {
      simulated_client<host_world> client(world_, p, at, false);
      client.remove_gate();
      p.live(at);
      client.make_gate(what_.k);
      at.gate = 2;
    }
    if (what_.shrinks) {
      simulated_client<host_world>(world_, p, at, false).resize(1);
      p.live(at, 1);
    }
    for (; at.acts < what_.passages; ++at.acts) {
      p.live(at);
      simulated_client<host_world> client(world_, p, at, false);
      if (what_.resize != 0) {
        if (what_.resize > 0)
          client.resize(what_.resize);
        else if (what_.resize == -1)
          client.remove_gate();
        else if (what_.resize == -3)
          resize_local(p);
        else
          drain_and_resume(p, at, client);
        continue;
      }
      detail::cluster::recipe<simulated_client<host_world>> recipe(client, at.gate, {what_.k, 0});
      if (recipe.acquire(1) != detail::cluster::outcome::done) return;
      const auto mine = recipe.at();
      p.live(at, mine);
      p.enter_critical(lent_name{mine.slots.mask, mine.fence, 0, true}.packed());
      recipe.release();
      p.begin_entry();
    }
  }
  void pass(Process& p, unsigned host, std::uint8_t number) const {
    int passages = 0;
    simulated_job job(world_, p, host, number, passages);
    Passage<simulated_job> passage(job);
    bool more = job.served();
    while (more) {
      typename simulated_job::lent mine;
      p.live(passages);
      if (passage.enter(mine) != detail::cluster::outcome::done) break;
      const bool valid = job.was_valid && mine.epoch == mine.epoch_now;
      p.live(passages, mine, valid);
      p.enter_critical(lent_name{mine.slots, mine.fence, mine.epoch, valid}.packed());
      job.leave();
      p.begin_entry();
      passages = std::min(passages + 1, what_.passages);
      more = passages < what_.passages;
      p.live(passages, more);
      if (what_.insists && !more)
        more = world_.E.rmw_seeing(
                   p["insist"], [](host_world w) { return w; },
                   [host](const host_world& w) {
                     for (unsigned i = 0; i < w.waiting(); ++i)
                       if (w.queue[i].request.session != w.host[host].session) return 1;
                     return 0;
                   }) != 0;
      p.live(passages, more);
    }
    p.live(51);
    world_.E.rmw_seeing(
        p["end"],
        [host, number](host_world w) {
          w.host[host].end(number);
          return w;
        },
        [](const host_world&) { return 0; });
  }
  lease_scripts what_;
  mutable simulated_world<host_world> world_;
};

/// What is wrong in a state; empty if nothing is.
inline std::string judge(const lease_scripts& what, const state_view& s) {
  const auto w = from_bytes<host_world>(s.value(0));
  if (w.fault != 0)
    return static_cast<broken>(w.fault) == broken::local
               ? "a local slot was used by one that does not hold it, or too many passed"
           : static_cast<broken>(w.fault) == broken::passed ? "a waiter was passed"
           : static_cast<broken>(w.fault) == broken::twice  ? "a host was granted slots twice while another one waited"
                                                            : "the ensemble's gate is broken";
  unsigned inside = 0;
  for (int p = what.lessors(); p < what.processes(); ++p) {
    if (s.where(p) != region::critical) continue;
    const lent_name mine = lent_name::of(s.name(p));
    const bool of_the_next = what.remakes && !what.is_job(p);
    if (!w.has(of_the_next ? 2 : 1)) continue;  // it stays inside a gate that no other sees
    if (!mine.valid) return "one has got in though the time was over";
    unsigned session = static_cast<unsigned>(p);
    if (what.is_job(p)) {
      const local_gate& g = w.host[what.host_of(p)];
      if (g.valid == 0 || g.epoch != mine.epoch) continue;  // it knows that it has lost its slot
      session = g.session;
    }
    for (unsigned i = 0; i < slots_max; ++i) {
      if ((mine.slots >> i & 1) == 0) continue;
      if (w.slots[i].request.session != session) return "one is inside, and its slot is not its host's";
      if (w.slots[i].fence != mine.fence) return "one is inside with a token that is not its slot's";
    }
    if ((inside & mine.slots) != 0) return "two are inside with the same slot";
    inside |= mine.slots;
  }
  for (int p = 0; p < what.hosts; ++p)
    if (s.where(p) == region::remainder && !w.owns_nothing(static_cast<unsigned>(p)) &&
        w.host[what.host_of(p)].died == 0)
      return "a lessor that has ended has left a node behind";
  return "";
}

template <template <class> class Lessor, template <class> class Passage>
std::unique_ptr<model> make_leased_hosts(const lease_scripts& what) {
  auto m = std::make_unique<model>();
  auto hosts = std::make_shared<leased_hosts<Lessor, Passage>>(m->memory, what);
  m->algorithm = hosts;
  m->object = {reinterpret_cast<const char*>(hosts.get()), sizeof *hosts};
  m->passage = [c = hosts.get()](checker_machine::Process& p) { c->perform(p); };
  m->deaths = mortality{0, [what](const std::string& value, int p) {
                          auto w = from_bytes<host_world>(value);
                          local_gate& g = w.host[what.host_of(p)];
                          if (what.is_job(p)) {
                            g.forget(what.job_of(p));
                            g.end(what.job_of(p));
                          } else if (p < what.lessors() && g.session == p) {
                            g.alive = 0;
                            g.died = 1;
                            g.taken = nobody_there;
                            g.passed = 0;
                            g.forget(the_lessor);
                            w.dead_sessions |= ensemble::bit(static_cast<unsigned>(p));
                          } else if (p < what.sessions()) {
                            w.expire(static_cast<unsigned>(p));
                          }
                          return to_bytes(w);
                        }};
  m->invariant = [what](const state_view& s) { return judge(what, s); };
  return m;
}

template <template <class> class Lessor, template <class> class Passage>
script_verdict explore_hosts(const lease_scripts& what, std::uint64_t memory_max = std::uint64_t{2} << 30) {
  program p(make_leased_hosts<Lessor, Passage>(what), what.processes(), what.k,
            program_options{.passages = 1, .wrong = {}, .deaths_max = what.deaths});
  return judge_scripts(p, "leases", what.processes(), what.k, memory_max);
}

}  // namespace kgate::lab
