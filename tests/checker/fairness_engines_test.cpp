// SPDX-License-Identifier: Apache-2.0
// A second engine, slow and plain: it walks through the program by its walker, carries the order of doorways in its
// states, and decides enabledness by the two nested fixpoints of the definition. Both engines must agree.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "checker/waiting_queues.hpp"
#include "kgate/algorithms/am97_queue.hpp"
#include "kgate/algorithms/danek10_figure2.hpp"
#include "kgate/algorithms/flbb79_tickets.hpp"
#include "lab/checker/trace/fairness_trace.hpp"

namespace kgate::lab {
namespace {

using namespace waiting_queues;

class plain_engine {
 public:
  explicit plain_engine(program& p) : N_(p.N()), k_(p.k()) {
    std::vector<walker> found;
    const auto number = [&](const walker& w) {
      const auto [at, fresh] = numbers_.try_emplace(position{w.here().values, w.here().locals}, found.size());
      if (fresh) found.push_back(w);
      return at->second;
    };
    number(walker(p));
    for (std::size_t s = 0; s < found.size(); ++s) {
      auto& edges = next_.emplace_back(static_cast<std::size_t>(N_), nowhere);
      auto& here = where_.emplace_back();
      for (int q = 0; q < N_; ++q) {
        here.push_back({found[s].local(q).where, doorway_order::past_doorway(found[s], q)});
        if (!found[s].can_move(q)) continue;
        walker w = found[s];
        w.step(q);
        edges[static_cast<std::size_t>(q)] = number(w);
      }
    }
    for (int q = 0; q < N_; ++q) kept_out_.push_back(kept_out(q));
  }

  /// The length of a shortest run to a bad step; 0 if there is none.
  std::size_t fife() const {
    return shortest<true>([&](std::size_t s, int, const std::vector<int>& first) {
      return std::any_of(first.begin(), first.end(), [&](int p) { return kept_out_[static_cast<std::size_t>(p)][s]; });
    });
  }
  std::size_t enabled_in_order() const {
    return shortest<false>([&](std::size_t s, int q, const std::vector<int>& first) {
      if (!at(s, q).past_doorway || kept_out_[static_cast<std::size_t>(q)][s]) return false;
      return std::any_of(first.begin(), first.end(), [&](int p) { return kept_out_[static_cast<std::size_t>(p)][s]; });
    });
  }
  std::size_t kfcfs() const {
    return shortest<true>(
        [&](std::size_t, int, const std::vector<int>& first) { return static_cast<int>(first.size()) >= k_; });
  }
  /// The most trips from remainder to inside that one process makes while another waits and is not enabled, counted to
  /// `most`.
  int trips(int most) const {
    int best = 0;
    for (int p = 0; p < N_; ++p)
      for (int q = 0; q < N_; ++q)
        if (p != q) best = std::max(best, trips_of(p, q, most));
    return best;
  }

 private:
  using position = std::pair<std::vector<code>, std::vector<local_id>>;
  static constexpr std::size_t nowhere = ~std::size_t{0};
  struct whereabouts {
    region where;
    bool past_doorway;
  };

  std::size_t to(std::size_t s, int p) const { return next_[s][static_cast<std::size_t>(p)]; }
  const whereabouts& at(std::size_t s, int p) const { return where_[s][static_cast<std::size_t>(p)]; }
  bool enters(std::size_t s, int p) const {
    return at(s, p).where != region::critical && at(to(s, p), p).where == region::critical;
  }

  /// The largest set of states in p's entry from which p can, after some steps of any process in the set's reach, look
  /// in vain or step and be in the set again.
  std::vector<bool> kept_out(int p) const {
    std::vector<bool> always(where_.size());
    for (std::size_t s = 0; s < always.size(); ++s) always[s] = at(s, p).where == region::entry;
    for (bool shrunk = true; shrunk;) {
      std::vector<bool> soon(always.size(), false);
      for (bool grown = true; grown;) {
        grown = false;
        for (std::size_t s = 0; s < soon.size(); ++s) {
          if (soon[s] || !always[s]) continue;
          bool can = to(s, p) == nowhere || always[to(s, p)];
          for (int q = 0; q < N_; ++q) can |= to(s, q) != nowhere && soon[to(s, q)];
          if (can) soon[s] = grown = true;
        }
      }
      shrunk = soon != always;
      always = soon;
    }
    return always;
  }

  /// bad(s, q, first): in s it is bad that `first` were past their doorways before q started. Asked of the one that
  /// enters only, or of all after every step.
  template <bool Of_who_enters, class Bad>
  std::size_t shortest(Bad&& bad) const {
    using order = std::vector<std::vector<bool>>;  // [q][p]: p was past its doorway before q started, and is so still
    std::map<std::pair<std::size_t, order>, std::size_t> length;
    std::vector<std::pair<std::size_t, order>> queue;
    const auto n = static_cast<std::size_t>(N_);
    queue.emplace_back(0, order(n, std::vector<bool>(n, false)));
    length[queue[0]] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const auto [s, first] = queue[i];
      const std::size_t steps = length.at(queue[i]) + 1;
      for (int q = 0; q < N_; ++q) {
        if (to(s, q) == nowhere) continue;
        order after = first;
        if (at(s, q).where == region::remainder)
          for (int p = 0; p < N_; ++p)
            after[static_cast<std::size_t>(q)][static_cast<std::size_t>(p)] = at(s, p).past_doorway;
        if (!at(to(s, q), q).past_doorway)
          for (auto& row : after) row[static_cast<std::size_t>(q)] = false;
        for (int late = Of_who_enters ? q : 0; late < (Of_who_enters ? q + 1 : N_); ++late) {
          std::vector<int> ahead;
          for (int p = 0; p < N_; ++p)
            if (after[static_cast<std::size_t>(late)][static_cast<std::size_t>(p)]) ahead.push_back(p);
          if ((!Of_who_enters || enters(s, q)) && bad(to(s, q), late, ahead)) return steps;
        }
        if (length.try_emplace({to(s, q), after}, steps).second) queue.emplace_back(to(s, q), after);
      }
    }
    return 0;
  }

