// SPDX-License-Identifier: Apache-2.0
#pragma once

/// FIFO enabling with O(N log^c N) shared values: a queue whose head is shared under short names and whose rest is
/// remembered by a supervisor, which is then done without.
///
/// Source       Fischer, Lynch, Burns & Borodin 1979, lemma 4.5 (a sketch) under lemma 4.3 (flbb79_supervisor.hpp):
///              theorem 4.4. docs/decisions/0010-short-name-queue.md says what the sketch leaves open and how it is
///              completed.
/// Promises     l-exclusion, (k,l)-deadlock freedom, FIFO enabling (C5'), with at most k-1 crashes. The catalogue's row
///              has k = l; tests/algorithms/flbb79/fifo_test walks through others. Exit: one step. Remote references
///              unbounded. Primitives: read-modify-write of one large variable, so for the laboratory only. Space:
///              O(N log^c N) values for fixed k and l.
/// Variables    v (shared)
///                issue, number  the ticket issued last: colour 0..2l+3k+2, number 0..N          initially 0, 0
///                exposed        the first 2l+2k-1 of the queue: short name; waits, inside, left initially none
///                enabled        how many of them may enter, or have                             initially 0
///                colours        of each: its map to short names, whether its processes are called
///                talk[j]        the line of conversation j in 0..k-1                            initially idle
///              x (supervisor)
///                hidden         the rest of the queue, by tickets, in the order of arrival
///                copied         how many tickets of the issue colour it knows of
///                and, while it converses: the colours to give, what was said on each line
/// Invariants   F1  the queue, exposed then hidden then tickets not yet copied, is in the order of arrival
///              F2  a colour with a map has at most max(1, k-1) processes, with different short names
///              F3  enabled <= l, and a process inside has one of the first `enabled` positions
///              F4  within one issue colour none draws twice: before it returns, its colour was mapped or called, and
///                  then the issue colour changed
/// Deviations   a completed sketch; docs/decisions/0010-short-name-queue.md
/// Memory model one variable: coherence is enough
/// Evidence     tests/algorithms/flbb79 (short names, queue; model; random runs beside the supervised system)

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "kgate/algorithms/flbb79_fifo_values.hpp"
#include "kgate/algorithms/flbb79_short_names.hpp"
#include "kgate/algorithms/flbb79_supervisor.hpp"

namespace kgate::flbb79 {

class fifo_system {
 public:
  using Value = fifo_value;
  using Worker = fifo_worker;
  using Supervisor = fifo_supervisor;
  static constexpr int processes_max = fifo_processes_max;

  /// For l permits and fewer than k failures.
  fifo_system(int N, int l, int k)
      : N_(N),
        l_(l),
        k_(k),
        colour_bits_(bit_coder::width(colours() - 1)),
        ticket_bits_(colour_bits_ + bit_coder::width(N)) {
    KGATE_EXPECTS(N <= processes_max, "the short-name queue is made for at most 12 processes");
  }

  Value first_value() const { return {}; }
  Supervisor first_supervisor() const { return {}; }
  static region where(const Worker& w) { return w.where; }
  int c1() const { return l_ + 2 * k_ - 1; }
  int colours() const { return 2 * l_ + 3 * k_ + 3; }
  int exposed() const { return 2 * l_ + 2 * k_ - 1; }

  void work(Value& v, Worker& w) const {
    switch (w.where) {
      case region::remainder:
        w.where = region::entry;
        w.mine = {v.issue, ++v.number};
        break;
      case region::entry:
        if (w.talk != 0)
          answer(v, w);
        else if (v.colours[w.mine.colour].called)
          take_call(v, w);
        enter_if_enabled(v, w);
        break;
      case region::critical:
      case region::exit:
        leave(v, w);
        break;
    }
  }

  eligibility elig(const Value& v, const Worker& w) const {
    if (w.where != region::entry) return eligibility::drone;
    const int at = position_of(v, w.mine);
    if (at < 0 || at > v.enabled) return eligibility::helper;
    return at < v.enabled ? eligibility::drone : eligibility::quitter;
  }

