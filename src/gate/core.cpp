// SPDX-License-Identifier: Apache-2.0
#include "gate/core.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "gate/pace.hpp"
#include "gate/truncation.hpp"
#include "kgate/algorithms/gate_doze.hpp"
#include "kgate/wait_policy.hpp"

namespace kgate::detail::gates {

namespace {

/// How long spinning takes at most.
constexpr std::int64_t spinning_ns = 20'000;

/// Before a member queues up it looks for a moment whether there is room, as long as none waits: short passages then
/// follow each other without wake-ups. Not for long, nor while many others come and go: its position counts from when
/// it is queued.
constexpr std::int64_t looking_ns = 20'000;
constexpr std::uint32_t looking_operations = 64;

/// A holder that died may go unnoticed where all are granted soon: whether it is the caller's to look.
[[gnu::hot]] bool claims_healing(file_layout& map, std::uint64_t now_ns) {
  std::uint64_t last = map.looked_ns.load(std::memory_order_relaxed);
  if (now_ns >= last && now_ns - last < std::uint64_t{healing_ns}) return false;
  return map.looked_ns.compare_exchange_strong(last, now_ns, std::memory_order_relaxed);
}

/// How long a waiter sleeps before it looks again, where no event tells of a death.
std::int64_t tick_ns(bool head, std::int64_t waited_ns) {
  constexpr std::int64_t ms = 1'000'000;
  if (head) return waited_ns < 1000 * ms ? ms : 4 * ms;
  return 40 * ms;
}
constexpr std::int64_t progress_ns = 250'000'000;
constexpr std::int64_t cut_off_ns = 1'000'000'000;

/// What member_info::dismissed is for a passage.
std::uint32_t dismissal_of(state s) { return static_cast<std::uint32_t>(s.passage()) + 1; }

/// As much of a text as there is room for, and no part of a UTF-8 character.
template <std::size_t N>
void copy_text(std::array<char, N>& into, std::string_view text) {
  std::size_t size = std::min(text.size(), N - 1);
  while (size > 0 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  into.fill('\0');
  std::memcpy(into.data(), text.data(), size);
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
                     std::memory_order_release);  // partner: the first read of version in read_identity (layout.hpp)
}

/// False if the time is over.
[[gnu::hot]] bool timed_sleep(std::atomic<std::uint32_t>& bell, std::uint32_t expected, std::int64_t ns) {
  if (ns <= 0) return false;
  const timespec timeout{ns / 1'000'000'000, ns % 1'000'000'000};
  return sleep_on(bell, expected, ns == forever ? nullptr : &timeout);
}

/// The cells of one wait: how the protocol's wait() sleeps, and why it is to give up.
class waiting_cells : public mapped_cells {
 public:
  waiting_cells(const mapped_cells& cells, death_watch& watch, const wait_options& how, std::int64_t began)
      : mapped_cells(cells), watch_(watch), how_(how), began_(began) {}

  bool sleep(unsigned i, const watch_set& ahead) {
    const std::int64_t most = sleep_limit(i, ahead);
    if (most == 0) return false;
    timed_sleep(map().lines[i].bell, bell_listens | bell_asleep, most);
    return !is_over(now_ns());
  }
  /// How long member i may sleep; 0 if it is to give up.
  std::int64_t sleep_limit(unsigned i, const watch_set& ahead) {
    const bool head = link_of(i).before() >= members();
    if (how_.progress != nullptr) how_.progress(how_.progress_argument, protocol<mapped_cells>(*this).position(i));
    if (head && !seems_sound(map())) return give_up(entry::damaged);
    if (locks().lost() != 0) return give_up(entry::lost);
    const std::int64_t now = now_ns();
    if (is_over(now)) return 0;
    std::int64_t most = how_.progress != nullptr ? progress_ns : forever;
    if (!ahead.complete || watch_.watch(i, ahead.processes, how_.attended) == death_watch::answer::impossible)
      most = std::min(most, tick_ns(head, now - began_));
    if (how_.deadline_ns != forever) most = std::min(most, how_.deadline_ns - now);
    // Nothing rings at a file that was cut off; a process with the guard checks its own words.
    if (guards_mappings()) most = std::min(most, cut_off_ns);
    return most;
  }
  entry why() const { return why_; }

