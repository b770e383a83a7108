// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A concurrent timestamp system from bounded single-writer registers: renewable labels over an atomic snapshot.
///
/// Source       Afek et al. 1994, section 3.1 (the specification); the shape is that of Gawlick, Lynch & Shavit 1992:
///              the labels of afek94_labelling.hpp over the bounded snapshot of Afek, Attiya, Dolev, Gafni, Merritt &
///              Shavit 1990.
/// Promises     proposition 3.1 of Afek et al.; wait-free: a Scan takes at most 1 + n(3n-2) steps, a Label at most n+1
///              more. Primitives: reads and writes of single-writer registers. Space: n registers of 3(n-1)(n+1) + n +
///              1 bits (8, 28, 50 for n = 2, 3, 4) and n of n bits; n at most 4.
/// Variables    R[i]  what i has written, by one write of its Label    written by i
///                    label, a toggle, a handshake bit for each scanner, and the view: the snapshot the label was made
///                    from initially the first label, false, all false, and a view of first labels
///              Q[i]  a handshake bit for each writer, as seen by scanner i   written by i   initially all false
/// Invariants   S1  if R[j] shows the scanner the same toggle, and the handshake bit it answered, in both of its
///                  collects, then j did not write in between
///              S2  a process seen to write in two rounds of a scan began the Label of the second write inside the
///                  scan, so that Label's view is a snapshot taken inside the scan
/// Deviations   D1  one write carries label and view: the snapshot inside Label serves both as the labels to exceed and
///                  as the view to embed, so an update of the snapshot object is a whole Label.
///              D2  a scanner answers all handshakes by one write of Q[i].
///              D3  a round ends at the first change seen, and a view is borrowed as soon as it may be.
/// Memory model sequential consistency
/// Evidence     tests/algorithms/afek94: proposition 3.1 with register steps, over all runs for n = 2; for n = 3 over
///              all runs of a Label and a Scan of each process, with a second Scan, a second Label and Scan or three
///              Labels of one of them, or second Labels of two of them; random runs for n = 3, 4; mutants. Figure 2
///              over it: N = 2 without limit, N = 3 with one passage each

#include <cstddef>
#include <cstdint>
#include <string>

#include "kgate/algorithms/afek94_figure2.hpp"
#include "kgate/algorithms/afek94_labelling.hpp"
#include "kgate/algorithms/afek94_timestamps.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate::afek94 {

/// A register of the snapshot in one word: from the low end n labels of the view, the label, n handshake bits, the
/// toggle.
struct snapshot_register {
  std::uint64_t bits = 0;

  friend constexpr bool operator==(snapshot_register, snapshot_register) = default;
};

inline std::string to_string(snapshot_register r) { return std::to_string(r.bits); }

template <class M>
class bounded_timestamps {
 public:
  using Process = typename M::Process;

  bounded_timestamps(typename M::Memory& memory, int n)
      : labels_(n),
        R(static_cast<std::size_t>(n),
          [&](std::size_t i) {
            return Register(memory, {.name = "R", .home = pid(static_cast<int>(i))}, snapshot_register{});
          }),
        Q(static_cast<std::size_t>(n), [&](std::size_t i) {
          return Answers(memory, {.name = "Q", .home = pid(static_cast<int>(i))}, std::uint8_t{0});
        }) {}

  void label(Process& p) {
    [[maybe_unused]] auto frame = p.frame();
    const int i = p.id().value;
    const snapshot_register own = R[p.id()].read(p["Label"]);
    const std::uint64_t old = label_of(own);
    const bool toggle = toggle_of(own);
    p.live(old, toggle);
    unsigned handshakes = 0;
    for (int j = 0; j < labels_.processes(); ++j) {
      if (j == i) continue;
      if ((Q[pid(j)].read(p["Label"]) >> i & 1) == 0) handshakes |= 1u << j;  // unlike what scanner j has answered
      p.live(j, old, toggle, handshakes);
    }
    const label_vector S = snapshot(p, old, labels_.label_masks(only(labels_.processes()) - 1), toggle, handshakes);
    if (labels_.last(S) == i) return;
    R[p.id()].write(p["Label"], make(labels_.next(S, i), handshakes, !toggle, S));
  }