  int trips_of(int p, int q, int most) const {
    const auto waits = [&](std::size_t s) {
      return at(s, p).past_doorway && kept_out_[static_cast<std::size_t>(p)][s];
    };
    std::vector<std::vector<bool>> met(static_cast<std::size_t>(most) + 1, std::vector<bool>(where_.size(), false));
    std::vector<std::pair<std::size_t, int>> queue;
    int best = 0;
    const auto visit = [&](std::size_t s, int count) {
      best = std::max(best, count);
      if (!waits(s) || count == most || met[static_cast<std::size_t>(count)][s]) return;
      met[static_cast<std::size_t>(count)][s] = true;
      queue.emplace_back(s, count);
    };
    for (std::size_t s = 0; s < where_.size(); ++s)
      if (at(s, q).where == region::remainder) visit(s, 0);
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const auto [s, count] = queue[i];
      for (int r = 0; r < N_; ++r)
        if (to(s, r) != nowhere) visit(to(s, r), count + (r == q && enters(s, q)));
    }
    return best;
  }

  int N_, k_;
  std::map<position, std::size_t> numbers_;
  std::vector<std::vector<std::size_t>> next_;
  std::vector<std::vector<whereabouts>> where_;
  std::vector<std::vector<bool>> kept_out_;
};

/// The step at which one that came later gets in: what both engines count up to.
std::size_t bad_step(const trace& t, program& p) {
  walker w(p);
  doorway_order order(p.N());
  for (std::size_t i = 0; i < t.schedule.size(); ++i) {
    const step_record r = order.step(w, t.schedule[i]);
    const std::vector<int> first = order.before(r.process);
    if (r.before == region::critical || r.after != region::critical) continue;
    if (t.victim < 0 ? static_cast<int>(first.size()) >= p.k()
                     : std::find(first.begin(), first.end(), t.victim) != first.end())
      return i + 1;
  }
  return 0;
}

template <class Algorithm>
void expect_agreement(size of) {
  SCOPED_TRACE(std::string(__PRETTY_FUNCTION__) + " N=" + std::to_string(of.N) + " k=" + std::to_string(of.k));
  program p = make<Algorithm>(of);
  const plain_engine plain(p);
  for (const auto& [property, length] : {std::pair{"fife", plain.fife()}, std::pair{"k-fcfs", plain.kfcfs()}}) {
    const property_result r = judge(p, property);
    ASSERT_NE(r.is, verdict::undecided) << property << ": " << r.why;
    EXPECT_EQ(r.is == verdict::violated, length > 0) << property;
    if (!r.counterexample) continue;
    EXPECT_EQ(validate(*r.counterexample, p), "") << describe(*r.counterexample, p);
    EXPECT_EQ(bad_step(*r.counterexample, p), length) << property << "\n" << describe(*r.counterexample, p);
  }
  const property_result enabled = judge(p, "enabled-in-order");
  ASSERT_NE(enabled.is, verdict::undecided) << enabled.why;
  EXPECT_EQ(enabled.is == verdict::violated, plain.enabled_in_order() > 0);
  if (enabled.counterexample) {
    EXPECT_EQ(validate(*enabled.counterexample, p), "") << describe(*enabled.counterexample, p);
  }
  constexpr int most = 8;
  const property_result waiting = judge(p, "bounded-waiting");
  const int trips = plain.trips(most);
  if (waiting.is == verdict::violated) {
    EXPECT_EQ(trips, most);
    EXPECT_EQ(validate(*waiting.counterexample, p), "") << describe(*waiting.counterexample, p);
  } else {
    ASSERT_EQ(waiting.figures.size(), 1U);
    EXPECT_EQ(waiting.figures[0].second, trips);
  }
}

TEST(two_engines, agree_on_queues) {
  for (const size of : {size{2, 1}, size{3, 1}, size{3, 2}}) {
    expect_agreement<fifo>(of);
    expect_agreement<any_of_two>(of);
    expect_agreement<any>(of);
    expect_agreement<at_most<1>>(of);
    expect_agreement<at_most<2>>(of);
  }
  expect_agreement<any_of_two>({4, 2, 1});
}

TEST(two_engines, agree_on_semaphores_and_colours) {
  for (const size of : {size{2, 1}, size{2, 2}, size{3, 1}, size{3, 2}, size{3, 2, 1}}) expect_agreement<semaphore>(of);
  for (const size of : {size{2, 1}, size{2, 2, 1}, size{2, 1, 3}, size{3, 2}}) expect_agreement<colour>(of);
}

TEST(two_engines, agree_on_papers) {
  for (const size of : {size{2, 1}, size{3, 1}, size{3, 2}}) expect_agreement<am97::queue<checker_machine>>(of);
  expect_agreement<flbb79::tickets<checker_machine>>({3, 1});
  expect_agreement<flbb79::tickets<checker_machine>>({3, 2});
  expect_agreement<danek10::kfcfs<checker_machine>>({2, 1, 2});
  expect_agreement<danek10::fife<checker_machine>>({2, 1, 2});
  expect_agreement<danek10::kfcfs<checker_machine>>({3, 2, 1});
}

}  // namespace
}  // namespace kgate::lab
