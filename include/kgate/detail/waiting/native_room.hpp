// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The waiting room of this process: buckets of memory that is never given back, and the waiters in them, small objects
/// on the stack of their thread (or wherever they live until they are woken).
///
/// There is one room in a process, however many shared objects include this header: that of the program itself if it
/// includes it, which a note in the program tells; else that of the shared objects, a symbol of the kind that the
/// dynamic linker binds once even for objects opened with RTLD_LOCAL or compiled with hidden visibility
/// (STB_GNU_UNIQUE). GCC makes such symbols for inline variables, clang does not, so it is defined by hand. dlmopen
/// makes a second room, as it makes a second C library: semaphores must not be shared with such a namespace. Where the
/// dynamic linker does not know the kind (musl) the symbol is an ordinary global one.
///
/// fork: in the child the room is empty. A semaphore that no other thread used when fork was called works in the child
/// as a copy; tickets and permits of threads that are not in the child never come back.

#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kgate/detail/cache_line.hpp"
#include "kgate/detail/waiting/adaptive_state.hpp"
#include "kgate/detail/waiting/bucket.hpp"
#include "kgate/detail/waiting/futex.hpp"
#include "kgate/detail/waiting/native_var.hpp"

namespace kgate {
enum class waiter_state : unsigned char;
}

namespace kgate::detail {

class native_bucket;
class taken_waiters;

/// How a request for permits ended.
enum class outcome : unsigned char { acquired, expired, closed, too_heavy };

/// Something that waits, in the queue of its semaphore: a thread asleep on `word`, or something that is suspended and
/// resumed by a function.
struct native_waiter {
  /// What waiters of one type have in common.
  struct kind {
    /// Serves the queue of the semaphore that this waiter is the first in.
    void (*serve)(native_waiter& first, native_bucket&, taken_waiters&);
    /// Called once a suspended waiter has been taken out of the queue; nothing of it is touched afterwards.
    void (*resume)(native_waiter&) noexcept;
    /// Called when its deadline has passed.
    void (*expire)(native_waiter&) noexcept;
    /// Which algorithm serve() runs; the same for all kinds that one object file makes of it.
    const void* algorithm;
  };

  const void* key = nullptr;  ///< the semaphore's queue
  const kind* is = nullptr;
  native_waiter* next;                ///< in the ring, in ticket order
  native_waiter* previous = nullptr;  ///< null while it is in no ring
  union {
    native_waiter* next_ring;  ///< of the first in the ring
    void* goes_on_at;          ///< where a suspended waiter that is in no ring any more goes on
  };
  std::uint32_t first, last, weight = 1, stamp;
  waiter_state state;
  outcome how = outcome::acquired;  ///< written by the thread that takes a suspended waiter out of the queue
  bool suspended = false;           ///< to be resumed; else a thread waits, asleep on `word`
  std::atomic<std::uint32_t> word{waiter_word::asleep};

  /// Adds to what the word says, and wakes the thread. If `bits` has `woken`, nothing of this object is touched
  /// afterwards.
  void notify(std::uint32_t bits) noexcept {
    std::atomic<std::uint32_t>* const address = &word;
    address->fetch_or(bits, std::memory_order_seq_cst);
    futex_wake(*address, 1);
  }
  template <class P>
  void await_woken(P&) noexcept {
    for (;;) {
      const std::uint32_t seen = word.load(std::memory_order_seq_cst);
      if ((seen & waiter_word::woken) != 0) return;
      futex_wait(word, seen);
    }
  }
};

/// Waiters that are in no queue, first in first out.
class waiter_list {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  void add(native_waiter& w) noexcept {
    w.next = nullptr;
    (first_ != nullptr ? last_->next : first_) = &w;
    last_ = &w;
  }
  /// The first, or null.
  native_waiter* take() noexcept {
    native_waiter* const w = first_;
    if (w != nullptr) first_ = w->next;
    return w;
  }

