// SPDX-License-Identifier: Apache-2.0

/// Lemmas 1 and 3 of Danek as they are stated, and with them corollary 2, the contrapositive of lemma 1: on random runs
/// of the texts, and of mutants of them that must break each.

#include <map>
#include <random>
#include <set>
#include <utility>

#include "algorithms/verdicts.hpp"
#include "kgate/algorithms/danek10_figure2.hpp"
#include "lab/checker/model/walker.hpp"
#include "mutants/no_increment.hpp"

namespace kgate::lab {
namespace {

using machine = checker_machine;

/// Follows a run and says which lemma it breaks.
class lemmas {
 public:
  explicit lemmas(int N) : N_(N), of_(static_cast<std::size_t>(N)) {}

  std::string after(const step_record& step) {
    passage& mine = of_[static_cast<std::size_t>(step.process)];
    if (step.before == region::remainder) mine = {};
    if (step.label == "15" && !step.written && !mine.chooses) {
      mine.chooses = true;
      mine.chosen_before = tickets_;
    }
    if (step.label == "15" && step.written) return has_chosen(step.process, std::stoull(*step.written));
    if (step.label == "21") return has_read(step.process, step.variable, step.observed);
    if (step.after == region::remainder || step.after == region::exit) mine.leaves = true;
    return "";
  }

 private:
  struct passage {
    bool chooses = false, has_ticket = false, leaves = false;
    danek10::ticket ticket = 0;
    std::map<int, danek10::ticket> chosen_before;  ///< when it began to choose
    std::set<int> removed;                         ///< from its predecessor_set
  };

  std::string has_chosen(int q, danek10::ticket ticket) {
    passage& mine = of_[static_cast<std::size_t>(q)];
    mine.has_ticket = true;
    mine.ticket = tickets_[q] = ticket;
    for (const auto& [p, earlier] : mine.chosen_before)
      if (p != q && earlier >= ticket) return "lemma 1";
    for (int p = 0; p < N_; ++p)
      if (p != q && of_[static_cast<std::size_t>(p)].removed.contains(q) && is_before(q, p)) return "lemma 3";
    return "";
  }
  /// Line 21 of p: it has read Want[q][p].
  std::string has_read(int p, const std::string& variable, const std::string& observed) {
    passage& mine = of_[static_cast<std::size_t>(p)];
    const int q = std::stoi(variable.substr(variable.find('.') + 1));
    if (observed != std::to_string(danek10::infinity) &&
        !(std::pair(mine.ticket, p) < std::pair(danek10::ticket{std::stoull(observed)}, q)))
      return "";
    mine.removed.insert(q);
    return is_before(q, p) ? "lemma 3" : "";
  }
  /// q has a ticket, smaller than p's, and has not begun to leave.
  bool is_before(int q, int p) const {
    const passage &first = of_[static_cast<std::size_t>(q)], &second = of_[static_cast<std::size_t>(p)];
    return first.has_ticket && !first.leaves && std::pair(first.ticket, q) < std::pair(second.ticket, p);
  }

  int N_;
  std::vector<passage> of_;
  std::map<int, danek10::ticket> tickets_;  ///< chosen last by each
};

template <class Algorithm>
std::string broken_on_random_runs(int N, int k, const std::vector<mutation>& wrong = {}) {
  program p(make_model<Algorithm>(N, k), N, k, {8, wrong});
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    walker run(p);
    lemmas follow(N);
    for (int i = 0; i < 1500; ++i) {
      const int who = static_cast<int>(random() % static_cast<unsigned>(N));
      for (unsigned steps = 1 + random() % 4; steps > 0 && run.can_move(who); --steps)
        if (std::string broken = follow.after(run.step(who)); !broken.empty()) return broken;
    }
  }
  return "";
}

TEST(danek10_lemmas, hold_on_random_runs) {
  EXPECT_EQ((broken_on_random_runs<danek10::kfcfs<machine>>(3, 2)), "");
  EXPECT_EQ((broken_on_random_runs<danek10::kfcfs<machine>>(4, 2)), "");
  EXPECT_EQ((broken_on_random_runs<danek10::fife<machine>>(3, 1)), "");
}
TEST(danek10_lemmas, lemma_1_needs_the_increment) {
  EXPECT_EQ((broken_on_random_runs<danek10::no_increment::kfcfs<machine>>(3, 2)), "lemma 1");
}
TEST(danek10_lemmas, lemma_3_needs_the_announcement) {
  EXPECT_EQ((broken_on_random_runs<danek10::kfcfs<machine>>(3, 2, {mutation::parse("drop:14")})), "lemma 3");
}

}  // namespace
}  // namespace kgate::lab