  int active(const Value& v, const Supervisor& x) const {
    int waiting = x.length + v.number - x.copied;
    for (std::size_t i = 0; i < v.length; ++i) waiting += v.exposed[i].is == entry_status::waits;
    return waiting;
  }

  int transno(const Value& v, const Supervisor& x) const;
  Supervisor newstate(Supervisor x, int t) const;
  Value newval(Value v, const Supervisor& x) const;

  void code(bit_coder& coder, Supervisor& x) const {
    auto at = static_cast<std::uint8_t>(x.at), talks = static_cast<std::uint8_t>(x.converses);
    coder.number(at, 4);
    x.at = static_cast<Supervisor::program>(at);
    coder.number(x.looks_at, k_ - 1);
    coder.number(x.issue, colours() - 1);
    coder.number(x.copied, N_);
    coder.number(x.length, N_);
    coder.number(talks, 1);
    x.converses = talks != 0;
    coder.number(x.first, colours() - 1);
    coder.number(x.second, colours() - 1);
    coder.number(x.given, N_);
    coder.number(x.remaining, N_);
    for (std::size_t i = 0; i < static_cast<std::size_t>(N_); ++i) {
      code(coder, x.hidden[i]);
      auto mapped = static_cast<std::uint8_t>(x.mapped[i]);
      coder.number(mapped, 1);
      x.mapped[i] = mapped != 0;
    }
    for (std::size_t j = 0; j < static_cast<std::size_t>(k_); ++j) {
      fifo_talk& talk = x.talks[j];
      auto stage = static_cast<std::uint8_t>(talk.at);
      coder.number(stage, 2);
      talk.at = static_cast<fifo_talk::stage>(stage);
      coder.number(talk.bits, ticket_bits_);
      code(coder, talk.old);
      code(coder, talk.fresh);
    }
  }

 private:
  /// What transno says of the steps `prepare` and `shift`.
  enum decision : int { nothing, end_of_talks, map_head, map_head_and_issue, converse };
  struct shifting {
    bool drops = false, takes = false;
  };

  void code(bit_coder& coder, long_name& t) const {
    coder.number(t.colour, colours() - 1);
    coder.number(t.number, N_);
  }

  // The side of the processes.
  int position_of(const Value& v, long_name t) const {
    const name_map& map = v.colours[t.colour].map;
    if (!map.defined()) return -1;
    const int name = map.short_of(t.number);
    for (std::size_t i = 0; i < v.length; ++i)
      if (v.exposed[i].colour == t.colour && v.exposed[i].name == name) return static_cast<int>(i);
    return -1;
  }
  void enter_if_enabled(Value& v, Worker& w) const {
    const int at = position_of(v, w.mine);
    if (at < 0 || at >= v.enabled) return;
    exposed_entry& mine = v.exposed[static_cast<std::size_t>(at)];
    mine.is = entry_status::inside;
    w = {};
    w.where = region::critical;
    w.mine = {mine.colour, mine.name};
  }
  static void leave(Value& v, Worker& w) {
    for (std::size_t i = 0; i < v.length; ++i)
      if (v.exposed[i].colour == w.mine.colour && v.exposed[i].name == w.mine.number)
        v.exposed[i].is = entry_status::left;
    w = {};
  }
  bool bit_of(long_name t, int i) const {
    return ((i < colour_bits_ ? t.colour >> i : t.number >> (i - colour_bits_)) & 1) != 0;
  }
  void put_bit(long_name& t, int i, bool bit) const {
    std::uint8_t& part = i < colour_bits_ ? t.colour : t.number;
    part = static_cast<std::uint8_t>(part | bit << (i < colour_bits_ ? i : i - colour_bits_));
  }
  void take_call(Value& v, Worker& w) const {
    for (std::uint8_t j = 0; j < k_; ++j) {
      if (v.talk[j] != line::call) continue;
      w.talk = static_cast<std::uint8_t>(j + 1);
      v.talk[j] = bit_of(w.mine, 0) ? line::up1 : line::up0;
      w.bits = 1;
      return;
    }
  }
  void answer(Value& v, Worker& w) const {
    line& at = v.talk[static_cast<std::size_t>(w.talk - 1)];
    if (at == line::cancel) {
      at = line::idle;
      hang_up(w);
    } else if (at == line::want) {
      at = bit_of(w.mine, w.bits++) ? line::up1 : line::up0;
    } else if (at == line::down0 || at == line::down1) {
      if (!w.receives) {
        w.receives = true;
        w.bits = 0;
      }
      put_bit(w.given, w.bits++, at == line::down1);
      at = line::got;
      if (w.bits < ticket_bits_) return;
      at = line::done;
      w.mine = w.given;
      hang_up(w);
    }
  }
  static void hang_up(Worker& w) {
    w.talk = w.bits = 0;
    w.receives = false;
    w.given = {};
  }

