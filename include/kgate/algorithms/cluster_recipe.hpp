// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Gates between machines: FIFO k-exclusion with slots, weights and fencing tokens on a ZooKeeper ensemble.
///
/// Source       ours, after ZooKeeper's lock recipe. That recipe lets the first k of one list in, or watches the k-th
///              node ahead; both are wrong for k > 1, because any holder may leave first. Here waiters and holders
///              are two lists, and one transaction moves a waiter from one to the other.
/// Promises     at most k slots are held by live sessions; slots are distinct; FIFO from the creation of the waiter's
///              node, among those whose session lives and that do not give up; no node of a live session without its
///              client knowing; tokens grow from grant to grant; every client that lives and can reach the ensemble is
///              served. A change wakes one waiter. Any number of clients may die or lose their sessions at any step;
///              any answer may be lost, and its request may have been carried out, may never be, or may be later.
///              Requests of one passage: create, list q, watch the waiter ahead, list s, the grant, the release.
///              A gate may be removed and made again under the same name at any step: that is another gate, and one
///              inside the former one or waits there does nothing to it.
/// Variables    GATE      the gate's node: its id, which no other gate of its name has, k, whether it is paused, and
///                        the version that each change increases
///              q         one ephemeral, sequential node for each waiter: request_sequence
///              s         one ephemeral node for each slot held, 0..k-1: the request that holds it. Its czxid, the
///                        number of the transaction that created it, is the token
/// Invariants   C1  A session's request has at most one node in q, and a client that is out has nodes in neither.
///              C2  Only the head of q takes slots, by one transaction that fails as a whole unless GATE still has the
///                  version that the head has read, the slots are free, and the head's own node is still there, which
///                  it deletes. Sequence numbers grow, so the head stays the head until that transaction; between its
///                  reading of s and its grant slots can only become free.
///              C3  After an answer was lost, the client reads nothing that the lost request may have changed before
///                  sync() has been answered: until then the request may still be carried out.
///              C4  A slot is freed by its number, so a request to free it is repeated only if the slot has been found
///                  to be held under the same token after C3.
///              C5  A waiter waits only after it has read, with a watch, all that it waits for: the waiter ahead;
///                  the head: s and GATE. It waits for more than a while only if it watches its own node, too, which
///                  others may remove. Events are forgotten before those reads, never between them and the wait.
///              C6  A grant changes the waiter's data before it deletes the node, in the same transaction. So a watch
///                  tells a waiter that was granted, which then was the head, from one that has vanished: behind the
///                  first one is the head of q, behind the second perhaps not.
///              C7  The head may take one slot without reading s: a guess, which is refused if the slot is held. At
///                  most k are held then only if no slot at or beyond k is: s was read so under the version that the
///                  transaction checks, and every grant under that version takes slots below k.
///              C8  Numbers of slots and versions begin anew with a gate that is made again. So all requests name the
///                  gate by its id, and there is nothing for them where the gate of that name is another one: it is one
///                  request that looks whose the slot is and frees it.
/// Deviations   none
/// Memory model none: the ensemble orders all transactions. Reads may be stale, but a session's own never go back
///              behind what it has seen; so each is as good as one of the present made by a slower client.
/// Evidence     tests/cluster/lab (a simulated ensemble in which answers get lost, sessions expire and clients die at
///              any step, exhaustively; mutants)
///
/// Client is what the recipe runs on: one session of an ensemble and one request at a time. Each of these is one
/// request to the ensemble and returns an `answered`; `unknown` means that the answer was lost with the connection;
/// no_node, that there is no such node at the gate with the id g (C8):
///   enqueue(g)            creates q/REQUEST_sequence: the waiter
///   queue(g)              the waiters in any order; forgets the events so far
///   watch_waiter(g, w)    whether w is in q, with a watch if it is
///   slots(g, watched)     the slots that are held; watched: with a watch, and forgets the events so far
///   size(g)               the gate_size, with a watch
///   grant(g, w, set, v)   one transaction: GATE has version v, creates the slots of the set, changes and deletes w:
///                         their token (C6).
///                         exists: a slot is held; no_node: w is gone; changed: the version is another
///   remove_waiter(g, w)   deletes w
///   holder(g, set)        what holds the first slot of the set: request and token
///   free(g, set)          one transaction: deletes the slots of the set
///   sync()                answered when all that the ensemble has accepted so far can be seen
/// and besides
///   request()             what tells the nodes of this request from all others
///   reconnect()           waits until the session is connected again; false if it has expired
///   wait(briefly)         until an event that is not forgotten: changed, or granted; or given_up, or expired;
///                         briefly: elapsed, if none came for a while
///   granted()             no request: the sequence number of the waiter that was granted
///   live(n, a)            no step: what still matters at point n (rule 5 of detail/machine.hpp)

