// SPDX-License-Identifier: Apache-2.0
/// Three processes, of which each does one given thing, from when the first is inside and others are queued behind it,
/// one of which ends in the middle of what it does, over all schedules: what needs three processes and a death, and is
/// too much with every script. Each scene holds for the text, and does not for the mutant that it was written for.
#include "gate/lab/scripts.hpp"
#include "mutants/dismisses_blindly.hpp"
#include "mutants/listens_late.hpp"
#include "mutants/only_winner_wakes.hpp"
#include "mutants/silent_abandon.hpp"
#include "mutants/silent_grant.hpp"
#include "mutants/silent_resizer.hpp"
#include "mutants/woken_too_soon.hpp"

namespace kgate::lab {
namespace {

template <class Cells>
using shipped = detail::gates::protocol<Cells>;

/// What three processes do, a letter each, and how many of them are where they belong when it begins: one inside, the
/// others queued.
struct scene {
  const char* letters;
  unsigned arrived;

  gate_scripts scripts() const {
    gate_scripts what{.processes = 3, .members = 3, .k = 1, .arrived = arrived, .dismissed = 1};
    for (int p = 0; p < 3; ++p) what.each.push_back(acts(std::string(1, letters[p])));
    return what;
  }
  template <template <class> class Protocol>
  script_verdict explore() const {
    return explore_scripts<Protocol>(scripts(), 0, std::uint64_t{5} << 30);
  }
};

template <template <class> class Mutant>
void fails(const scene& what) {
  const script_verdict seen = what.explore<Mutant>();
  EXPECT_TRUE(seen.violated) << seen.text;
  std::printf("a mutant fails: %llu states\n", static_cast<unsigned long long>(seen.states));
}

template <template <class> class... Mutants>
void only_mutants_fail(const scene& what) {
  (fails<Mutants>(what), ...);
  const script_verdict text = what.explore<shipped>();
  EXPECT_TRUE(text.holds) << text.text;
  std::printf("the text holds: %llu states\n", static_cast<unsigned long long>(text.states));
}

/// One behind the waiter grants it when it gives up, and dies before it rings; the leaver finds the grant applied. The
/// mutants: only the one that applied it wakes; it says that it has woken before it has.
TEST(gate_directed, a_grant_by_one_that_dies_before_it_wakes) {
  only_mutants_fail<detail::gates::only_winner_wakes::protocol, detail::gates::woken_too_soon::protocol>({"bbq", 3});
}
/// The one in the middle gives up just before the last one listens, and the holder dies. The mutants: an alert before
/// it listens is lost; it alerts none.
TEST(gate_directed, one_that_gives_up_and_a_holder_that_dies) {
  only_mutants_fail<detail::gates::listens_late::protocol, detail::gates::silent_abandon::protocol>({"peb", 3});
}
/// The one in the middle asks for more than there is, is refused and alerts none, and the holder dies.
TEST(gate_directed, one_that_is_refused_in_silence) {
  only_mutants_fail<detail::gates::silent_grant::protocol>({"pcb", 3});
}
/// One makes room for the waiter and dies before it grants.
TEST(gate_directed, a_resizer_that_nobody_watches) {
  only_mutants_fail<detail::gates::silent_resizer::protocol>({"obr", 2});
}
/// The waiter is granted while the last one dismisses it as a waiter.
TEST(gate_directed, a_holder_dismissed_for_a_waiter) {
  only_mutants_fail<detail::gates::dismisses_blindly::protocol>({"bbn", 2});
}

}  // namespace
}  // namespace kgate::lab
