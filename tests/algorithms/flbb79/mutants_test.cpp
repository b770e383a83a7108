// SPDX-License-Identifier: Apache-2.0
// Mistakes in the texts of Fischer et al., each with what the checker must say to it.

#include "algorithms/decide.hpp"
#include "kgate/algorithms/flbb79_bounded.hpp"
#include "kgate/algorithms/flbb79_tickets.hpp"

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