 private:
  native_waiter* first_ = nullptr;
  native_waiter* last_ = nullptr;  ///< if there is a first
};

/// Waiters taken out of their queue, to be woken when the bucket's lock is open.
class taken_waiters {
 public:
  void add(native_waiter& w) noexcept {
    if (w.suspended)
      suspended_.add(w);
    else
      threads_.add(w);
  }
  /// Threads first: what is resumed may run for long.
  template <class P>
  void wake_all(P& p) noexcept {
    if (!threads_.empty()) [[unlikely]]
      wake_threads(p, threads_);
    while (native_waiter* const w = suspended_.take()) static_cast<void>(p["w1"]), w->is->resume(*w);
  }

 private:
  template <class P>
  static void wake_threads(P& p, waiter_list all) noexcept {
    while (native_waiter* const w = all.take()) static_cast<void>(p["w1"]), w->notify(waiter_word::woken);
  }
  waiter_list threads_, suspended_;
};

/// One bucket. The queue of a semaphore is a ring of its waiters in ticket order; the rings of a bucket are a list. All
/// members but `lock`, the count and `learned` only under the lock. All zero bits are an empty bucket.
class alignas(2 * cache_line) native_bucket {
 public:
  native_var<std::uint32_t> lock;

  template <class P>
  std::uint32_t announced(P&) const noexcept {
    return count_.load(std::memory_order_seq_cst);
  }
  template <class P>
  void announce(P&) noexcept {
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);  // before W is read (R1)
  }
  /// The next step of the caller is a read-modify-write of W, as is that by which a leaver changes W: whichever comes
  /// second in W's order knows of the first (R1).
  template <class P>
  void announce_before_rmw(P&) noexcept {
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  template <class P>
  void retract(P&) noexcept {
    one_less();
  }
  template <class P, class Algorithm>
  typename Algorithm::entry front(P&, Algorithm& of) noexcept {
    native_waiter** const at = ring_slot(of.key());
    if (*at == nullptr) return {};
    typename Algorithm::entry e = entry_of<typename Algorithm::entry>(**at);
    e.at = at;
    return e;
  }
  template <class P, class Algorithm>
  void pop_front(P&, Algorithm&, const typename Algorithm::entry& front, taken_waiters& taken) noexcept {
    native_waiter** const slot = static_cast<native_waiter**>(front.at);
    native_waiter& w = **slot;
    unlink_first(slot, w);
    taken.add(w);
  }
  template <class P, class Algorithm>
  void drop_carried(P&, Algorithm& of) noexcept {
    native_waiter& w = *ring(of.key());
    w.first = w.last + 1 - w.weight;
  }
  template <class P, class Algorithm>
  void insert(P&, Algorithm& of, native_waiter& me, const typename Algorithm::entry& e) noexcept {
    me.first = static_cast<std::uint32_t>(e.first);
    me.last = static_cast<std::uint32_t>(e.last);
    me.weight = static_cast<std::uint32_t>(e.weight);
    me.stamp = static_cast<std::uint32_t>(e.stamp);
    me.state = e.state;
    me.suspended = e.suspended;
    link(of.key(), me);
  }
  template <class P, class Algorithm>
  typename Algorithm::entry find(P&, Algorithm&, const native_waiter& me) const noexcept {
    return me.previous != nullptr ? entry_of<typename Algorithm::entry>(me) : typename Algorithm::entry{};
  }
  template <class P>
  void remove(P&, native_waiter& me) noexcept {
    unlink(me);
  }
  /// The ticket after ours is that of the next waiter, which from now on stands for ours too; else nothing changes.
  template <class P, class Algorithm>
  bool leave_to_successor(P&, Algorithm& of, native_waiter& me) noexcept {
    native_waiter& after = *me.next;
    if (&after == ring(of.key()) || after.first != me.last + 1) return false;
    after.first = me.first;
    unlink(me);
    return true;
  }
  /// Gives the first waiter this state, and wakes it by `bits` in its word.
  template <class P, class Algorithm>
  void set_front_state(P&, Algorithm& of, waiter_state s, std::uint32_t bits) noexcept {
    native_waiter& w = *ring(of.key());
    w.state = s;
    w.notify(bits);
  }
  template <class P>
  void set_state(P&, native_waiter& me, waiter_state s) noexcept {
    me.state = s;
  }

  /// Calls f for every waiter of `key`.
  template <class F>
  void for_each(const void* key, F&& f) {
    native_waiter* const first = ring(key);
    if (first == nullptr) return;
    native_waiter* w = first;
    do {
      native_waiter* const next = w->next;
      f(*w);
      w = next;
    } while (w != first);
  }
  /// Calls f for every waiter from the last to the first, until it returns false. f may take the waiter out of the
  /// queue, and serve the queue.
  template <class P, class Algorithm, class F>
  void for_each_backwards(P&, Algorithm& of, F&& f) {
    native_waiter* const first = ring(of.key());
    for (native_waiter* w = first != nullptr ? first->previous : nullptr; w != nullptr;) {
      native_waiter* const before = w != first ? w->previous : nullptr;
      if (!f(*w, entry_of<typename Algorithm::entry>(*w))) return;
      w = before;
    }
  }
  /// The first waiter, or null.
  native_waiter* first_of(const void* key) noexcept { return ring(key); }
  /// Whether those of `key` are the first queue of the bucket, served by this algorithm.
  bool first_queue_is(const void* key, const void* algorithm) const noexcept {
    return rings_ != nullptr && rings_->key == key && rings_->is->algorithm == algorithm;
  }
  void serve_all(taken_waiters& taken) {
    for (native_waiter* first = rings_; first != nullptr;) {
      native_waiter* const next = first->next_ring;
      first->is->serve(*first, *this, taken);
      first = next;
    }
  }
  /// In the child of a fork.
  void forget_all() noexcept {
    lock.atomic().store(0);
    count_.store(0);
    rings_ = nullptr;
  }

 private:
  template <class Entry>
  static Entry entry_of(const native_waiter& w) noexcept {
    return {w.first, w.last, w.weight, w.stamp, w.state, w.suspended, true, nullptr};
  }
  native_waiter** ring_slot(const void* key) noexcept {
    native_waiter** at = &rings_;
    while (*at != nullptr && (*at)->key != key) at = &(*at)->next_ring;
    return at;
  }
  native_waiter* ring(const void* key) noexcept { return *ring_slot(key); }
  static bool before(std::uint32_t t, std::uint32_t u) noexcept { return static_cast<std::int32_t>(t - u) < 0; }
  void link(const void* key, native_waiter& me) noexcept {
    native_waiter** const slot = ring_slot(key);
    native_waiter* const first = *slot;
    if (first == nullptr) {
      me.next = me.previous = &me;
      me.next_ring = nullptr;
      *slot = &me;
      return;
    }
    native_waiter* const last = first->previous;
    if (before(me.last, last->last)) [[unlikely]]
      return link_in_between(slot, me);
    me.next = first;
    me.previous = last;
    last->next = first->previous = &me;
  }
  /// Where its ticket says, somewhere before the last.
  [[gnu::noinline]] static void link_in_between(native_waiter** slot, native_waiter& me) noexcept {
    native_waiter* const first = *slot;
    native_waiter* after = first->previous;  // comes behind me
    while (after != first && before(me.last, after->previous->last)) after = after->previous;
    me.next = after;
    me.previous = after->previous;
    me.previous->next = after->previous = &me;
    if (after == first) {
      me.next_ring = first->next_ring;
      *slot = &me;
    }
  }
  /// A leaver that sees the old count finds no waiter; that does no harm.
  void one_less() noexcept { count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed); }
  void unlink(native_waiter& me) noexcept {
    native_waiter** const slot = ring_slot(me.key);
    if (*slot == &me) return unlink_first(slot, me);
    one_less();
    me.previous->next = me.next;
    me.next->previous = me.previous;
    me.previous = nullptr;
  }
  void unlink_first(native_waiter** slot, native_waiter& me) noexcept {
    one_less();
    native_waiter* const next = me.next;
    if (next == &me) {
      *slot = me.next_ring;
    } else {
      next->next_ring = me.next_ring;
      *slot = next;
      me.previous->next = next;
      next->previous = me.previous;
    }
    me.previous = nullptr;
  }

