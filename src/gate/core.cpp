// SPDX-License-Identifier: Apache-2.0
#include "gate/core.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "kgate/wait_policy.hpp"

namespace kgate::detail::gates {

namespace {

/// A pause costs tens of nanoseconds; about a microsecond of them covers a hand-over between two running processes.
/// Only the next in line spins.
constexpr int spins_next = 600;
constexpr std::int64_t spinning_ns = 20'000;

/// Before a member queues up it spins for a while, as long as the gate moves: short passages then follow each other at
/// the speed of running processes, without wake-ups. It queues when nothing has happened for `still_ns` (the holder
/// stays inside, or does not run), and after `spinning_max_ns` in any case: its position is certain from then on.
constexpr std::int64_t still_ns = 50'000;
constexpr std::int64_t spinning_max_ns = 2'000'000;
constexpr int pauses_min = 16;
constexpr int pauses_max = 256;

std::uint64_t wall_coarse_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

/// How long a waiter sleeps before it heals what it depends on: the head often, for it is the one that notices that a
/// holder died; those behind it less and less, so that a long queue costs little. Their sum over a queue of n is O(log
/// n).
std::int64_t healing_interval_ns(int position, std::int64_t waited_ns) {
  constexpr std::int64_t ms = 1'000'000;
  if (position == 0) return waited_ns < 1000 * ms ? ms : 4 * ms;
  return std::min<std::int64_t>(2 + 2 * position, position < 200 ? 40 : 200) * ms;
}

template <std::size_t N>
void copy_text(std::array<char, N>& into, std::string_view text) {
  into.fill('\0');
  std::memcpy(into.data(), text.data(), std::min(text.size(), N - 1));
}

void describe(member_info& info, std::string_view command) {
  utsname host{};
  uname(&host);
  identity mine{};
  mine.user = geteuid();
  mine.process = getpid();
  copy_text(mine.host, host.nodename);
  copy_text(mine.command, command);
  std::uint64_t words[member_info::words];
  std::memcpy(words, &mine, sizeof mine);
  const std::uint32_t odd = info.version.load(std::memory_order_relaxed) | 1;
  info.version.exchange(odd);  // a read-modify-write, so that no word is written before it
  for (std::size_t i = 0; i < member_info::words; ++i) info.word_bits[i].store(words[i], std::memory_order_relaxed);
  info.version.store(odd + 1,
                     std::memory_order_release);  // partner: the first read of version in identify (snapshot.cpp)
}

}  // namespace

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

gate_failure core::open(const std::string& name, int slots, const location& where) {
  if (gate_failure failure = segment_.open(name, slots, where)) return failure;
  cells_.bind(segment_);
  held_ = std::make_unique<held_bytes[]>(members_max);
  // A file whose counts contradict each other is renewed if nobody uses it, and refused if somebody does.
  bool sound = seems_sound(segment_.map());
  if (!sound) {
    held_bytes maintenance;
    if (gate_failure failure = segment_.lock_maintenance(maintenance)) {
      segment_.close();
      return failure;
    }
    sound = seems_sound(segment_.map()) || segment_.renew_unused(this->slots());
  }
  if (!sound) {
    segment_.close();
    return {gate_errc::damaged,
            "gate '" + name +
                "' is damaged and in use: end those who use it (kgate status), then run `kgate doctor -n " + name +
                "`"};
  }
  return {};
}

gate_failure core::join(std::string_view command, membership& out) {
  for (int tries = 0; tries < 100; ++tries) {
    lock_opening opening = cells_.locks().open_again();
    if (join_once(command, opening, out)) return {};
    if (opening.error() != 0) return system_failure("cannot join the gate " + segment_.path(), opening.error());
    usleep(1000);  // all numbers are locked while a gate is renewed, too
  }
  return {gate_errc::too_many, "more than " + std::to_string(members_max) + " participants; a gate cannot have more"};
}

bool core::join_once(std::string_view command, lock_opening& opening, membership& out) {
  file_layout& map = cells_.map();
  struct {
    lock_opening& opening;
    bool lock(unsigned i) { return opening.lock(member_byte(i), 1); }
    void unlock(unsigned i) { opening.unlock(member_byte(i), 1); }
  } locks{opening};
  for (unsigned i = 0; i < members_max && opening.error() == 0; ++i) {
    if (held_[i]) continue;
    state mine;
    if (!protocol_.take_number(i, locks, mine)) continue;
    held_bytes held = opening.keep();
    if (!held) return false;
    std::uint32_t used = map.members_used.load();
    while (used < i + 1 && !map.members_used.compare_exchange_weak(used, i + 1)) {
    }
    describe(map.info[i], command);
    map.lines[i].parked.store(0);
    map.lines[i].command.store(0, std::memory_order_relaxed);
    map.lines[i].leaves_by_ending.store(0, std::memory_order_relaxed);
    map.lines[i].queued_ns.store(0, std::memory_order_relaxed);
    map.lines[i].entered_ns.store(0, std::memory_order_relaxed);
    held_[i] = std::move(held);
    out = {i, mine};
    return true;
  }
  return false;
}

void core::part(const membership& m) noexcept { held_[m.number].release(); }

void core::forget_locks() noexcept {
  for (unsigned i = 0; i < members_max; ++i) held_[i].forget();
}

gate_failure core::lost_failure() const {
  return system_failure("cannot find out who is alive at the gate " + segment_.path() +
                            ": this process closed its descriptors, and its lock files cannot be opened again",
                        cells_.locks().lost());
}

/// True when W shows room for a newcomer, false when it is time to queue up.
bool core::spin_before_queueing(int weight, std::int64_t until_ns) {
  std::int64_t moved = now_ns();
  std::uint64_t seq = cells_.word().seq();
  for (int pauses = pauses_min, round = 0;; pauses = std::min(2 * pauses, pauses_max), ++round) {
    const word w = cells_.word();
    if (w.operation() == op::retired || protocol_.has_room(w, weight)) return moved <= until_ns;
    for (int i = 0; i < pauses; ++i) cpu_relax();  // every read takes the cache line away from those that use it
    if (round >= 8) sched_yield();                 // whoever is inside may be waiting for this core
    const std::int64_t now = now_ns();
    if (w.seq() != seq) moved = now;
    seq = w.seq();
    if (now - moved > still_ns || now > until_ns) return false;
  }
}

entry core::enter(membership& m, int weight, const wait_options& how, word& became) {
  became = {};
  m.out = m.out.with_weight(weight);
  bool spins = how.spins_first;
  std::int64_t spins_until = 0;  // however often somebody else is faster
  for (int tries = 0;; ++tries) {
    const bool may_queue = how.deadline_ns != 0 && !spins;
    switch (protocol_.request(m.number, m.out, may_queue, became)) {
      case outcome::entered:
        return entered_now(m);
      case outcome::retired:
        return entry::removed;
      case outcome::queued:
        cells_.map().lines[m.number].queued_ns.store(wall_coarse_ns(), std::memory_order_relaxed);
        return wait(m, how);
      case outcome::refused:
        if (spins) {
          if (spins_until == 0) spins_until = now_ns() + spinning_max_ns;
          spins = spin_before_queueing(weight, spins_until);
          break;
        }
        // Nobody need be waiting, so nobody need have noticed that a holder died.
        if (tries > 0 || heal_all() == 0) return entry::timed_out;
    }
  }
}

entry core::wait(membership& m, const wait_options& how) {
  const unsigned i = m.number;
  member_line& line = cells_.map().lines[i];
  auto& bits = cells_.map().state_bits[i];
  const state queued = m.out.at(kind::waits);
  const auto waits = [&] { return cells_.state_of(i) == queued; };
  int position = protocol_.position(i);
  const std::int64_t began = now_ns();
  if (position == 0 && how.deadline_ns - began > spinning_ns)
    for (int spin = 0; spin < spins_next && waits(); ++spin) {
      cpu_relax();
      // Where nobody grants it must take: rarely enough not to take the cache line away from those that use it.
      if (cells_.overtakings() > 0 && spin % 64 == 63 && cells_.word().free() > 0) protocol_.advance();
    }
  line.parked.store(1);
  for (unsigned rounds = 0; waits(); ++rounds) {
    // Healing comes before the first sleep: a holder may have died before anybody waited.
    position = protocol_.heal_predecessors(i);
    if (!waits()) break;
    if (how.progress != nullptr) how.progress(how.progress_argument, position);
    const std::int64_t now = now_ns();
    if (how.cancelled != nullptr && how.cancelled->load()) return give_up(m, entry::cancelled);
    if (now >= how.deadline_ns) return give_up(m, entry::timed_out);
    if (cells_.word().operation() == op::retired) return give_up(m, entry::removed);
    if (cells_.locks().lost() != 0) return give_up(m, entry::lost);
    if (position == 0 && rounds % 64 == 63 && !seems_sound(cells_.map())) return give_up(m, entry::damaged);
    const std::int64_t nap = std::min(healing_interval_ns(position, now - began), how.deadline_ns - now);
    const timespec timeout{nap / 1'000'000'000, nap % 1'000'000'000};
    line.parked.store(1);
    if (waits()) shared_futex_wait(bits, static_cast<std::uint32_t>(queued.bits), &timeout);
  }
  line.parked.store(0, std::memory_order_relaxed);
  if (cells_.state_of(i) == m.inside()) return entered_now(m);
  // Refused at the head of the queue, dismissed, or something that no participant writes (G8).
  const bool is_out = cells_.state_of(i) == m.out.next_passage();
  m.out = m.out.next_passage();
  if (!is_out) return entry::damaged;
  return m.out.weight() > slots() ? entry::too_heavy : entry::cancelled;
}

entry core::give_up(membership& m, entry why) {
  cells_.map().lines[m.number].parked.store(0);
  const outcome result = protocol_.abandon(m.number);
  if (result == outcome::entered) return entered_now(m);
  m.out = m.out.next_passage();
  protocol_.advance();  // whoever was behind may fit where this one did not
  return result == outcome::retired ? entry::removed : why;
}

entry core::entered_now(const membership& m) {
  cells_.map().lines[m.number].entered_ns.store(wall_coarse_ns(), std::memory_order_relaxed);
  return entry::entered;
}

void core::leave(membership& m, word& became) {
  protocol_.leave(m.number, m.inside(), became);
  m.out = m.out.next_passage();
  if (became.waiting()) protocol_.hand_over();
}

int core::take_slot(const membership& m) {
  const int first = protocol_.take_slot(m.number, m.inside(), slots());
  // A gate that shrank since this member got in may have none left below its size.
  return first >= 0 ? first : protocol_.take_slot(m.number, m.inside(), slots_max);
}

bool core::dismiss(const participant& who) {
  const bool done = protocol_.dismiss(who.member, state{who.state_bits});
  protocol_.advance();
  return done;
}

outcome core::resize(membership& m, int slots) { return set_limit(m, slots, paused()); }

outcome core::set_paused(membership& m, bool paused) { return set_limit(m, slots(), paused); }

outcome core::set_limit(membership& m, int slots, bool paused) {
  m.out = m.out.with_weight(slots | (paused ? limit::paused_flag : 0));
  const outcome result = protocol_.resize(m.number, m.out);
  protocol_.advance();
  return result;
}

gate_failure core::remove(bool forced) {
  heal_all();
  if (!protocol_.retire(forced)) return {gate_errc::in_use, segment_.path() + " is in use"};
  for (unsigned j = 0, n = cells_.members(); j < n; ++j) shared_futex_wake(cells_.map().state_bits[j]);
  return segment_.unlink_retired();
}

int core::heal_all() {
  int found = 0;
  protocol_.load_and_help();  // a member may be inside by the word alone, its own state yet to follow
  for (unsigned j = 0, n = cells_.members(); j < n; ++j)
    if (cells_.state_of(j).where() != kind::out && protocol_.heal(j)) ++found;
  protocol_.advance();
  return found;
}

}  // namespace kgate::detail::gates
