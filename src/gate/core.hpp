// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A process's end of a gate: membership, waiting, healing. What kgate::gate and the tool are made of; failures are
/// values.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/cells.hpp"
#include "gate/death_watch.hpp"
#include "gate/doze_clock.hpp"
#include "gate/segment.hpp"
#include "kgate/algorithms/gate_protocol.hpp"

namespace kgate::detail::gates {

inline constexpr std::int64_t forever = std::numeric_limits<std::int64_t>::max();

/// How a member waits.
struct wait_options {
  std::int64_t deadline_ns = forever;               ///< on the monotonic clock; 0: do not wait at all
  bool spins_first = false;                         ///< may spin for a free permit for a while before it queues up
  const std::atomic<bool>* cancelled = nullptr;     ///< looked at whenever the waiter wakes
  attended_deaths* attended = nullptr;              ///< not null: deaths are watched by the caller of core::attend()
  void (*progress)(void*, int position) = nullptr;  ///< called now and then while waiting
  void* progress_argument = nullptr;
};

enum class entry : unsigned char {
  entered,
  timed_out,
  cancelled,  ///< by the caller, or the waiter was taken out of the queue
  removed,
  too_heavy,  ///< the gate became smaller than the weight that was asked for
  damaged,
  lost  ///< the kernel cannot be asked which are alive: the descriptor was closed, and the path is gone
};

/// A member: its number, and its own state when it is out. The state is never read back from the file, to which others
/// write.
struct membership {
  unsigned number = 0;
  state out{};

  state inside() const { return out.at(kind::in); }
};

/// A wait for which no thread sleeps: core::proceed takes it on whenever its bell has rung or its time has come.
struct suspended_wait {
  membership member;
  wait_options how;
  std::int64_t began_ns = 0;
  std::int64_t wake_at_ns = forever;  ///< on the monotonic clock
  std::uint32_t asleep = 0;           ///< what its bell is while there is nothing to do
  bool dozes = true;                  ///< watches no process yet
  word seen{};                        ///< W when it began to doze
};

/// A member inside or waiting, as shown to users.
struct participant {
  unsigned member = 0;
  std::uint64_t state_bits = 0;  ///< for core::dismiss
  int process = 0;
  int command_process = 0;  ///< of the command it started, 0 if there is none
  unsigned user = 0;
  int weight = 0;
  int slot = -1;               ///< the first, for a holder that took one
  std::vector<int> slots;      ///< all of them
  int position = 0;            ///< from 1, for a waiter
  std::uint64_t since_ns = 0;  ///< wall clock
  bool alive = true;
  std::string host;
  std::string command;
};

struct snapshot {
  int slots = 0;
  int free = 0;          ///< as W counts: a paused gate has no permits, and more may be out than there are
  bool settled = false;  ///< false: the gate changed faster than it could be read; numbers may not fit together
  bool sound = false;    ///< the counts agree (invariants G3 and G4)
  bool retired = false;
  bool paused = false;
  unsigned overtakings = 0;
  std::uint64_t healed = 0;
  std::vector<participant> holders;
  std::vector<participant> waiters;

  /// How many more may be inside now.
  int free_slots() const { return std::max(free, 0); }
  /// By how many those inside exceed the slots.
  int slots_over() const { return std::max((paused ? 0 : slots) - free - slots, 0); }
};

/// What a map shows. Applies the effect of the word's operation in the copy, so a read-only mapping will do. `alive` is
/// filled in by asking `locks`, if there are any.
snapshot take_snapshot(const file_layout& map, lock_file* locks = nullptr);

/// Whether the counts agree, as far as can be said: true if the gate changed faster than it could be read.
bool seems_sound(const file_layout& map);

class core {
 public:
  gate_failure open(const std::string& name, int slots, const location& where);

  /// A membership for this process, or why there is none. The command is what others see. One that announces itself
  /// later (announce) cannot be watched by others until then, but for a command that it starts or becomes; it does so
  /// at the latest when it waits for long.
  gate_failure join(std::string_view command, membership& out, bool announced = true);
  void announce(const membership& m) { cells_.announce(m.number); }
  /// Gives the number back. The member is out.
  void part(const membership& m) noexcept;