  template <class... Live>
  process_set scan(Process& p, process_set among, const Live&... live) {
    const int i = p.id().value;
    const label_vector wanted = among == 0 ? 0 : labels_.label_masks(among | only(i));
    std::uint64_t own = label_of(R[p.id()].read(p["Scan"]));
    if (among == 0) own = 0;
    p.live(own, among, live...);
    const label_vector S = snapshot(p, own, wanted, among, live...);
    process_set earlier = 0;
    for (int j = 0; j < labels_.processes(); ++j)
      if ((among & only(j)) != 0 && labels_.before(labels_.get(S, j), j, labels_.get(S, i), i)) earlier |= only(j);
    p.live(earlier, live...);
    return earlier;
  }

 private:
  using Register = typename M::template Var<snapshot_register>;
  using Answers = typename M::template Var<std::uint8_t>;

  /// The labels at one moment inside the call; those outside `wanted` are left out.
  template <class... Live>
  label_vector snapshot(Process& p, std::uint64_t own, label_vector wanted, const Live&... live) {
    unsigned moved = 0;  // which were seen to write
    for (;;) {
      label_vector S = 0;
      const unsigned changed = round(p, moved, own, wanted, S, live...);
      if (changed == 0 || (changed & moved) != 0) {
        S &= wanted;
        p.live(S, live...);
        return S;
      }
      moved |= changed;
    }
  }

  /// Answers the handshakes and collects twice. Returns the process seen to write, as a set, or none. S is the
  /// snapshot: the second collect (S1) or, if one in `moved` was seen to write again, its view (S2).
  template <class... Live>
  unsigned round(Process& p, unsigned moved, std::uint64_t own, label_vector wanted, label_vector& S,
                 const Live&... live) {
    const int n = labels_.processes(), i = p.id().value;
    p.live(moved, own, live...);
    unsigned q = 0;
    for (int j = 0; j < n; ++j) {
      if (j == i) continue;
      if (handshake_of(R[pid(j)].read(p["handshake"]), i)) q |= 1u << j;
      p.live(j, q, moved, own, live...);
    }
    Q[p.id()].write(p["answer"], static_cast<std::uint8_t>(q));
    unsigned toggles = 0;
    for (int j = 0; j < n; ++j) {
      if (j == i) continue;
      const snapshot_register a = R[pid(j)].read(p["collect 1"]);
      if (handshake_of(a, i) != (q >> j & 1)) {
        S = view_of(a);
        return 1u << j;
      }
      if (toggle_of(a)) toggles |= 1u << j;
      p.live(j, toggles, q, moved, own, live...);
    }
    S = labels_.set(0, i, own);
    for (int j = 0; j < n; ++j) {
      if (j == i) continue;
      const snapshot_register b = R[pid(j)].read(p["collect 2"]);
      if (handshake_of(b, i) != (q >> j & 1) || toggle_of(b) != (toggles >> j & 1)) {
        S = view_of(b);
        return 1u << j;
      }
      S = labels_.set(S, j, label_of(b)) & wanted;
      q &= ~(1u << j);  // and the toggle: j is not looked at again
      toggles &= ~(1u << j);
      p.live(j, S, toggles, q, moved, own, live...);
    }
    return 0;
  }

  int label_at() const { return labels_.bits() * labels_.processes(); }
  int handshakes_at() const { return label_at() + labels_.bits(); }
  int toggle_at() const { return handshakes_at() + labels_.processes(); }
  label_vector view_of(snapshot_register r) const { return r.bits & ((std::uint64_t{1} << label_at()) - 1); }
  std::uint64_t label_of(snapshot_register r) const { return labels_.get(r.bits, labels_.processes()); }
  unsigned handshake_of(snapshot_register r, int scanner) const { return r.bits >> (handshakes_at() + scanner) & 1; }
  unsigned toggle_of(snapshot_register r) const { return r.bits >> toggle_at() & 1; }
  snapshot_register make(std::uint64_t label, unsigned handshakes, bool toggle, label_vector view) const {
    return {view | label << label_at() | std::uint64_t{handshakes} << handshakes_at() |
            std::uint64_t{toggle} << toggle_at()};
  }

  labelling labels_;
  fixed_array<Register> R;
  fixed_array<Answers> Q;
};

/// afek94-bounded
template <class M>
using bounded = figure2<M, bounded_timestamps<M>>;

}  // namespace kgate::afek94