#include <cstdint>
#include <utility>

#include "kgate/algorithms/cluster_words.hpp"

namespace kgate::detail::cluster {

template <class Client>
class recipe {
 public:
  using waiter = typename Client::waiter;
  using slot_set = typename Client::slot_set;
  using token = typename Client::token;
  using gate_id = typename Client::gate_id;

  /// What a client has to know between two steps. The size is what was read last, and may be out of date.
  struct passage {
    waiter me{};
    waiter ahead{};  ///< the one it waits for, if it is not the head
    slot_set slots{};
    token fence{};
    gate_size size{};
    std::int32_t head = 0;  ///< 1: was seen to be the head of q, and is until it leaves
  };

  /// What an advance has brought.
  struct step {
    enum kind_of : std::uint8_t { over, again, wait };
    kind_of kind = again;            ///< wait: all that is waited for is watched
    outcome result = outcome::done;  ///< if it is over
  };

  recipe(Client& client, gate_id gate, gate_size size) : c(client), gate_(std::move(gate)) { at_.size = size; }

  const passage& at() const { return at_; }
  const gate_id& gate() const { return gate_; }

  /// Waits for `weight` slots. If it is done, at() has the slots and their token.
  outcome acquire(int weight) {
    if (const outcome joined = join(); joined != outcome::done) return joined;
    for (;;) {
      const step next = advance(weight, weight);
      if (next.kind == step::over) return next.result;
      if (next.kind == step::again) continue;
      c.live(9, at_);
      event seen = c.wait(true);
      if (seen == event::elapsed) {
        const step still = watch_own();
        if (still.kind == step::over) return still.result;
        if (still.kind == step::again) continue;
        c.live(14, at_);
        seen = c.wait(false);
      }
      if (seen == event::given_up) return leave_queue(outcome::given_up);
      if (seen == event::expired) return outcome::lost;
      if (seen == event::granted && c.granted() == at_.ahead.sequence) become_head();  // C6
    }
  }

  /// Gives back what acquire() took.
  outcome release() {
    const outcome how = give_back(at_.slots, at_.fence);
    if (how != outcome::done) return how;
    at_.slots = slot_set{};
    at_.fence = token{};
    return outcome::done;
  }

  /// Knows nothing of a request any more: it holds nothing, or another keeps the account.
  void restart() { at_ = passage{.size = at_.size}; }

  // What acquire() and release() are made of, for a client that does more than wait (cluster_lease.hpp).

  /// Creates the waiter's node, once (C1).
  outcome join() {
    for (;;) {
      c.live(3, at_);
      const auto made = c.enqueue(gate_);
      if (made.is == answer::ok) {
        at_.me = made.value;
        return outcome::done;
      }
      if (made.is == answer::no_node) return outcome::removed;
      if (made.is != answer::unknown || !settle({}, {})) return outcome::lost;
      const answer found = find_own_waiter();
      if (found == answer::ok) return outcome::done;
      if (found == answer::expired) return outcome::lost;
    }
  }