  std::atomic<std::uint32_t> count_{0};
  native_waiter* rings_ = nullptr;

 public:
  alignas(cache_line) adaptive_state learned;
};

struct native_room {
  static constexpr std::size_t buckets_log2 = 7, size = std::size_t{1} << (buckets_log2 + 7);
  native_bucket buckets[std::size_t{1} << buckets_log2];

  native_bucket& bucket_of(const void* key) noexcept {
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(key));
    native_bucket* b = &buckets[(address >> 4) * 0x9E3779B97F4A7C15U >> (64 - buckets_log2)];
    asm("" : "+r"(b));  // or a compiler computes it again and again
    return *b;
  }
};
static_assert(sizeof(native_bucket) == 2 * cache_line && sizeof(native_room) == native_room::size);

}  // namespace kgate::detail

// The room's memory, and a note that says how far it is from there. One object file of the many that have it is taken
// by the linker; link-time optimisation puts several into one.
asm(R"(
  .ifndef kgate_waiting_room_1
  .pushsection .bss.kgate_waiting_room_1,"awG",%nobits,kgate_waiting_room_1,comdat
  .balign 128
  .type kgate_waiting_room_1,%gnu_unique_object
  .size kgate_waiting_room_1,16384
kgate_waiting_room_1:
.Lkgate_waiting_room_1:
  .zero 16384
  .popsection
  .pushsection .note.kgate.room,"aG",%note,kgate_waiting_room_1,comdat
  .balign 4
  .long 6
  .long 4
  .long 0x6b670001
  .asciz "kgate"
  .balign 4
  .long .Lkgate_waiting_room_1 - .
  .popsection
  .endif
)");
static_assert(kgate::detail::native_room::size == 16384);

