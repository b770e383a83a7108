// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One block of local-spin k-exclusion for machines without coherent caches in which all blocks use the same two spin
/// words of a process.
///
/// Source       Anderson & Moir 1997, figure 9, statements 2-12 and 14-16. Statements 1 and 17 belong to the shape that
///              nests the blocks.
/// Promises     k-exclusion and starvation freedom with at most k-1 crashes, if at most k+1 processes are between
///              acquire and the end of release, and blocks of one algorithm have distinct instance numbers. Exit
///              bounded (3 steps). 10 remote references a passage on DSM. Primitives: fetch-and-add, test-and-set,
///              compare-and-swap. Space: three variables a block, and two a process for all blocks together.
/// Variables    X     -1..k      slots left                                         initially k
///              Z     boolean    a process is between 4 and 8                       initially false
///              Q     0..N-1     which waits                                        initially 0
///              P[p]  spin_word  false until the next to wait comes; local to p     initially arbitrary; here (true, 0)
///              R[p]  spin_word  false until one leaves; local to p                 initially arbitrary; here (true, 0)
/// Invariants   I13  X = k - |{p : p@{3..14}}|
///              I14  Z  =  some q is at 4..8
///              I15  at most one process is at 4..8
///              I17  p@6  =>  P[v] is not (false, IN)
///              I21  p@{11,12} and P[p] = (false, IN)  =>  Q = p
///              I22  X < 0  =>  some r is at 3..8, or at 9 with P[r] = (false, IN), or at 10..12 with P[r] and R[r]
///                   both (false, IN)
///              I23  |{p : p@13}| <= k
/// Deviations   none. The text of section 4.4 speaks of the test-and-set "at statement 5"; it is statement 3.
/// Memory model sequential consistency; P[p] and R[p] (7, 9) must be visible before X is read (10)
/// Evidence     tests/algorithms/am97 (all properties), tests/algorithms/am97/mutants_test, tests/lab/rmr_test,
///              tests/algorithms/native (stress)

#include <cstddef>
#include <cstdint>
#include <string>

#include "kgate/algorithms/am97_places.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate::am97 {

/// The paper's Spintype, a record of a flag and an instance number, in one word.
struct spin_word {
  std::uint32_t bits = 0;

  constexpr spin_word() = default;
  constexpr spin_word(bool flag, int instance) : bits(static_cast<std::uint32_t>(instance) << 1 | (flag ? 1U : 0U)) {}

  constexpr bool flag() const { return (bits & 1U) != 0; }
  constexpr int instance() const { return static_cast<int>(bits >> 1); }

  friend constexpr bool operator==(spin_word, spin_word) = default;
};

inline std::string to_string(spin_word word) {
  return std::string(word.flag() ? "(true," : "(false,") + std::to_string(word.instance()) + ")";
}

template <class M>
class figure9 {
  using Spin = typename M::template Var<spin_word>;

 public:
  using Process = typename M::Process;
  /// The spin words, one pair per process for all blocks.
  struct Shared {
    Shared(typename M::Memory& memory, int N) : P(words(memory, N, "P")), R(words(memory, N, "R")) {}

    fixed_array<Spin> P;
    fixed_array<Spin> R;

   private:
    static fixed_array<Spin> words(typename M::Memory& memory, int N, const char* name) {
      return fixed_array<Spin>(static_cast<std::size_t>(N), [&memory, name](std::size_t i) {
        return Spin(memory, {.name = name, .home = pid(static_cast<int>(i))}, spin_word(true, 0));
      });
    }
  };

  figure9(typename M::Memory& memory, Shared& shared, int /*N*/, int k, int instance)
      : X(memory, {.name = "X", .instance = instance}, k),
        Z(memory, {.name = "Z", .instance = instance}, false),
        Q(memory, {.name = "Q", .instance = instance}, pid(0)),
        P(shared.P),
        R(shared.R),
        IN(instance) {}

  void acquire(Process& p) {
    [[maybe_unused]] auto frame = p.frame();
    const spin_word waits(false, IN), released(true, IN);
    if (X.fetch_add(p["2"], -1) == 0) {
      p.live();
      if (!Z.test_and_set(p["3"])) {  // I15
        p.live();
        const process_id v = Q.read(p["4"]);
        P[v].compare_and_swap(p["5"], waits, released);  // I17
        p.live();
        Q.write(p["6"], p.id());
        P[p.id()].write(p["7"], waits);
        Z.write(p["8"], false);
        R[p.id()].write(p["9"], waits);
        if (X.read(p["10"]) < 0)
          M::await_any(
              p["11-12"], 2, [&](std::size_t i) -> Spin& { return i == 0 ? P[p.id()] : R[p.id()]; },
              [&](std::size_t, spin_word word) { return word != waits; });
      }
    }
  }

  void release(Process& p) {
    [[maybe_unused]] auto frame = p.frame();
    X.fetch_add(p["14"], 1);  // I13
    p.live();
    const process_id v = Q.read(p["15"]);
    R[v].compare_and_swap(p["16"], spin_word(false, IN), spin_word(true, IN));
  }

  /// Of the only block, where N = k+1: the invariant that is false, or nothing. Without I16, and I17 with Q instead of
  /// v, as I16 has it: v is private.
  template <class State>
  const char* broken_invariant(const State& s) const {
    const int x = s.value(X), k = s.processes() - 1, inside = s.count(region::critical);
    const process_id q = s.value(Q);
    const bool z = s.value(Z);
    const spin_word waits(false, IN);
    const auto is_false = [&](const fixed_array<Spin>& words, int p) {
      return s.value(words[static_cast<std::size_t>(p)]) == waits;
    };
    if (x != k - count_at(s, {"3", "4", "5", "6", "7", "8", "9", "10", "11-12"}) - inside) return "I13 is false";
    const int replacing = count_at(s, {"4", "5", "6", "7", "8"});
    if (z != (replacing > 0)) return "I14 is false";
    if (replacing > 1) return "I15 is false";
    for (int p = 0; p < s.processes(); ++p) {
      if (is_at(s, p, {"7", "8"}) && q != pid(p)) return "I18 is false";
      if (is_at(s, p, {"8"}) && !is_false(P, p)) return "I19 is false";
      if (is_at(s, p, {"6"}) && is_false(P, q.value)) return "I17 is false";
      const bool replaceable = (!z || count_at(s, {"4", "5"}) > 0) && q == pid(p);
      if (is_at(s, p, {"9", "10", "11-12"}) && !replaceable && is_false(P, p)) return "I20 is false";
      if (is_at(s, p, {"11-12"}) && is_false(P, p) && q != pid(p)) return "I21 is false";
    }
    if (x < 0 && !somebody(s, [&](int r) {
          return is_at(s, r, {"3", "4", "5", "6", "7", "8"}) || (is_at(s, r, {"9"}) && is_false(P, r)) ||
                 (is_at(s, r, {"10", "11-12"}) && is_false(P, r) && is_false(R, r));
        }))
      return "I22 is false";
    return inside > k ? "I23 is false" : "";
  }

 private:
  typename M::template Var<int> X;
  typename M::template Var<bool> Z;
  typename M::template Var<process_id> Q;
  fixed_array<Spin>& P;
  fixed_array<Spin>& R;
  const int IN;
};

}  // namespace kgate::am97