  /// Takes between `least` and `most` slots if they are to be had, as many as there are. When it says wait, what it
  /// lacks is watched; not its own node: watch_own().
  step advance(int least, int most) {
    if (at_.head != 0) return try_grant(least, most);
    at_.ahead = waiter{};
    c.live(1, at_, most);
    const auto queue = c.queue(gate_);
    if (queue.is == answer::unknown && c.reconnect()) return {};
    if (queue.is == answer::no_node) return ended(outcome::removed);
    if (queue.is != answer::ok) return ended(outcome::lost);
    bool present = false, head = true;
    for (const waiter& other : queue.value) {
      if (other == at_.me) present = true;
      if (!precedes(other, at_.me)) continue;
      if (head || precedes(at_.ahead, other)) at_.ahead = other;
      head = false;
    }
    if (!present) return ended(find_grant());
    at_.slots = slot_set{};
    if (head) {
      become_head();
      return try_grant(least, most);
    }
    return watch_ahead();
  }

  /// Others may remove its node: it learns of that if this says wait.
  step watch_own() {
    c.live(6, at_);
    const auto own = c.watch_waiter(gate_, at_.me);
    if (own.is == answer::expired) return ended(outcome::lost);
    if (own.is == answer::unknown) return c.reconnect() ? step{} : ended(outcome::lost);
    if (own.is == answer::no_node) {
      at_.head = 0;
      return {};
    }
    return {step::wait};
  }

  /// Repeated until it is answered: the node's name is never used again, so a second deletion can hit no other.
  outcome leave_queue(outcome why) {
    for (;;) {
      c.live(12, at_, why);
      const auto removed = c.remove_waiter(gate_, at_.me);
      if (removed.is == answer::expired) return outcome::lost;
      if (removed.is == answer::unknown) {
        if (c.reconnect()) continue;
        return outcome::lost;
      }
      at_.me = at_.ahead = waiter{};
      at_.head = 0;
      return why;
    }
  }

  /// Frees slots that are held under this token.
  outcome give_back(const slot_set& slots, const token& fence) {
    for (;;) {
      c.live(2, at_, slots, fence);
      const auto freed = c.free(gate_, slots);
      if (freed.is == answer::expired) return outcome::lost;
      if (freed.is == answer::unknown) {
        if (!settle(slots, fence)) return outcome::lost;
        const auto held = holder(slots, fence);
        if (held.is == answer::expired) return outcome::lost;
        if (held.is == answer::ok && held.value.fence == fence) continue;  // C4
      }
      return outcome::done;
    }
  }

 private:
  static bool precedes(const waiter& a, const waiter& b) { return distance(a.sequence, b.sequence) < 0; }
  static step ended(outcome how) { return {step::over, how}; }

  void become_head() {
    at_.head = 1;
    at_.ahead = waiter{};
  }

  answer find_own_waiter() {
    for (;;) {
      c.live(4, at_);
      const auto queue = c.queue(gate_);
      if (queue.is == answer::unknown && c.reconnect()) continue;
      if (queue.is == answer::unknown) return answer::expired;
      if (queue.is != answer::ok) return queue.is;
      for (const waiter& other : queue.value)
        if (other.request == c.request()) {
          at_.me = other;
          return answer::ok;
        }
      return answer::no_node;
    }
  }

  step watch_ahead() {
    c.live(5, at_);
    const auto watched = c.watch_waiter(gate_, at_.ahead);
    if (watched.is == answer::expired) return ended(outcome::lost);
    if (watched.is == answer::unknown) return c.reconnect() ? step{} : ended(outcome::lost);
    if (watched.is == answer::no_node) return {};
    return {step::wait};
  }