 private:
  std::int64_t give_up(entry why) {
    why_ = why;
    return 0;
  }
  bool is_over(std::int64_t now) {
    if (how_.cancelled != nullptr && how_.cancelled->load())
      why_ = entry::cancelled;
    else if (now >= how_.deadline_ns)
      why_ = entry::timed_out;
    else
      return false;
    return true;
  }

  death_watch& watch_;
  const wait_options& how_;
  std::int64_t began_;
  entry why_ = entry::removed;
};

/// The cells of a member that dozes (gate_doze.hpp): how long it sleeps.
class dozing_cells : public mapped_cells {
 public:
  /// A pause costs tens of nanoseconds; about a microsecond of them covers a hand-over between two running processes.
  /// Only the next waiter spins.
  static constexpr int spins_most = 600, spins_between_looks = 64;

  /// With `clock`, if it is not null, instead of timers.
  dozing_cells(const mapped_cells& cells, const wait_options& how, unsigned short_waits, doze_clock* clock = nullptr)
      : mapped_cells(cells),
        how_(how),
        clock_(clock),
        step_ns_(clock != nullptr ? clocked_doze_ns(members()) : dozing_ns(members(), short_waits)),
        for_ns_(step()) {}

  [[gnu::hot]] void doze_off(unsigned i) { map().lines[i].bell.store(bell_asleep); }
  [[gnu::hot]] void get_up(unsigned i) { map().lines[i].bell.store(0); }
  [[gnu::hot]] bool doze(unsigned i) {
    if (clock_ != nullptr && clock_->is_watched()) {
      // Nothing rings at a file that was cut off, the clock neither.
      if (!timed_sleep(map().lines[i].bell, bell_asleep, guards_mappings() ? cut_off_ns : forever)) return false;
      return (map().lines[i].bell.load() & bell_over) == 0;
    }
    if (clock_ != nullptr) {  // it has ended
      clock_ = nullptr;
      step_ns_ = dozing_ns(members(), short_waits_for_clock);
      for_ns_ = step();
    }
    // The time is not read for those that are woken by their grant.
    if (slept_ && until_ns_ == 0) until_ns_ = now_ns() + for_ns_;
    slept_ = true;
    return timed_sleep(map().lines[i].bell, bell_asleep, until_ns_ == 0 ? for_ns_ : until_ns_ - now_ns());
  }
  doze_end doze_until_one_ends(const watch_set& inside) {
    constexpr std::size_t watched_max = 64;
    constexpr std::int64_t deaf_ns_max = 1'000'000;  // short enough to hear soon of whatever else happens
    if (inside.any_dead) return doze_end::one_ended;
    if (!inside.complete || inside.processes.size() > watched_max) return doze_end::impossible;
    if (until_ns_ == 0) until_ns_ = now_ns() + for_ns_;
    const std::int64_t rest_ns = until_ns_ - now_ns();
    if (rest_ns <= 0) return doze_end::over;
    return death_watch::sleep_until_one_ends(inside.processes, std::min(rest_ns, deaf_ns_max));
  }
  bool ends(unsigned j) const { return map().lines[j].leaves_by_ending.load() != 0; }
  bool is_cancelled() const { return how_.cancelled != nullptr && how_.cancelled->load(); }
  bool dozes_again() {
    dozed_ns_ += step_ns_;
    for_ns_ = step();
    until_ns_ = 0;
    slept_ = false;
    return dozed_ns_ < dozing_most_ns;
  }
  bool is_time_to_heal() const { return claims_healing(map(), wall_coarse_ns()); }
  static void relax() { cpu_relax(); }

  /// Whether it dozed more than once.
  bool dozed_for_long() const { return dozed_ns_ > 0; }

 private:
  std::int64_t step() const {
    return how_.deadline_ns == forever ? step_ns_ : std::min(step_ns_, how_.deadline_ns - now_ns());
  }

