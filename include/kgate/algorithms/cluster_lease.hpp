// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Host leases: one session for each host leases slots of a gate between machines, and lends them to the jobs of the
/// host through a gate of that machine.
///
/// Source       ours. The lessor is an ordinary client of cluster_recipe.hpp towards the ensemble, and an ordinary
///              member of a local gate (gate_protocol.hpp) towards its jobs.
/// Promises     a job that is inside, and whose lease is valid, has a slot that its host's session holds, and no other
///              such job has it, on any host; FIFO among the jobs of a host; every job is served as long as its lessor
///              lives; what a job or a lessor that dies had becomes free. Between hosts: while a request of one host
///              waits, every other host is granted at most one, and a host that the head of the queue waits for gives
///              back half of its slots, at least one, when its turn is over: each of these slots after at most the jobs
///              that queued at the host's gate before the lessor did. A passage of a job costs no request to the
///              ensemble.
/// Variables    local gate   as many slots as the gate between machines: each is held by the lessor (kept), or lent
///                           to jobs, or out: what a lost lease left, with jobs inside that have not ended yet
///              entry[i]     of local slot i: the slot of the ensemble that it stands for, its token and its epoch;
///                           no token: nothing is lent there
///              epoch        grows with every session of the host
///              valid        until when the session lasts even if nothing more is heard of the ensemble
/// Invariants   L1  An entry is written only by a lessor that holds its local slot: before the slot is opened to jobs,
///                  and emptied before the slot of the ensemble is given back.
///              L2  A slot of the ensemble is given back only by a lessor that holds the local slot it was lent to: no
///                  job is inside.
///              L3  A job believes an entry of the present epoch, while the lease is valid; it reads the time first,
///                  so that it is not the time of a later epoch. So it does not matter that the slots of a dead lessor
///                  go to jobs: the entries there are empty.
///              L4  A lessor that holds slots waits only after it has watched the queue; and it gives back if another
///                  is the head. It asks for its own slots at the local gate as a job does, in order, so that jobs
///                  cannot keep it out.
///              L5  It also watches the size of the gate, and gives back everything if one of its slots is not below
///                  it, or if the gate is paused.
///              L6  A job believes the entries only inside the very local gate that the lessor holds: which one that is
///                  stands beside them. Another gate of its name is not the lease's. A lessor whose local gate is gone
///                  lends nothing any more.
///              L7  Others may resize the local gate. A local slot beyond those that the lessor has books for has no
///                  entry; the lessor leaves it when it is given one, and gives the local gate its size back.
///              L8  A lessor that ends while it has lent slots ends their lease first (another epoch); its session goes
///                  when those inside have left, or by its time.
///              L9  A lessor that has lent as many slots as the gate has is not in the queue: as the head of it it
///                  would not see that others wait.
/// Deviations   none
/// Memory model entries, epoch and time are sequentially consistent
/// Evidence     tests/cluster/lab/lease_test.cpp (hosts, jobs and a simulated ensemble, exhaustively, with lost
///              answers, expiries and deaths; mutants); L6 and L8: tests/cluster/lease_library_test.cpp, on a server
///
/// Host is a Client of the recipe with one request at a time, and besides
///   mine                  lease_books: what the lessor has to know between two steps
///   next_request()        no step: the requests from now on have another name
///   anybody_waits(g)      whether q has a waiter of another session, with a watch on q; forgets the events so far
///   local()               what the local gate needs: a local_view
///   request_slot()        queues for one slot of the local gate; local() tells when it is taken
///   lend(i, slots, t)     writes entry[i]
///   open(i)               leaves local slot i
///   withdraw(i)           empties entry[i]
///   grow(n)               gives the local gate n slots
///   forfeit()             the session is gone: another epoch, nothing is valid
///   renew()               another session; false if there is to be none
///   close()               tells jobs that nothing will be lent any more
///   wait()                also returns, with `local`, when local() would say something new

#include <cstdint>
#include <utility>

#include "kgate/algorithms/cluster_recipe.hpp"

namespace kgate::detail::cluster {

template <class Host>
class lessor {
 public:
  using slot = typename Host::local_slot;
  using request_text = recipe<Host>;