  /// The member asks for `weight` permits and waits as long as `how` allows. `became` is what W was made by the member
  /// itself, or 0: the guess with which its next operation begins.
  entry enter(membership& m, int weight, const wait_options& how, word& became);
  /// The same without waiting: nothing if it is queued. Then proceed() is next, at once.
  std::optional<entry> begin(suspended_wait& s, int weight, word& became);
  /// How the wait has ended, or nothing: then it sleeps on the member's bell.
  std::optional<entry> proceed(suspended_wait& s);
  /// Its attended deaths may have something to tell: if so, its bell is rung.
  void attend(const suspended_wait& s) noexcept { watch_.attend(s.member.number); }
  /// Ends a wait that has not ended, because of `why`; but it may have been granted.
  entry withdraw(suspended_wait& s, entry why);
  void leave(membership& m, word& became);
  /// Grants the waiters that may enter: after a leave that saw one.
  void advance() { protocol_.advance(); }
  /// A slot for a member that is inside; -1 if the file is damaged.
  int take_slot(const membership& m);
  /// 0 if the file is damaged.
  std::uint64_t take_token() {
    const std::uint64_t token = cells_.map().tokens.fetch_add(1) + 1;
    return token < tokens_max ? token : 0;
  }
  bool touch(const membership& m);
  /// Takes a waiter of this process out of the queue, from a signal handler or another thread.
  void dismiss_own(const membership& m) noexcept;

  /// What others see of a command that the member started, and whose end the kernel tells of.
  void set_command(const membership& m, int process) {
    cells_.map().lines[m.number].command.store(process, std::memory_order_relaxed);
  }
  /// The member will not leave: it, or its command, ends, which others find out, as they can name that process by now.
  void set_leaves_by_ending(const membership& m);
  /// Member m takes a waiter out of the queue, or a holder out of its slots, as seen in a snapshot. False if that one
  /// has moved on.
  bool dismiss(membership& m, const participant& who);

  /// A paused gate stays paused. Refused if there is no space for so many slots; damaged if it cannot be done because a
  /// process scribbles on the file.
  outcome resize(membership& m, int slots);
  /// No member enters a paused gate; those inside stay, and so does the queue.
  outcome set_paused(membership& m, bool paused);
  /// Removes the gate. gate_errc::in_use, and nothing is done, if a member is inside or waits, unless forced.
  gate_failure remove(bool forced);
  /// What lost means, for people.
  gate_failure lost_failure() const;
  /// What it means that an operation goes round for ever.
  gate_failure scribbled_failure() const;
  /// In a forked child: the locks and the watch are the parent's.
  void disown() noexcept;
  /// Completes what dead members left. How many there were.
  int heal_all();

  /// The size; 0 if the file is damaged.
  int slots() const {
    const limit size = size_of(cells_.map());
    return size.valid() ? size.slots() : 0;
  }
  bool paused() const { return size_of(cells_.map()).paused(); }
  /// Whether those that come now find this very gate: it has not been removed, in whatever way.
  bool is_in_place() { return cells_.word().operation() != op::retired && segment_.is_in_place(); }
  mapped_cells& cells() { return cells_; }
  segment& file() { return segment_; }

 private:
  bool join_once(std::string_view command, lock_opening& opening, membership& out, int& error);
  bool take_number(unsigned i, std::string_view command, lock_opening& opening, membership& out, int& error);
  entry enter_or_throw(membership& m, int weight, const wait_options& how, word& became);
  std::optional<entry> begin_or_throw(suspended_wait& s, int weight, word& became);
  std::optional<entry> proceed_or_throw(suspended_wait& s);
  entry forsake(membership& m) noexcept;
  std::optional<entry> request(membership& m, int weight, bool spins_first, word& became);
  entry attempt(membership& m, int weight, word& became);
  void spin_for_room(unsigned i, int weight);
  void heal_holders();
  bool dozes_on(suspended_wait& s, std::int64_t now);
  bool waits(unsigned i) const { return cells_.state_of(i).where() == kind::waits; }
  bool is_head(unsigned i) const { return cells_.link_of(i).before() >= cells_.members(); }
  void begin_to_wait(const membership& m, bool by_clock);
  doze_clock::pace tick() noexcept;
  entry wait(membership& m, const wait_options& how);
  entry ended(membership& m);
  void stop_sleeping(unsigned i);
  entry give_up(membership& m, entry why);
  entry entered_now(const membership& m);
  outcome set_limit(membership& m, int slots, bool paused);

  segment segment_;
  bool for_exec_ = false;                    ///< location::for_exec
  std::map<unsigned, held_bytes> held_;      ///< the bytes of this object's members, by their numbers
  std::atomic<bool> announces_late_{false};  ///< one of its members was not announced when it joined
  std::atomic<unsigned> short_waits_{0};     ///< the last ones in a row that were granted while dozing
  mapped_cells cells_;
  death_watch watch_{[this](unsigned i) { cells_.ring(i); }};
  protocol<mapped_cells> protocol_{cells_};
  doze_clock clock_{cells_, [this] { return tick(); }};  ///< the last one: its thread uses the others
};

}  // namespace kgate::detail::gates
