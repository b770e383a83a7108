// SPDX-License-Identifier: Apache-2.0
// Mistakes in the text of Afek et al., each with what the checker must say to it.

#include "algorithms/decide.hpp"
#include "kgate/algorithms/afek94_figure2.hpp"
#include "lab/checker/model/walker.hpp"

namespace kgate::lab {
namespace {

template <class M>
using no_exit_label = afek94::figure2<M, afek94::unbounded_timestamps<M>, false>;

/// The run that the Label of the exit is for, N = 4, k = 2: 0 leaves its doorway while 2 and 3 are inside; they leave,
/// 1 arrives and enters, 2 and 3 raise their flags again and stop. Returns whether 0 gets in, stepping alone from there
/// on; a search for it would need two passages of four processes.
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

}  // namespace
}  // namespace kgate::lab
