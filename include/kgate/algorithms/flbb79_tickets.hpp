// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Coloured tickets: a FIFO queue of any number of processes in one read-modify-write variable that does not hold it.
///
/// Source       Fischer, Lynch, Burns & Borodin 1979, theorem 4.2.
/// Promises     l-queuelike (C6): k-exclusion, FIFO enabling, k-full, no exit region; so starvation free with at most
///              k-1 crashes, and crashes of those that are not enabled cost nothing. Exit: one step. Remote references
///              unbounded on CC and DSM. Primitives: read-modify-write of one variable; natively compare-and-swap on 64
///              bits. Space: one variable of at most C(2k-1,k) (k+1)^2 N^2 values, O(N^2) for fixed k.
/// Variables    V = (Issue, Valid, Quant)
///              Issue     ticket issued last       a number 1..N and a colour 0..k   initially (N, k)
///              Valid     ticket validated last    the same                          initially (k, 0)
///              Quant[c]  valid tickets of colour c, for c in 0..k                   initially k for colour 0, else 0
/// Invariants   T1  the sum of Quant is k: exactly k tickets are valid, issued or not
///              T2  Issue is at most N-k tickets ahead of Valid, and at most k behind
///              T3  no two processes hold the same ticket
/// Deviations   D1  newcolor, "leads" and "invalid", which the paper says in words, as spelled out in ticket_rules.
///              D2  Quant[0] is not stored: T1 gives it.
///              D3  for k >= N none waits (the paper's trivial algorithm).
/// Memory model one variable: coherence is enough
/// Evidence     tests/algorithms/flbb79 (colours and order; l-queuelike, k-exclusion; wrong colour, wrong "leads"),
///              tests/algorithms/native (stress)

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kgate/detail/contracts.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate::flbb79 {

struct ticket {
  std::uint8_t number_less_1 = 0;
  std::uint8_t colour = 0;

  constexpr int number() const { return number_less_1 + 1; }
  friend constexpr bool operator==(ticket, ticket) = default;
};

constexpr ticket make_ticket(int number, int colour) {
  return {static_cast<std::uint8_t>(number - 1), static_cast<std::uint8_t>(colour)};
}

/// The shared variable in 64 bits: numbers of 8 bits, colours of 4, Quant[1] .. Quant[10] of 4.
struct ticket_word {
  static constexpr int numbers_max = 256;
  static constexpr int valid_max = 10;

  std::uint64_t bits = 0;

  constexpr ticket issue() const { return {byte(0), nibble(4)}; }
  constexpr ticket valid() const { return {byte(1), nibble(5)}; }
  constexpr int quant(int c, int k) const {
    if (c > 0) return nibble(5 + c);
    int others = 0;
    for (int d = 1; d <= valid_max; ++d) others += nibble(5 + d);
    return k - others;  // T1
  }
  constexpr void set_issue(ticket t) { set(0, 8, t.number_less_1), set(16, 4, t.colour); }
  constexpr void set_valid(ticket t) { set(8, 8, t.number_less_1), set(20, 4, t.colour); }
  constexpr void add_quant(int c, int delta) {
    if (c > 0) set(20 + 4 * c, 4, static_cast<std::uint64_t>(nibble(5 + c) + delta));
  }
  friend constexpr bool operator==(ticket_word, ticket_word) = default;

 private:
  constexpr std::uint8_t byte(int i) const { return static_cast<std::uint8_t>(bits >> (8 * i)); }
  constexpr std::uint8_t nibble(int i) const { return static_cast<std::uint8_t>((bits >> (4 * i)) & 15); }
  constexpr void set(int at, int width, std::uint64_t value) {
    const std::uint64_t mask = ((std::uint64_t{1} << width) - 1) << at;
    bits = (bits & ~mask) | ((value << at) & mask);
  }
};

inline std::string to_string(ticket t) { return std::to_string(t.number()) + "/" + std::to_string(t.colour); }

inline std::string to_string(ticket_word v) {
  std::string text = "Issue " + to_string(v.issue()) + " Valid " + to_string(v.valid()) + " Quant";
  for (int c = 1; c <= ticket_word::valid_max; ++c)
    if (v.quant(c, 0) > 0) text += " " + std::to_string(c) + ":" + std::to_string(v.quant(c, 0));
  return text;
}

/// What the paper says in words.
struct ticket_rules {
  /// A colour of no valid ticket. None of an invalid issued ticket either: those follow Valid, so they have its colour.
  static constexpr int newcolor(ticket_word v, int k) {
    int c = 0;
    while (v.quant(c, k) != 0) ++c;
    return c;
  }
  /// Issue is ahead of Valid. With different colours one of them has passed ticket N: Issue, if that leaves it at most
  /// N-k tickets ahead (T2), else Valid.
  static constexpr bool issue_leads(ticket issue, ticket valid, int k) {
    if (issue.colour == valid.colour) return issue.number() > valid.number();
    return issue.number() + k <= valid.number();
  }
};

/// The office that issues and validates: the protocol's two atomic steps, and its test, as functions of V.
template <class Rules = ticket_rules>
class ticket_office {
 public:
  constexpr ticket_office(int N, int k) : N_(N), k_(k) {}

  constexpr ticket_word initial() const {
    ticket_word v;
    v.set_issue(make_ticket(N_, k_));
    v.set_valid(make_ticket(k_, 0));
    return v;
  }
  /// The trying protocol's first step. The ticket taken is Issue of the result.
  constexpr ticket_word issue(ticket_word v) const {
    const ticket last = v.issue();
    if (last.number() != N_)
      v.set_issue(make_ticket(last.number() + 1, last.colour));
    else if (valid_leads(v))
      v.set_issue(make_ticket(1, v.valid().colour));
    else
      v.set_issue(make_ticket(1, Rules::newcolor(v, k_)));
    return v;
  }
  constexpr bool is_valid(ticket_word v, ticket t) const {
    const ticket issue = v.issue(), valid = v.valid();
    if (!Rules::issue_leads(issue, valid, k_)) return true;
    const bool after_valid = t.colour == valid.colour && t.number() > valid.number();
    const bool up_to_issue = t.colour == issue.colour && t.number() <= issue.number();
    return issue.colour == valid.colour ? !(after_valid && up_to_issue) : !(after_valid || up_to_issue);
  }
  /// The exit protocol: validates the next ticket in place of t.
  constexpr ticket_word validate(ticket_word v, ticket t) const {
    const ticket last = v.valid();
    if (last.number() != N_)
      v.set_valid(make_ticket(last.number() + 1, last.colour));
    else if (Rules::issue_leads(v.issue(), last, k_))
      v.set_valid(make_ticket(1, v.issue().colour));
    else
      v.set_valid(make_ticket(1, Rules::newcolor(v, k_)));  // before Quant changes
    v.add_quant(v.valid().colour, 1);
    v.add_quant(t.colour, -1);
    return v;
  }

 private:
  constexpr bool valid_leads(ticket_word v) const {
    return v.issue() != v.valid() && !Rules::issue_leads(v.issue(), v.valid(), k_);
  }

  int N_;
  int k_;
};

template <class M, class Rules = ticket_rules>
class tickets {
 public:
  using Process = typename M::Process;
  struct Private {
    ticket Ticket;
  };

  tickets(typename M::Memory& memory, int N, int k)
      : trivial_(k >= N), office_(N, k), V(memory, {.name = "V"}, trivial_ ? ticket_word{} : office_.initial()) {
    KGATE_EXPECTS(trivial_ || (N <= ticket_word::numbers_max && k <= ticket_word::valid_max),
                  "flbb79-tickets: N is at most 256 and k at most 10");
  }

  void acquire(Process& p, Private& mine) {
    if (trivial_) return;
    mine.Ticket = office_.issue(V.rmw(p["T"], [&](ticket_word v) { return office_.issue(v); })).issue();
    p.live(mine.Ticket);
    p.doorway_end();
    V.await(p["W"], [&](ticket_word v) { return office_.is_valid(v, mine.Ticket); });
  }

  void release(Process& p, Private& mine) {
    if (trivial_) return;
    V.rmw(p["E"], [&](ticket_word v) { return office_.validate(v, mine.Ticket); });
  }

 private:
  bool trivial_;
  ticket_office<Rules> office_;
  typename M::template Var<ticket_word> V;
};

}  // namespace kgate::flbb79
