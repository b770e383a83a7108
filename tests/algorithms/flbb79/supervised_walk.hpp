// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A random or hostile run of a system without supervisor, beside the system with one that it simulates (S1-S3 of the
/// paper): after every step the simulated variable and the workers' states must be those of the real system, and
/// the process that is said to hold the supervisor's state must hold it.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "kgate/algorithms/flbb79_supervisor.hpp"

namespace kgate::flbb79 {

/// Which process moves next and which crash. Hostile: some are fast, some slow and some stand still, drawn afresh now
/// and then, and those crash that hold the supervisor's state or are being sent it.
enum class schedule { random, hostile };

template <SupervisedSystem System, class Reading = as_corrected>
class supervised_walk {
 public:
  /// For l permits and fewer than k failures.
  supervised_walk(int N, int l, int k, unsigned seed)
      : N_(N),
        l_(l),
        k_(k),
        rule_(N, l, k),
        V_(rule_.first_value()),
        me_(static_cast<std::size_t>(N)),
        crashed_(static_cast<std::size_t>(N)),
        random_(seed),
        v_(rule_.system().first_value()),
        x_(rule_.system().first_supervisor()),
        w_(static_cast<std::size_t>(N)) {}

  /// What a run has shown to happen, so that a test can ask for it.
  struct account {
    long entries = 0;
    long distributed = 0;  ///< steps after which the supervisor's state was distributed
    long supervisor_steps = 0;
    long handed_over = 0;  ///< states received through a channel
    long waited_max = 0;   ///< most steps of all processes between one process's arrival and its entry
    int crashed = 0;
  };

  /// `steps` steps; from a third of them on, up to `crashes` processes stop for good in their trying region. Processes
  /// in their remainder start with probability 1 / `rest`.
  account run(long steps, int crashes, int rest, schedule by = schedule::random) {
    std::vector<long> since(static_cast<std::size_t>(N_), -1);
    std::vector<unsigned> pace(static_cast<std::size_t>(N_), 1);
    for (long i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i) {
      if (by == schedule::hostile && i % 200 == 0)
        for (unsigned& each : pace) each = std::array{0u, 1u, 1u, 32u}[random_() % 4];
      const auto p = static_cast<std::size_t>(random_() % static_cast<unsigned>(N_));
      if (crashed_[p] || random_() % 32 >= pace[p] * (by == schedule::hostile ? 1 : 32)) continue;
      const region before = System::where(me_[p].w);
      if (before == region::remainder && random_() % static_cast<unsigned>(rest) != 0) continue;
      if (account_.crashed < crashes && i > steps / 3 && before == region::entry && random_() % 50 == 0 &&
          (by == schedule::random || knows_the_state(p))) {
        crashed_[p] = true;
        ++account_.crashed;
        continue;
      }
      step(p);
      const region after = System::where(me_[p].w);
      if (before == region::remainder) since[p] = i;
      if (before != region::critical && after == region::critical) {
        ++account_.entries;
        account_.waited_max = std::max(account_.waited_max, i - since[p]);
        since[p] = -1;
      }
      account_.distributed += V_.loccur == state_location::DIST;
      check_state();
    }
    for (std::size_t p = 0; p < since.size(); ++p)
      if (!crashed_[p] && since[p] >= 0) account_.waited_max = std::max(account_.waited_max, steps - since[p]);
    return account_;
  }

 private:
  using Local = supervised_process<System>;

  bool knows_the_state(std::size_t p) const {
    if (me_[p].s == 0) return false;
    const slot_status status = V_.status[slot(me_[p])];
    return status == slot_status::CURRENT || status == slot_status::RECEIVE;
  }

  void step(std::size_t p) {
    const bool receiving = me_[p].s != 0 && V_.status[slot(me_[p])] == slot_status::RECEIVE;
    const bool supervises = V_.loccur == state_location::SHARE ||
                            (me_[p].s != 0 && V_.status[slot(me_[p])] == slot_status::CURRENT && V_.stateholders == k_);
    rule_.step(V_, me_[p]);
    rule_.system().work(v_, w_[p]);
    if (supervises) {
      const int t = rule_.system().transno(v_, x_);
      v_ = rule_.system().newval(v_, x_);
      x_ = rule_.system().newstate(x_, t);
      ++account_.supervisor_steps;
    }
    if (receiving && me_[p].s != 0 && V_.status[slot(me_[p])] == slot_status::CURRENT) ++account_.handed_over;
  }

  void check_state() const {
    const System& system = rule_.system();
    ASSERT_EQ(V_.v, v_) << "S2";
    int inside = 0, trying = 0, helpers = 0, holders = 0;
    std::vector<int> taken(slots_max, 0);
    for (std::size_t p = 0; p < me_.size(); ++p) {
      const region where = System::where(me_[p].w);
      ASSERT_EQ(where, System::where(w_[p])) << "S1";
      inside += where == region::critical;
      trying += where == region::entry;
      const eligibility mine = system.elig(v_, w_[p]);
      helpers += mine == eligibility::helper;
      if (mine != eligibility::drone) {
        ASSERT_EQ(where, region::entry) << "R3";
        typename System::Worker w = w_[p];
        typename System::Value v = v_;
        system.work(v, w);
        ASSERT_NE(System::where(w), region::critical) << "R4";
      }
      if (me_[p].s == 0) continue;
      ++taken[slot(me_[p])];
      if (V_.loccur == state_location::DIST && V_.status[slot(me_[p])] == slot_status::CURRENT) {
        holders += mine == eligibility::helper;
        ASSERT_EQ(me_[p].x, encode(x_)) << "E2";
      }
    }
    for (std::size_t t = 0; t < slots_max; ++t) ASSERT_EQ(taken[t], V_.status[t] == slot_status::FREE ? 0 : 1) << "E1";
    if (V_.loccur == state_location::SHARE) {
      ASSERT_EQ(V_.xs, encode(x_));
    } else {
      ASSERT_EQ(holders, V_.stateholders) << "E2";
    }
    ASSERT_LE(inside, l_);
    ASSERT_EQ(trying, system.active(v_, x_)) << "R5";
    if (trying > system.c1()) {
      ASSERT_GE(helpers, 2 * k_ - 1) << "R6";
    }
  }

  bit_string encode(typename System::Supervisor x) const {
    bit_coder coder;
    rule_.system().code(coder, x);
    return coder.bits();
  }
  static std::size_t slot(const Local& me) { return static_cast<std::size_t>(me.s - 1); }

  int N_;
  int l_;
  int k_;
  elimination<System, Reading> rule_;
  typename elimination<System, Reading>::Value V_;
  std::vector<Local> me_;
  std::vector<bool> crashed_;
  std::mt19937 random_;
  typename System::Value v_;
  typename System::Supervisor x_;
  std::vector<typename System::Worker> w_;
  account account_;
};

}  // namespace kgate::flbb79
