// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The concurrent timestamp system as a concept, and the unbounded one.
///
/// Source       Afek, Dolev, Gafni, Merritt & Shavit 1994, section 3.1, definition 3.1 and figure 1 (UCTSS).
/// Promises     proposition 3.1: Label orders the caller after all whose Label was over when it began; what a Scan says
///              about its caller stays true until the caller's next Label. Both wait-free: at most N+1 and N steps.
///              Primitives: reads and writes of single-writer registers. Space: N registers, unbounded.
/// Variables    Label[i]  0..   written by i   initially 0
/// Invariants   a label only grows; the pair (Label[i], i) is unique
/// Deviations   D1  the test of Label: the caller keeps its label only if the pair (label, id) is the lexicographic
///                  maximum. As printed it keeps a label that equals the maximum; then two processes with the same
///                  label may both keep it for ever and the later one starves (`as_printed`, docs/errata.md).
///              D2  y > x is y = x + 1, x the maximum found.
///              D3  Scan returns which processes of a given set precede the caller instead of the whole permutation:
///                  figure 2 asks nothing else. It reads all labels, and forgets those that were not asked for.
/// Memory model sequential consistency
/// Evidence     tests/algorithms/afek94 (figure 2 over it; the printed test fails)

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "kgate/detail/contracts.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate::afek94 {

/// A set of processes as a mask, process p at bit p.
using process_set = std::uint64_t;
inline constexpr int process_set_max = 64;

constexpr process_set only(int i) { return process_set{1} << i; }
constexpr process_set only(process_id i) { return only(static_cast<int>(i.value)); }

/// Label gives the caller a timestamp later than those it finds; Scan tells which of some processes have earlier ones.
/// Scan takes what the caller must not forget meanwhile (rule 5 of the machine concept).
template <class T, class M>
concept TimestampSystem = requires(T& timestamps, typename M::Process& p, process_set among, process_set live) {
  timestamps.label(p);
  { timestamps.scan(p, among, live) } -> std::same_as<process_set>;
};

/// Which test decides that Label leaves the label alone.
struct as_read {
  static constexpr bool keeps_equal_label = false;
};
struct as_printed {
  static constexpr bool keeps_equal_label = true;
};

template <class M, class Reading = as_read>
class unbounded_timestamps {
 public:
  using Process = typename M::Process;
  using Number = std::int64_t;

  unbounded_timestamps(typename M::Memory& memory, int N)
      : N_(N), Label(static_cast<std::size_t>(N), [&](std::size_t i) {
          return Register(memory, {.name = "Label", .home = pid(static_cast<int>(i))}, Number{0});
        }) {}

  void label(Process& p) {
    [[maybe_unused]] auto frame = p.frame();
    const int i = p.id().value;
    Number max = -1;
    bool last = false;  // the caller comes last among those read so far
    for (int j = 0; j < N_; ++j) {
      const Number x = Label[pid(j)].read(p["Label"]);
      if (x > max || (x == max && (j == i || !Reading::keeps_equal_label)))
        last = j == i;  // equal: the larger id is later
      max = std::max(max, x);
      p.live(j, max, last);
    }
    if (last) return;
    Label[p.id()].write(p["Label"], max + 1);
  }

  template <class... Live>
  process_set scan(Process& p, process_set among, const Live&... live) {
    const int i = p.id().value;
    Number own = Label[p.id()].read(p["Scan"]);
    process_set earlier = 0;
    for (int j = 0; j < N_; ++j) {
      if (j == i) continue;
      const Number x = Label[pid(j)].read(p["Scan"]);
      if ((among & only(j)) != 0 && (x < own || (x == own && j < i))) earlier |= only(j);
      among &= ~only(j);
      if (among == 0) own = 0;  // nothing is compared with it any more
      p.live(j, own, earlier, among, live...);
    }
    p.live(earlier, live...);
    return earlier;
  }

 private:
  using Register = typename M::template Var<Number>;
  int N_;
  fixed_array<Register> Label;
};

}  // namespace kgate::afek94