  const wait_options& how_;
  doze_clock* clock_;
  std::int64_t step_ns_, for_ns_;
  std::int64_t dozed_ns_ = 0, until_ns_ = 0;
  bool slept_ = false;
};

using dozer = dozing<protocol<mapped_cells>, dozing_cells>;

}  // namespace

gate_failure core::open(const std::string& name, int slots, const location& where) {
  if (gate_failure failure = segment_.open(name, slots, where)) return failure;
  cells_.bind(segment_);
  for_exec_ = where.for_exec;
  // A file whose counts contradict each other is renewed if no process uses it, and refused if one does.
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

gate_failure core::scribbled_failure() const {
  return {gate_errc::damaged, "somebody changes " + segment_.path() + " all the time; run `kgate doctor`"};
}

gate_failure core::join(std::string_view command, membership& out, bool announced) try {
  for (int tries = 0; tries < 100; ++tries) {
    lock_opening opening = cells_.locks().open_for_member();
    int error = 0;
    if (join_once(command, opening, out, error)) {
      if (announced)
        announce(out);
      else
        announces_late_ = true;
      return {};
    }
    if (opening.error() != 0) error = opening.error();
    if (error != 0) return system_failure("cannot join the gate " + segment_.path(), error);
    usleep(1000);  // all numbers are locked while a gate is renewed, too
  }
  return {gate_errc::too_many, "more than " + std::to_string(members_max) + " participants; a gate cannot have more"};
} catch (const scribbled&) {
  return scribbled_failure();
}

bool core::join_once(std::string_view command, lock_opening& opening, membership& out, int& error) {
  // Asking whether a number is free costs a system call, so few are tried before the gate grows by one. Each newcomer
  // goes on where the last one stopped: numbers of the dead are found in time.
  constexpr unsigned probes_max = 32, steps_max = 128;
  file_layout& map = cells_.map();
  const unsigned used = cells_.members();
  const auto works = [&](unsigned i) {
    return error == 0 && opening.error() == 0 && take_number(i, command, opening, out, error);
  };
  const unsigned from = used == 0 ? 0 : map.number_hint.load(std::memory_order_relaxed) % used;
  for (unsigned n = 0, probes = 0; n < std::min(used, steps_max) && probes < probes_max; ++n) {
    const unsigned i = (from + n) % used;
    if (held_.count(i) != 0 || cells_.state_of(i).where() != kind::out) continue;
    if (works(i)) return true;
    ++probes;
  }
  for (unsigned i = used; i < members_max && error == 0 && opening.error() == 0; ++i)
    if (works(i)) return true;
  for (unsigned i = 0; i < members_max && used == members_max; ++i)  // any one will do, also of a dead member
    if (held_.count(i) == 0 && works(i)) return true;
  return false;
}

bool core::take_number(unsigned i, std::string_view command, lock_opening& opening, membership& out, int& error) {
  file_layout& map = cells_.map();
  struct {
    lock_opening& opening;
    bool lock(unsigned n) { return opening.lock(member_byte(n), 1); }
    void unlock(unsigned n) { opening.unlock(member_byte(n), 1); }
  } locks{opening};
  if (i >= cells_.members()) error = segment_.reserve_member(i);
  state mine;
  if (error != 0 || !protocol_.take_number(i, locks, mine)) return false;
  held_bytes held = for_exec_ ? opening.keep_until_exec() : opening.keep();
  if (!held) return false;
  std::uint32_t used = map.members_used.load();
  while (used < i + 1 && !map.members_used.compare_exchange_weak(used, i + 1)) {
  }
  map.number_hint.store(i + 1 < members_max ? i + 1 : 0, std::memory_order_relaxed);
  describe(map.info[i], command);
  // Read first, where it is new to this process: then the kernel maps the pages around it, too, the slots among them.
  if (map.lines[i].bell.load(std::memory_order_relaxed) != 0) map.lines[i].bell.store(0);
  map.lines[i].command.store(0, std::memory_order_relaxed);
  map.lines[i].leaves_by_ending.store(0, std::memory_order_relaxed);
  map.lines[i].queued_ns.store(0, std::memory_order_relaxed);
  map.lines[i].entered_ns.store(0, std::memory_order_relaxed);
  clock_.add(i);
  held_.insert_or_assign(i, std::move(held));
  out = {i, mine};
  return true;
}

void core::part(const membership& m) noexcept {
  clock_.remove(m.number);
  held_.erase(m.number);
  cells_.map().number_hint.store(m.number, std::memory_order_relaxed);
}

void core::disown() noexcept {
  for (auto& [number, held] : held_) held.forget();
  watch_.abandon();
  clock_.abandon();
}

gate_failure core::lost_failure() const {
  const int error = cells_.locks().lost();
  const bool could_query = error == ENOLCK || error == EINVAL;  // else no descriptor could be had to ask with
  return system_failure(
      "cannot find out who is alive at the gate " + segment_.path() +
          (could_query ? "" : ": this process closed its descriptors, and its lock files cannot be opened again"),
      error);
}

/// Returns when W shows room, or when it is time to queue up, or another has queued the caller.
void core::spin_for_room(unsigned i, int weight) {
  const word first = cells_.word();
  std::int64_t until = 0;
  for (word w = first; !w.waiting() && w.operation() != op::retired && w.free() < weight; w = cells_.word()) {
    if (w.seq() - first.seq() > looking_operations || cells_.state_of(i).where() != kind::calls) return;
    for (int pauses = 0; pauses < 32; ++pauses)
      cpu_relax();  // every read takes the cache line away from those that use it
    const std::int64_t now = now_ns();
    if (until == 0) until = now + looking_ns;
    if (now > until) return;
  }
}

/// Calls, and looks for room first if that is asked for. How it ended, or nothing: it is queued.
[[gnu::hot]] std::optional<entry> core::request(membership& m, int weight, bool spins_first, word& became) {
  became = {};
  m.out = m.out.with_weight(weight);
  const std::uint32_t number = protocol_.call(m.number, m.out);
  if (spins_first) spin_for_room(m.number, weight);
  switch (protocol_.request(m.number, m.out, number, became)) {
    case outcome::entered:
      return entered_now(m);
    case outcome::retired:
      return entry::removed;
    default:
      return std::nullopt;
  }
}

entry core::attempt(membership& m, int weight, word& became) {
  became = {};
  m.out = m.out.with_weight(weight);
  outcome result = protocol_.attempt(m.number, m.out, became);
  // No member need be waiting, so none need have noticed that a holder died.
  if (result == outcome::refused && heal_all() > 0) result = protocol_.attempt(m.number, m.out, became);
  if (result == outcome::retired) return entry::removed;
  return result == outcome::entered ? entered_now(m) : entry::timed_out;
}

/// The member is out, whatever the file says, which contradicts itself then.
entry core::forsake(membership& m) noexcept {
  stop_sleeping(m.number);
  m.out = m.out.next_passage();
  cells_.set_state(m.number, m.out);
  return entry::damaged;
}

[[gnu::hot]] entry core::enter(membership& m, int weight, const wait_options& how, word& became) {
  try {
    return enter_or_throw(m, weight, how, became);
  } catch (const scribbled&) {
    became = {};
    return forsake(m);
  }
}

[[gnu::hot]] entry core::enter_or_throw(membership& m, int weight, const wait_options& how, word& became) {
  if (how.deadline_ns == 0) return attempt(m, weight, became);
  const std::optional<entry> at_once = request(m, weight, how.spins_first, became);
  return at_once ? *at_once : wait(m, how);
}

[[gnu::hot]] void core::begin_to_wait(const membership& m, bool by_clock) {
  const std::uint64_t queued = by_clock ? clock_.wall_ns() : wall_coarse_ns();
  cells_.map().lines[m.number].queued_ns.store(queued, std::memory_order_relaxed);
  if (!by_clock && claims_healing(cells_.map(), queued)) heal_holders();
}

/// What the clock does at each tick: whatever those that doze would find out when they got up, for a gate that stands
/// still because a member has died.
doze_clock::pace core::tick() noexcept {
  const unsigned members = cells_.members(), own = clock_.members();
  try {
    if (claims_healing(cells_.map(), wall_coarse_ns())) heal_holders();
  } catch (const scribbled&) {  // the next caller finds the file damaged
  }
  return {clock_tick_ns(members, own), clocked_doze_ns(members), short_waits_.load(std::memory_order_relaxed),
          clocks(members, own) <= clocks_most};
}

[[gnu::hot]] entry core::wait(membership& m, const wait_options& how) {
  const unsigned i = m.number;
  const bool by_clock = how.deadline_ns == forever && clock_.runs();
  begin_to_wait(m, by_clock);
  const unsigned short_waits = short_waits_.load(std::memory_order_relaxed);
  dozing_cells dozing_on(cells_, how, short_waits, by_clock ? &clock_ : nullptr);
  dozer first(protocol_, dozing_on);
  if (is_head(i) && (how.deadline_ns == forever || how.deadline_ns - now_ns() > spinning_ns)) {
    const word before = cells_.word();
    first.spin_at_head(i);
    // Nothing moves: they may have died before any member waited.
    if (waits(i) && cells_.word() == before) first.heal_holders();
  }
  if (first.doze_while_it_moves(i, m.inside())) {
    if (dozing_on.dozed_for_long()) return entered_now(m);
    // Inside since it was queued, all but; a clock is several pages, between two of those that are let in.
    short_waits_.store(short_waits + 1, std::memory_order_relaxed);
    if (!by_clock && short_waits % short_waits_for_clock == short_waits_for_clock - 1 &&
        clocks(cells_.members(), clock_.members()) <= clocks_most)
      clock_.start();
    return entry::entered;
  }
  short_waits_.store(0, std::memory_order_relaxed);
  if (announces_late_.load(std::memory_order_relaxed)) cells_.announce(i);  // the one behind it watches it from now on
  waiting_cells waiting(cells_, watch_, how, now_ns());
  protocol<waiting_cells> sleeper(waiting);
  const bool over = sleeper.wait(i);
  stop_sleeping(i);
  return over ? ended(m) : give_up(m, waiting.why());
}

void core::stop_sleeping(unsigned i) {
  watch_.forget(i);
  cells_.map().lines[i].bell.store(0, std::memory_order_relaxed);
}

/// How the wait of a member ended that is no longer queued, or whose gate is retired.
entry core::ended(membership& m) {
  const state now = cells_.state_of(m.number);
  if (now == m.inside()) return entered_now(m);
  if (now == m.out.at(kind::waits)) return give_up(m, entry::removed);
  // Refused at the head of the queue, dismissed, or something that no participant writes (G8).
  const bool is_out = now == m.out.next_passage();
  const bool dismissed = cells_.map().info[m.number].dismissed.load() == dismissal_of(m.out);
  m.out = m.out.next_passage();
  if (!is_out) return entry::damaged;
  return m.out.weight() == 1 || dismissed ? entry::cancelled : entry::too_heavy;
}

std::optional<entry> core::begin(suspended_wait& s, int weight, word& became) {
  try {
    return begin_or_throw(s, weight, became);
  } catch (const scribbled&) {
    became = {};
    return forsake(s.member);
  }
}

std::optional<entry> core::begin_or_throw(suspended_wait& s, int weight, word& became) {
  if (const std::optional<entry> at_once = request(s.member, weight, false, became)) return at_once;
  begin_to_wait(s.member, false);
  if (announces_late_.load(std::memory_order_relaxed)) cells_.announce(s.member.number);
  if (is_head(s.member.number)) heal_holders();
  s.began_ns = now_ns();
  s.seen = cells_.word();
  s.wake_at_ns = s.began_ns + dozing_ns(cells_.members(), 0);
  return std::nullopt;
}

/// Whether a suspended wait need not watch a process yet: as doze(), for one that is woken.
bool core::dozes_on(suspended_wait& s, std::int64_t now) {
  s.asleep = bell_asleep;
  dozing_cells dozing_on(cells_, s.how, 0);
  dozer sleeper(protocol_, dozing_on);
  if (!sleeper.is_to_sleep(s.member.number) || now >= s.how.deadline_ns) return false;
  if (now >= s.wake_at_ns) {
    const word w = cells_.word();
    if (w == s.seen || now - s.began_ns >= dozing_most_ns) return false;
    if (dozing_on.is_time_to_heal()) sleeper.heal_holders();
    s.seen = w;
    s.wake_at_ns = now + dozing_ns(cells_.members(), 0);
  }
  s.wake_at_ns = std::min(s.wake_at_ns, s.how.deadline_ns);
  return true;
}

std::optional<entry> core::proceed(suspended_wait& s) {
  try {
    return proceed_or_throw(s);
  } catch (const scribbled&) {
    return forsake(s.member);
  }
}

std::optional<entry> core::proceed_or_throw(suspended_wait& s) {
  const unsigned i = s.member.number;
  const std::int64_t now = now_ns();
  s.dozes = s.dozes && dozes_on(s, now);
  if (s.dozes) return std::nullopt;
  waiting_cells waiting(cells_, watch_, s.how, s.began_ns);
  protocol<waiting_cells> sleeper(waiting);
  mapped_cells::watch_set ahead;
  if (!sleeper.falls_asleep(i, ahead)) {
    sleeper.alert_behind(i);
    stop_sleeping(i);
    return ended(s.member);
  }
  const std::int64_t most = waiting.sleep_limit(i, ahead);
  if (most == 0) return withdraw(s, waiting.why());
  s.asleep = bell_listens | bell_asleep;
  s.wake_at_ns = most == forever ? forever : now_ns() + most;
  return std::nullopt;
}

entry core::withdraw(suspended_wait& s, entry why) {
  stop_sleeping(s.member.number);
  try {
    return give_up(s.member, why);
  } catch (const scribbled&) {
    return forsake(s.member);
  }
}

entry core::give_up(membership& m, entry why) {
  const outcome result = protocol_.abandon(m.number);
  if (result == outcome::entered) return entered_now(m);
  m.out = m.out.next_passage();
  return result == outcome::retired ? entry::removed : why;
}

[[gnu::hot]] entry core::entered_now(const membership& m) {
  cells_.map().lines[m.number].entered_ns.store(wall_coarse_ns(), std::memory_order_relaxed);
  return entry::entered;
}

[[gnu::hot]] void core::leave(membership& m, word& became) {
  const state inside = m.inside();
  m.out = m.out.next_passage();
  try {
    protocol_.leave(m.number, inside, became);
    if (became.waiting()) protocol_.hand_over(became);
  } catch (const scribbled&) {  // the next caller finds the file damaged
    cells_.set_state(m.number, m.out);
    became = {};
  }
}

bool core::touch(const membership& m) try { return protocol_.touch(m.number, m.inside()); } catch (const scribbled&) {
  return false;
}

void core::dismiss_own(const membership& m) noexcept {
  try {
    protocol_.dismiss(m.number, m.out.at(kind::waits));
  } catch (const scribbled&) {  // its wait ends for the same reason
  }
}

int core::take_slot(const membership& m) {
  const int first = protocol_.take_slot(m.number, m.inside(), slots());
  // A gate that shrank since this member got in may have none left below its size.
  const int all = static_cast<int>(std::min<std::uint32_t>(cells_.map().slots_used.load(), slots_max));
  return first >= 0 ? first : protocol_.take_slot(m.number, m.inside(), all);
}

bool core::dismiss(membership& m, const participant& who) {
  // First, so that one that is out finds it; if this fails, its passage ends in another way.
  cells_.map().info[who.member].dismissed.store(dismissal_of(state{who.state_bits}));
  try {
    const bool done = protocol_.dismiss_by(m.number, m.out, who.member, state{who.state_bits});
    m.out = m.out.next_passage();
    return done;
  } catch (const scribbled&) {
    forsake(m);
    return false;
  }
}

outcome core::resize(membership& m, int slots) {
  if (segment_.reserve_slots(slots) != 0) return outcome::refused;
  auto& most = cells_.map().slots_used;
  std::uint32_t before = most.load();
  while (before < static_cast<std::uint32_t>(slots) &&
         !most.compare_exchange_weak(before, static_cast<std::uint32_t>(slots))) {
  }
  return set_limit(m, slots, paused());
}

outcome core::set_paused(membership& m, bool paused) { return set_limit(m, slots(), paused); }

outcome core::set_limit(membership& m, int slots, bool paused) {
  m.out = m.out.with_weight(slots | (paused ? limit::paused_flag : 0));
  try {
    const outcome result = protocol_.resize(m.number, m.out);
    m.out = m.out.next_passage();
    return result;
  } catch (const scribbled&) {
    forsake(m);
    return outcome::damaged;
  }
}

gate_failure core::remove(bool forced) try {
  if (gate_failure failure = segment_.may_unlink()) return failure;
  heal_all();
  if (!protocol_.retire(forced)) return {gate_errc::in_use, segment_.path() + " is in use"};
  for (unsigned j = 0, n = cells_.members(); j < n; ++j) cells_.ring(j);
  return segment_.unlink_retired();
} catch (const scribbled&) {
  return scribbled_failure();
}

void core::heal_holders() { dozing<protocol<mapped_cells>, mapped_cells>(protocol_, cells_).heal_holders(); }

void core::set_leaves_by_ending(const membership& m) {
  dozing<protocol<mapped_cells>, mapped_cells>(protocol_, cells_).will_end(m.number);
}

int core::heal_all() {
  int found = 0;
  try {
    protocol_.load_and_help();  // a member may be inside by the word alone, its own state yet to follow
    for (unsigned j = 0, n = cells_.members(); j < n; ++j)
      if (cells_.state_of(j).where() != kind::out && protocol_.heal(j)) ++found;
    protocol_.advance();
  } catch (const scribbled&) {  // what remains is found by the next
  }
  return found;
}

}  // namespace kgate::detail::gates