  // The side of the supervisor.
  int members_max() const { return std::max(1, k_ - 1); }
  int hidden_with(const Supervisor& x, int colour) const {
    return static_cast<int>(
        std::count_if(x.hidden.begin(), x.hidden.begin() + x.length, [&](long_name t) { return t.colour == colour; }));
  }
  static bool head_mapped(const Supervisor& x) { return x.length > 0 && x.mapped[0]; }
  decision prepares(const Value& v, const Supervisor& x) const;
  shifting shifts(const Value& v, const Supervisor& x) const;
  std::array<std::uint8_t, 3> unused_colours(const Value& v, const Supervisor& x) const;
  void say(fifo_talk& talk, line seen, const Supervisor& x, std::uint8_t& given) const;
  void prepare(Supervisor& x, decision what, int fresh) const;
  void hear(Supervisor& x, line seen) const;
  void prepare(Value& v, const Supervisor& x) const;
  static void cancel_talks(Value& v);
  static void call_unmapped(Value& v, const Supervisor& x);
  static void map_colour_of_head(Value& v, const Supervisor& x);
  void reply(Value& v, const Supervisor& x) const;
  void drop_left(Value& v, const Supervisor& x) const;
  static void expose_head(Value& v, const Supervisor& x);
  static void forget_head(Supervisor& x) {
    std::move(x.hidden.begin() + 1, x.hidden.begin() + x.length, x.hidden.begin());
    std::move(x.mapped.begin() + 1, x.mapped.begin() + x.length, x.mapped.begin());
    --x.length;
    x.hidden[x.length] = {};
    x.mapped[x.length] = false;
  }