extern "C" [[gnu::visibility("default")]] kgate::detail::native_room kgate_waiting_room_1;

namespace kgate::detail {

/// The room that a loaded object's note names; null if it has none.
inline native_room* room_of(const dl_phdr_info& object) noexcept {
  constexpr std::uint32_t room_type = 0x6b670001;
  const auto padded = [](std::uint32_t size) { return (size + 3U) & ~3U; };
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const char*>(object.dlpi_addr + segment.p_vaddr);
    for (const char* const end = at + segment.p_filesz; at + 3 * sizeof(std::uint32_t) <= end;) {
      std::uint32_t sizes_and_type[3];
      std::memcpy(sizes_and_type, at, sizeof sizes_and_type);
      const char* const name = at + sizeof sizes_and_type;
      const char* const description = name + padded(sizes_and_type[0]);
      if (sizes_and_type[2] == room_type && sizes_and_type[0] == sizeof "kgate" &&
          std::memcmp(name, "kgate", sizeof "kgate") == 0) {
        std::int32_t distance = 0;
        std::memcpy(&distance, description, sizeof distance);
        return reinterpret_cast<native_room*>(reinterpret_cast<std::uintptr_t>(description) +
                                              static_cast<std::uintptr_t>(static_cast<std::intptr_t>(distance)));
      }
      at = description + padded(sizes_and_type[1]);
    }
  }
  return nullptr;
}

inline std::atomic<native_room*> known_room{nullptr};
[[gnu::noinline]] inline native_room& find_room() noexcept {
  native_room* found = nullptr;
  ::dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* result) {
        *static_cast<native_room**>(result) = room_of(*program);
        return 1;  // the program itself comes first
      },
      &found);
  if (found == nullptr) found = &kgate_waiting_room_1;
  known_room.store(found, std::memory_order_release);
  static const int once = ::pthread_atfork(nullptr, nullptr, [] {  // in the child the room is empty
    for (native_bucket& b : known_room.load(std::memory_order_relaxed)->buckets) b.forget_all();
  });
  static_cast<void>(once);
  return *found;
}
inline native_room& this_room() noexcept {
  native_room* const known = known_room.load(std::memory_order_acquire);
  if (known == nullptr) [[unlikely]]
    return find_room();
  return *known;
}
/// Found before main, so that a signal handler need not.
inline const bool room_is_known = (find_room(), true);

}  // namespace kgate::detail