  lessor(Host& host, typename Host::gate_id gate, gate_size size) : c(host), request_(host, std::move(gate), size) {
    c.mine.slots = size.slots;
  }

  /// Until it is asked to end, and none is inside.
  outcome serve() {
    for (;;) {
      c.live(20, request_.at());
      const local_view local = c.local();
      const bool ending = local.ending || c.mine.closed;
      outcome how = outcome::done;
      if (local.taken >= 0)
        how = collect(local.taken);
      else if (ending && c.mine.queued)
        how = withdraw_request();
      else if (ending && c.mine.count(slot::kept) == static_cast<int>(c.mine.at.size()))
        return outcome::done;
      else if (!ending && !c.mine.queued && local.wanted > 0 && c.mine.count(slot::kept) > 0 && !has_all())  // L9
        how = request_more();
      else
        how = attend(local, ending);
      if (how == outcome::removed) how = find_removal();
      if (how == outcome::lost && !forfeit()) return outcome::lost;
    }
  }

 private:
  bool has_all() const { return c.mine.count(slot::lent) >= c.mine.slots; }

  /// The local slot i was given to the lessor: what was lent there goes back to the ensemble (L2).
  outcome collect(int i) {
    c.mine.slot_requested = false;
    slot& there = c.mine.at[static_cast<std::size_t>(i)];
    const slot lent = there;
    there = slot{slot::kept, {}, {}};
    if (lent.is != slot::lent) return outcome::done;
    if (c.mine.owed > 0) --c.mine.owed;
    c.live(21, request_.at(), i, lent.slots, lent.fence);
    c.withdraw(i);  // L1
    return request_.give_back(lent.slots, lent.fence);
  }

  outcome withdraw_request() {
    c.mine.queued = c.mine.watching = false;
    const outcome how = request_.leave_queue(outcome::given_up);
    return how == outcome::lost ? how : outcome::done;
  }

  outcome request_more() {
    c.mine.watching = false;
    c.next_request();
    const outcome how = request_.join();
    c.mine.queued = how == outcome::done;
    return how;
  }

  /// Takes what the ensemble has for it; gives back what others wait for; waits if there is nothing to do.
  outcome attend(const local_view& local, bool ending) {
    if (!c.mine.watching && !c.mine.closed) {
      const outcome how = read_ensemble(local);
      if (how != outcome::done || !c.mine.watching) return how;
    }
    const int lent = c.mine.count(slot::lent);
    if (c.mine.others_wait && local.turn_over && c.mine.owed == 0)
      c.mine.owed = static_cast<std::uint16_t>((lent + 1) / 2);
    const bool collects =
        c.mine.count(slot::out) > 0 || (lent > 0 && (c.mine.owed > 0 || (local.idle && local.wanted == 0) || ending));
    if (collects && !c.mine.slot_requested) {
      c.mine.slot_requested = true;
      c.live(22, request_.at());
      c.request_slot();
      return outcome::done;
    }
    c.live(23, request_.at());
    const event seen = c.wait();
    if (seen == event::changed) c.mine.watching = false;
    return seen == event::expired ? outcome::lost : outcome::done;
  }

  /// Reads, with watches, all that it depends on there (L4, L5). Not watching afterwards: something has come of it, or
  /// it has to be done again.
  outcome read_ensemble(const local_view& local) {
    c.mine.others_wait = false;
    if (c.mine.queued) {
      const int kept = c.mine.count(slot::kept);
      auto next = request_.advance(1, local.wanted < 1 ? 1 : local.wanted < kept ? local.wanted : kept);
      if (next.kind == request_text::step::wait) next = request_.watch_own();
      if (next.kind == request_text::step::over) {
        c.mine.queued = false;
        return next.result == outcome::done ? lend() : next.result;
      }
      if (next.kind == request_text::step::again) return outcome::done;
      c.mine.others_wait = request_.at().head == 0;
    } else if (c.mine.count(slot::lent) > 0) {
      const auto waits = c.anybody_waits(request_.gate());
      if (waits.is == answer::unknown) return c.reconnect() ? outcome::done : outcome::lost;
      if (waits.is == answer::no_node) return outcome::removed;
      if (waits.is != answer::ok) return outcome::lost;
      c.mine.others_wait = waits.value;
    }
    if (c.mine.count(slot::lent) > 0) {
      const int slots = c.mine.slots;
      const answer read = adapt();
      if (read == answer::unknown) return c.reconnect() ? outcome::done : outcome::lost;
      if (read != answer::ok) return read == answer::no_node ? outcome::removed : outcome::lost;
      if (c.mine.queued && has_all()) return withdraw_request();  // L9
      if (slots != c.mine.slots) return outcome::done;
    }
    c.mine.watching = true;
    return outcome::done;
  }