  int N_;
  int l_;
  int k_;
  int colour_bits_;
  int ticket_bits_;
};

inline fifo_system::decision fifo_system::prepares(const Value& v, const Supervisor& x) const {
  if (x.converses) {
    const bool unheard = std::find(v.talk.begin(), v.talk.end(), line::done) != v.talk.end();
    return x.remaining <= k_ - 1 && !unheard ? end_of_talks : nothing;
  }
  if (x.length == 0 || head_mapped(x)) return nothing;
  const int colour = x.hidden[0].colour;
  const bool all_copied = v.number == x.copied;
  if (hidden_with(x, colour) <= members_max()) {
    if (colour != x.issue) return map_head;
    return all_copied ? map_head_and_issue : nothing;
  }
  return all_copied ? converse : nothing;
}

inline fifo_system::shifting fifo_system::shifts(const Value& v, const Supervisor& x) const {
  shifting s;
  const bool mapped = head_mapped(x);
  const bool gone = std::any_of(v.exposed.begin(), v.exposed.begin() + v.length,
                                [](const exposed_entry& e) { return e.is == entry_status::left; });
  s.drops = gone && (mapped || (x.length == 0 && v.number == x.copied));
  s.takes = mapped && (s.drops || v.length < exposed());
  return s;
}

/// Three colours that none holds: for the head, for the others and for arrivals.
inline std::array<std::uint8_t, 3> fifo_system::unused_colours(const Value& v, const Supervisor& x) const {
  std::array<std::uint8_t, 3> found{};
  std::size_t count = 0;
  for (std::uint8_t c = 0; c < colours() && count < 3; ++c) {
    bool used = c == v.issue || hidden_with(x, c) > 0;
    for (std::size_t i = 0; i < v.length; ++i) used |= v.exposed[i].colour == c;
    if (!used) found[count++] = c;
  }
  KGATE_EXPECTS(count == 3, "2l+3k+3 colours are enough for the queue");
  return found;
}

inline int fifo_system::transno(const Value& v, const Supervisor& x) const {
  switch (x.at) {
    case Supervisor::program::copy:
      return v.number > x.copied;
    case Supervisor::program::prepare: {
      const decision what = prepares(v, x);
      if (what != converse && what != map_head_and_issue) return what;
      const auto fresh = unused_colours(v, x);
      return what + 5 * (fresh[0] + colours() * (fresh[1] + colours() * fresh[2]));
    }
    case Supervisor::program::talk:
      return static_cast<int>(v.talk[x.looks_at]);
    case Supervisor::program::shift:
      return shifts(v, x).takes;
    case Supervisor::program::enable:
      return 0;
  }
  return 0;
}

inline fifo_system::Supervisor fifo_system::newstate(Supervisor x, int t) const {
  switch (x.at) {
    case Supervisor::program::copy:
      if (t != 0) x.hidden[x.length++] = {x.issue, ++x.copied};  // F1
      x.at = Supervisor::program::prepare;
      break;
    case Supervisor::program::prepare:
      prepare(x, static_cast<decision>(t % 5), t / 5);
      x.at = x.converses ? Supervisor::program::talk : Supervisor::program::shift;
      break;
    case Supervisor::program::talk:
      hear(x, static_cast<line>(t));
      x.looks_at = static_cast<std::uint8_t>((x.looks_at + 1) % k_);
      x.at = x.looks_at == 0 ? Supervisor::program::enable : Supervisor::program::talk;
      break;
    case Supervisor::program::shift:
      if (t != 0) forget_head(x);
      x.at = Supervisor::program::enable;
      break;
    case Supervisor::program::enable:
      x.at = Supervisor::program::copy;
      break;
  }
  return x;
}

/// The supervisor's own part of what `prepare` decides; `fresh` codes the three unused colours.
inline void fifo_system::prepare(Supervisor& x, decision what, int fresh) const {
  if (what == end_of_talks) {
    x.converses = false;
    x.first = x.second = x.given = x.remaining = 0;
    x.talks = {};
  }
  if (what == map_head || what == map_head_and_issue)
    for (std::size_t i = 0; i < x.length; ++i) x.mapped[i] = x.mapped[i] || x.hidden[i].colour == x.hidden[0].colour;
  if (what == map_head_and_issue || what == converse) {
    x.issue = static_cast<std::uint8_t>(fresh / colours() / colours());
    x.copied = 0;
  }
  if (what == converse) {
    x.converses = true;
    x.first = static_cast<std::uint8_t>(fresh % colours());
    x.second = static_cast<std::uint8_t>(fresh / colours() % colours());
    x.remaining = static_cast<std::uint8_t>(std::count(x.mapped.begin(), x.mapped.begin() + x.length, false));
  }
}

/// The supervisor's own part of a step of the conversation it looks at.
inline void fifo_system::hear(Supervisor& x, line seen) const {
  fifo_talk& talk = x.talks[x.looks_at];
  if (seen == line::done) {
    std::replace(x.hidden.begin(), x.hidden.begin() + x.length, talk.old, talk.fresh);
    --x.remaining;
    talk = {};
  } else {
    std::uint8_t given = x.given;
    say(talk, seen, x, given);
    x.given = given;
  }
}

/// What the supervisor makes of a line, on its own side: a bit heard, a bit said.
inline void fifo_system::say(fifo_talk& talk, line seen, const Supervisor& x, std::uint8_t& given) const {
  if (seen == line::up0 || seen == line::up1) {
    talk.at = fifo_talk::stage::receives;
    put_bit(talk.old, talk.bits++, seen == line::up1);
    if (talk.bits < ticket_bits_) return;
    const bool head = talk.old == x.hidden[0];
    talk.fresh = head ? long_name{x.first, 1} : long_name{x.second, ++given};
    talk.at = fifo_talk::stage::sends;
    talk.bits = 1;
  } else if (seen == line::got) {
    ++talk.bits;
  }
}

inline fifo_system::Value fifo_system::newval(Value v, const Supervisor& x) const {
  switch (x.at) {
    case Supervisor::program::copy:
      break;
    case Supervisor::program::prepare:
      prepare(v, x);
      break;
    case Supervisor::program::talk:
      reply(v, x);
      break;
    case Supervisor::program::shift: {
      const shifting s = shifts(v, x);
      if (s.drops) drop_left(v, x);
      if (s.takes) expose_head(v, x);
      break;
    }
    case Supervisor::program::enable:
      if (v.enabled < std::min<int>(l_, v.length)) ++v.enabled;  // F3
      break;
  }
  return v;
}

/// What `prepare` decides, as the processes see it.
inline void fifo_system::prepare(Value& v, const Supervisor& x) const {
  const decision what = prepares(v, x);
  if (what == nothing) return;
  if (what == end_of_talks) return cancel_talks(v);
  const auto fresh = what == map_head ? std::array<std::uint8_t, 3>{} : unused_colours(v, x);
  if (what == converse)
    call_unmapped(v, x);
  else
    map_colour_of_head(v, x);
  if (what == map_head) return;
  v.issue = fresh[2];
  v.number = 0;
}

inline void fifo_system::cancel_talks(Value& v) {
  for (line& each : v.talk) {
    if (each == line::call) each = line::idle;
    if (each != line::idle) each = line::cancel;
  }
  for (colour_state& each : v.colours) each.called = false;
}

inline void fifo_system::call_unmapped(Value& v, const Supervisor& x) {
  for (std::size_t i = 0; i < x.length; ++i)
    if (!x.mapped[i]) v.colours[x.hidden[i].colour].called = true;
}

inline void fifo_system::map_colour_of_head(Value& v, const Supervisor& x) {
  std::array<std::uint8_t, name_map::members_max> numbers{};
  std::size_t members = 0;
  for (std::size_t i = 0; i < x.length; ++i)
    if (x.hidden[i].colour == x.hidden[0].colour) numbers[members++] = x.hidden[i].number;
  v.colours[x.hidden[0].colour].map = name_map::of(numbers, static_cast<int>(members));  // F2
}

/// The supervisor's word on the line of the conversation it looks at.
inline void fifo_system::reply(Value& v, const Supervisor& x) const {
  line& at = v.talk[x.looks_at];
  fifo_talk talk = x.talks[x.looks_at];
  std::uint8_t given = x.given;
  if (at == line::idle) {
    at = line::call;
  } else if (at == line::done) {
    at = line::idle;
  } else if (at == line::up0 || at == line::up1 || at == line::got) {
    say(talk, at, x, given);
    at = talk.at != fifo_talk::stage::sends  ? line::want
         : bit_of(talk.fresh, talk.bits - 1) ? line::down1
                                             : line::down0;
  }
}

/// Takes the first that has left out of the exposed part; a colour that none holds loses its map.
inline void fifo_system::drop_left(Value& v, const Supervisor& x) const {
  const auto end = v.exposed.begin() + v.length;
  const auto gone =
      std::find_if(v.exposed.begin(), end, [](const exposed_entry& e) { return e.is == entry_status::left; });
  const std::uint8_t colour = gone->colour;
  std::move(gone + 1, end, gone);
  v.exposed[--v.length] = {};
  --v.enabled;  // F3
  const bool held =
      hidden_with(x, colour) > 0 || std::any_of(v.exposed.begin(), v.exposed.begin() + v.length,
                                                [&](const exposed_entry& e) { return e.colour == colour; });
  if (!held) v.colours[colour].map = {};
}

inline void fifo_system::expose_head(Value& v, const Supervisor& x) {
  const long_name head = x.hidden[0];
  const auto name = static_cast<std::uint8_t>(v.colours[head.colour].map.short_of(head.number));
  v.exposed[v.length++] = {head.colour, name, entry_status::waits};
}

/// flbb79-fifo
template <class M>
using fifo = supervised<M, fifo_system>;

}  // namespace kgate::flbb79
