// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a member that dozes (gate_doze.hpp) runs on, for the checker.

#include "kgate/algorithms/gate_doze.hpp"
#include "kgate/algorithms/kgate_gate.hpp"
#include "lab/checker/model/machine.hpp"

namespace kgate::lab {

/// Whether waiters doze, and how.
enum class dozes : unsigned char {
  never,       ///< they watch at once
  for_ever,    ///< no time passes: one that is not woken is stuck
  for_a_time,  ///< a sleep may end at any moment
  once_alone   ///< as for_ever, but for one sleep of one that is left alone, after which it looks for dead holders
};

template <class Context>
class dozing_cells : public detail::gates::cells_of<checker_machine, Context> {
 public:
  using base = detail::gates::cells_of<checker_machine, Context>;
  using Process = checker_machine::Process;
  using kernel_part = detail::gates::kernel_part;
  using bell = detail::gates::bell;
  using doze_end = detail::gates::doze_end;
  static constexpr int spins_most = 2, spins_between_looks = 1;

  dozing_cells(detail::gates::machine_cells<checker_machine>& gate, Process& p, const Context& context)
      : base(gate, p, context), gate_(gate), p_(p) {}
  /// `looked` is part of the context: whether there was time once.
  void begin_to_doze(dozes how, const checker_machine::Choice& time, std::uint8_t& looked) {
    how_ = how;
    time_ = &time;
    looked_ = &looked;
  }
  /// As shipped: one that dozes is not asked for.
  bool grantable(unsigned i) {
    return base::kernel_step("alive if it listens", base::unchanged, [i](kernel_part all) {
      return !all.bell_of(i).listens || all.holder(i) != kernel_part::nobody;
    });
  }

  void doze_off(unsigned i) { set_bell(i, bell{.asleep = true}); }
  void get_up(unsigned i) { set_bell(i, bell{}); }
  bool doze(unsigned i) {
    const bool sleeps = base::kernel_step(
        "doze", [i](kernel_part all) { return all.with(i, fallen_asleep(all, i)); },
        [i](kernel_part all) { return !all.bell_of(i).rung; });
    if (!sleeps) return true;
    if (how_ == dozes::for_ever || (how_ == dozes::once_alone && *looked_ != 0)) {
      gate_.kernel.await(p_["dozes"], [i](kernel_part all) { return !all.bell_of(i).sleeps; });
      return true;
    }
    if (how_ == dozes::once_alone)
      gate_.kernel.await(p_["dozes or is alone"],
                         [this, i](kernel_part all) { return !all.bell_of(i).sleeps || is_alone(all); });
    return base::kernel_step(
        "time over", [i](kernel_part all) { return all.with(i, awakened(all, i)); },
        [i](kernel_part all) { return !all.bell_of(i).sleeps; });
  }
  doze_end doze_until_one_ends(detail::gates::process_mask watched) {
    if (how_ != dozes::for_a_time) {
      gate_.kernel.await(p_["until one ends"], [watched](kernel_part all) { return all.any_dead(watched); });
      return doze_end::one_ended;
    }
    if (base::kernel_step("ended?", base::unchanged, [watched](kernel_part all) { return all.any_dead(watched); }))
      return doze_end::one_ended;
    return is_over() ? doze_end::over : doze_end::disturbed;
  }
  bool ends(unsigned j) {
    return base::kernel_step("ends", base::unchanged, [j](kernel_part all) { return all.ends(j); });
  }
  void set_ends(unsigned j) {
    base::kernel_step(
        "ends:=", [j](kernel_part all) { return all.with_end(j, true); }, base::nothing);
  }
  static bool is_cancelled() { return false; }
  bool dozes_again() {
    if (how_ == dozes::for_a_time) return !is_over();
    *looked_ = 1;
    return true;
  }
  bool is_time_to_heal() { return how_ != dozes::for_a_time || is_over(); }
  static void relax() {}

 private:
  static bell fallen_asleep(kernel_part all, unsigned i) {
    bell b = all.bell_of(i);
    b.sleeps = !b.rung;
    return b;
  }
  static bell awakened(kernel_part all, unsigned i) {
    bell b = all.bell_of(i);
    b.sleeps = false;
    return b;
  }
  void set_bell(unsigned i, bell b) {
    base::kernel_step(
        "bell:=", [i, b](kernel_part all) { return all.with(i, b); }, base::nothing);
  }
  /// Whether all other processes have ended.
  bool is_alone(kernel_part all) {
    for (unsigned q = 0; q < base::members(); ++q)
      if (q != static_cast<unsigned>(p_.id().value) && !all.any_dead({1U << q})) return false;
    return true;
  }
  bool is_over() { return time_->read(p_["time"]) == 1; }

  detail::gates::machine_cells<checker_machine>& gate_;
  Process& p_;
  dozes how_ = dozes::never;
  const checker_machine::Choice* time_ = nullptr;
  std::uint8_t* looked_ = nullptr;
};

}  // namespace kgate::lab