  /// The size of the gate may have changed: a slot that is not below it goes back, with all others; and so do all while
  /// the gate is paused. A host may have more if it grew.
  answer adapt() {
    c.live(30, request_.at());
    const auto size = c.size(request_.gate());
    if (size.is != answer::ok) return size.is;
    c.mine.slots = size.value.slots;
    for (const slot& one : c.mine.at)
      if (one.is == slot::lent && (size.value.paused != 0 || !one.slots.below(size.value.slots)))
        c.mine.owed = static_cast<std::uint16_t>(c.mine.count(slot::lent));
    if (size.value.slots > static_cast<int>(c.mine.at.size())) {
      c.mine.at.resize(static_cast<std::size_t>(size.value.slots));
      c.live(31, request_.at(), size.value.slots);
      c.grow(size.value.slots);
    }
    return answer::ok;
  }

  /// Opens a local slot for each slot that was granted (L1).
  outcome lend() {
    auto granted = request_.at().slots;
    for (std::size_t i = 0; i < c.mine.at.size() && granted.count() > 0; ++i) {
      if (c.mine.at[i].is != slot::kept) continue;
      const auto one = granted.take_one();
      c.mine.at[i] = slot{slot::lent, one, request_.at().fence};
      c.live(24, request_.at(), i, granted);
      c.lend(static_cast<int>(i), one, request_.at().fence);
      c.live(25, request_.at(), i, granted);
      c.open(static_cast<int>(i));
    }
    request_.restart();
    return outcome::done;
  }

  /// Its request is gone: the gate was removed, or another has cancelled it.
  outcome find_removal() {
    for (;;) {
      c.live(26, request_.at());
      const auto there = c.size(request_.gate());
      if (there.is == answer::ok) return outcome::done;
      if (there.is == answer::unknown && c.reconnect()) continue;
      if (there.is != answer::no_node) return outcome::lost;
      c.mine.closed = true;
      c.live(27, request_.at());
      c.close();
      return outcome::done;
    }
  }

  /// The session is lost: what was lent is out, and comes back when the jobs have ended.
  bool forfeit() {
    for (slot& one : c.mine.at)
      if (one.is == slot::lent) one = slot{};
    c.mine.queued = c.mine.watching = c.mine.others_wait = false;
    c.mine.owed = 0;
    request_.restart();
    c.live(28, request_.at());
    c.forfeit();
    c.live(29, request_.at());
    return c.renew();
  }

  Host& c;
  request_text request_;
};

/// A job's passage through a leased gate. Local is the job at the local gate:
///   enter()       waits for a slot of the local gate: done; given_up, removed
///   valid()       whether the lease is valid now
///   entry()       that of its local slot, with the present epoch: a `lent`
///   leave()
///   served()      whether a lessor lives that will lend again
///   live(n, ...)  as above
template <class Local>
class leased_passage {
 public:
  using lent = typename Local::lent;

  explicit leased_passage(Local& local) : l(local) {}

  /// done: inside, and `out` is what it has. lost: no lessor leases slots for this host.
  outcome enter(lent& out) {
    for (;;) {
      l.live(40);
      if (const outcome how = l.enter(); how != outcome::done) return how;
      l.live(41);
      const bool valid = l.valid();  // L3: before the entry is read
      l.live(42, valid);
      out = l.entry();
      if (valid && out.fence != 0 && out.epoch == out.epoch_now) return outcome::done;
      l.live(43);
      l.leave();
      l.live(44);
      if (!l.served()) return outcome::lost;
    }
  }

 private:
  Local& l;
};

}  // namespace kgate::detail::cluster