  /// The head of q takes its slots, or watches what it lacks. If there was room last time, it makes a guess instead of
  /// reading (C7). It reads without a watch first: there usually is room when the head reads, and its own grant would
  /// fire the watch.
  step try_grant(int least, int most) {
    if (at_.size.room > 0 && most == 1) {
      at_.size.room = 0;
      at_.slots = slot_set::only(named_slot(at_.me.sequence, at_.size.slots));
      const step guessed = take(1, 0);
      if (guessed.kind != step::wait) return guessed;
    }
    for (const bool watched : {false, true}) {
      c.live(7, at_, most, watched);
      const auto held = c.slots(gate_, watched);
      if (held.is == answer::unknown && c.reconnect()) return {};
      if (held.is == answer::no_node) return ended(outcome::removed);
      if (held.is != answer::ok) return ended(outcome::lost);
      const int free = at_.size.permits() - held.value.count();
      if (free < least) continue;
      at_.slots = held.value.lowest_free(free < most ? free : most);
      const slot_set named = slot_set::only(named_slot(at_.me.sequence, at_.size.slots));
      const bool room = at_.size.room >= 0 && !watched && held.value.below(at_.size.slots) && !held.value.has(named);
      const step taken = take(room ? 1 : 0, watched ? 2 : 1);
      if (taken.kind != step::wait) return taken;
    }
    return watch_as_head(least);
  }

  /// The grant. wait: these slots are not to be had. `room` is what is known if they are; `reading` tells the caller's
  /// readings of s apart.
  step take(std::int32_t room, int reading) {
    c.live(8, at_, room, reading);
    const auto granted = c.grant(gate_, at_.me, at_.slots, at_.size.version);  // C2
    if (granted.is == answer::ok) {
      at_.fence = granted.value;
      at_.me = waiter{};
      at_.head = 0;
      if (at_.size.room >= 0) at_.size.room = room;
      return ended(outcome::done);
    }
    if (granted.is == answer::expired) return ended(outcome::lost);
    if (granted.is == answer::unknown || granted.is == answer::no_node) at_.head = 0;
    if (granted.is == answer::unknown) return settle({}, {}) ? step{} : ended(outcome::lost);
    at_.slots = slot_set{};
    if (granted.is == answer::no_node) return {};
    return {step::wait};
  }

  /// s does not have what it needs, and is watched.
  step watch_as_head(int least) {
    const gate_size before = at_.size;
    const answer read = read_size();
    if (read == answer::expired) return ended(outcome::lost);
    if (read != answer::ok) return ended(outcome::removed);
    if (at_.size != before) return {};
    if (least > at_.size.slots) return ended(leave_queue(outcome::too_heavy));
    return {step::wait};
  }

  answer read_size() {
    for (;;) {
      c.live(10, at_);
      const auto size = c.size(gate_);
      if (size.is == answer::unknown && c.reconnect()) continue;
      if (size.is == answer::ok) {
        const std::int32_t room = at_.size.room < 0 ? -1 : 0;
        at_.size = size.value;
        at_.size.room = room;
      }
      return size.is == answer::unknown ? answer::expired : size.is;
    }
  }

  /// The own node is gone from q: by the grant whose answer was lost, or by another's hand.
  outcome find_grant() {
    at_.me = at_.ahead = waiter{};
    if (at_.slots.count() == 0) return outcome::removed;
    const auto held = holder(at_.slots, at_.fence);
    if (held.is == answer::expired) return outcome::lost;
    if (held.is == answer::ok && held.value.request == c.request()) {
      at_.fence = held.value.fence;
      return outcome::done;
    }
    at_.slots = slot_set{};
    return outcome::removed;
  }

  /// The holders of these slots. `fence` is what the caller needs afterwards.
  auto holder(const slot_set& slots, const token& fence) {
    for (;;) {
      c.live(11, at_, slots, fence);
      auto held = c.holder(gate_, slots);
      if (held.is == answer::unknown && c.reconnect()) continue;
      if (held.is == answer::unknown) held.is = answer::expired;
      return held;
    }
  }

  /// After a lost answer: connected again, and the request either carried out or never to be (C3). The arguments are
  /// what the caller needs afterwards.
  bool settle(const slot_set& slots, const token& fence) {
    for (;;) {
      c.live(13, at_, slots, fence);
      if (!c.reconnect()) return false;
      const auto done = c.sync();
      if (done.is == answer::ok) return true;
      if (done.is != answer::unknown) return false;
    }
  }

  Client& c;
  gate_id gate_;
  passage at_;
};

}  // namespace kgate::detail::cluster
