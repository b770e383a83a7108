// SPDX-License-Identifier: Apache-2.0
// Mistakes in the texts of Afek et al. and Fischer et al., each with what the checker must say to it.

#include "afek_flbb/verdicts.hpp"
#include "kgate/algorithms/afek94_figure2.hpp"
#include "kgate/algorithms/flbb79_bounded.hpp"
#include "kgate/algorithms/flbb79_tickets.hpp"
#include "lab/checker/walker.hpp"

namespace kgate::lab {
namespace {

/// Any colour but that of Valid, valid tickets or not.
struct careless_colour : flbb79::ticket_rules {
  static constexpr int newcolor(flbb79::ticket_word v, int) { return v.valid().colour == 0 ? 1 : 0; }
};
template <class M>
using with_careless_colour = flbb79::tickets<M, careless_colour>;
TEST(TicketMutant, AColourStillInUseN3k2) {
  EXPECT_EQ(decide<with_careless_colour>({3, 2}, "l-queuelike").verdict, "violated");
}

/// With different colours Issue always leads.
struct eager_lead : flbb79::ticket_rules {
  static constexpr bool issue_leads(flbb79::ticket issue, flbb79::ticket valid, int) {
    return issue.colour == valid.colour ? issue.number() > valid.number() : true;
  }
};
template <class M>
using with_eager_lead = flbb79::tickets<M, eager_lead>;
TEST(TicketMutant, IssueLeadsAcrossColoursN3k2) {
  EXPECT_EQ(decide<with_eager_lead>({3, 2}, "l-queuelike").verdict, "violated");
  EXPECT_EQ(decide<with_eager_lead>({3, 2}, "deadlock-free").verdict, "violated");
}

/// With different colours Valid always leads.
struct shy_lead : flbb79::ticket_rules {
  static constexpr bool issue_leads(flbb79::ticket issue, flbb79::ticket valid, int) {
    return issue.colour == valid.colour && issue.number() > valid.number();
  }
};
template <class M>
using with_shy_lead = flbb79::tickets<M, shy_lead>;
TEST(TicketMutant, ValidLeadsAcrossColoursN3k1) {
  EXPECT_EQ(decide<with_shy_lead>({3, 1}, "k-exclusion").verdict, "violated");
}

template <class M>
using no_exit_label = afek94::figure2<M, afek94::unbounded_timestamps<M>, false>;

/// The run that the Label of the exit is for, N = 4, k = 2: 0 leaves its doorway while 2 and 3 are inside; they leave, 1 arrives
/// and enters, 2 and 3 raise their flags again and stop. Returns whether 0 gets in, stepping alone from there on; a search for it would
/// need two passages of four processes.
template <template <class> class Algorithm>
bool enters_after_returners() {
  program p(make_model<Algorithm<checker_machine>>(4, 2), 4, 2, {2, {}});
  walker run(p);
  const auto until = [&](int who, region where) {
    while (run.local(who).where != where) run.step(who);
  };
  until(2, region::critical);
  until(3, region::critical);
  while (!run.local(0).waiting) run.step(0);
  until(2, region::remainder);
  until(3, region::remainder);
  until(1, region::critical);
  run.step(2);
  run.step(3);
  for (int i = 0; i < 100 && run.local(0).where == region::entry; ++i) run.step(0);
  return run.local(0).where == region::critical;
}
TEST(AfekMutant, WithoutTheLabelOfTheExitItIsNotFirstInFirstEnabledN4k2) {
  EXPECT_TRUE(enters_after_returners<afek94::fife>());
  EXPECT_FALSE(enters_after_returners<no_exit_label>());
}

template <class M>
using printed_order = flbb79::supervised<M, flbb79::bucket_system<>, flbb79::printed_order>;
TEST(SupervisorMutant, TransnoAfterNewvalN2k1) {
  EXPECT_EQ(decide<printed_order>({2, 1}, "starvation-free").verdict, "violated");
}
TEST(SupervisorMutant, TransnoAfterNewvalN3k2) {
  EXPECT_EQ(decide<printed_order>({3, 2}, "kl-deadlock-free").verdict, "violated");
}
template <class M>
using printed_test = flbb79::supervised<M, flbb79::bucket_system<flbb79::printed_test>>;
TEST(SupervisorMutant, LessInsteadOfLessOrEqualN3k2) {
  EXPECT_EQ(decide<printed_test>({3, 2}, "deadlock-free").verdict, "violated");
}

}  // namespace
}  // namespace kgate::lab
