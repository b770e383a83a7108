// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/claims/property.hpp"

namespace kgate::lab {

namespace {

constexpr property table[] = {
    {.id = "k-exclusion",
     .says = "at most k processes are inside",
     .source = "Fischer, Lynch, Burns and Borodin 1979",
     .decided = "on states, as they are found",
     .by_symmetry = true,
     .basic = true},
    {.id = "deadlock-free",
     .says = "in no fair run does a process stay in its entry while nobody enters any more",
     .source = "Fischer, Lynch, Burns and Borodin 1979",
     .decided = "on states if no process can loop in its entry or exit, else on fair cycles",
     .evidence = shown_by::either,
     .by_symmetry = true,
     .progress = true,
     .basic = true},
    {.id = "starvation-free",
     .says = "in no fair run does a process that has not crashed stay in its entry for ever",
     .source = "Anderson and Moir 1997",
     .decided = "on fair cycles, for every set of crashed processes",
     .evidence = shown_by::either,
     .by_symmetry = true,
     .progress = true,
     .basic = true},
    {.id = "bounded-exit",
     .says = "the exit has no wait and no endless loop",
     .source = "Danek 2010; Choi 2011",
     .decided = "on states and the automaton of each process; the most steps it takes are printed",
     .evidence = shown_by::either,
     .by_symmetry = true,
     .basic = true},
    {.id = "distinct-names",
     .says = "those inside hold different names below k",
     .source = "Anderson and Moir 1997 (k-assignment)",
     .needs = "a name in Private",
     .decided = "on states, as they are found",
     .by_symmetry = true},
    {.id = "invariant",
     .says = "what is written beside the text as its invariant is true",
     .source = "the algorithm's own",
     .needs = "an invariant beside the text",
     .decided = "on states, as they are found"},
    {.id = "local-waiting",
     .says = "on distributed memory a process waits only at variables that are at home with it",
     .source = "Anderson and Moir 1997 (local spinning)",
     .needs = "the home of each variable",
     .decided = "on the automaton of each process, and a state in which it waits elsewhere"},
    {.id = "k-fcfs",
     .says = "nobody that starts after k others have passed their doorways enters before all of them",
     .source = "Danek 2010",
     .needs = "the end of a doorway",
     .decided = "by a monitor of overtakings beside each state"},
    {.id = "fife",
     .says = "whoever starts after another has passed its doorway enters only if that one can no longer be kept out",
     .source = "Afek, Dolev, Gafni, Merritt and Shavit 1994 (definition 2.5)",
     .needs = "the end of a doorway",
     .decided = "by a monitor beside each state and a fixpoint that finds who is enabled",
     .evidence = shown_by::either},
    {.id = "enabled-in-order",
     .says = "whoever starts after another has passed its doorway is enabled, past its own, only if that one is",
     .source = "Afek, Dolev, Gafni, Merritt and Shavit 1994 (definition 5.1)",
     .needs = "the end of a doorway",
     .decided = "by a monitor beside each state and a fixpoint that finds who is enabled",
     .evidence = shown_by::either},
    {.id = "bounded-waiting",
     .says = "nobody past its doorway is overtaken more than b times by the same process before it is enabled",
     .source = "Afek, Dolev, Gafni, Merritt and Shavit 1994 (definition 2.6)",
     .needs = "the end of a doorway; without one all of the entry is waited in",
     .decided = "as the longest path of overtakings; b is printed",
     .evidence = shown_by::endless},
    {.id = "finite-waiting",
     .says = "in no fair run does a process stay in its entry for ever while another gets inside again and again",
     .source = "Fischer, Lynch, Burns and Borodin 1979 (C3)",
     .needs = "atomic registers",
     .decided = "on fair cycles; who is inside need not leave, and who crashes in its entry stays there",
     .evidence = shown_by::endless},
    {.id = "finite-enabling",
     .says =
         "in no fair run is a process in its entry for ever, never enabled, while another gets inside again and again",
     .source = "Fischer, Lynch, Burns and Borodin 1979 (C3')",
     .needs = "atomic registers",
     .decided = "on fair cycles, with a fixpoint that finds who is enabled",
     .evidence = shown_by::endless},
    {.id = "bounded-overtaking",
     .says = "nobody gets from its remainder to inside more than b times while another is in its entry",
     .source = "Fischer, Lynch, Burns and Borodin 1979 (C4)",
     .decided = "as the longest path of overtakings; b is printed",
     .evidence = shown_by::endless},
    {.id = "fifo",
     .says = "nobody arrives and gets inside while one that came before it is in its entry",
     .source = "Fischer, Lynch, Burns and Borodin 1979 (C5)",
     .needs = "atomic registers",
     .decided = "by a search beside each state"},
    {.id = "l-full",
     .says = "as many are enabled or inside as may be, or as there are in their entry",
     .source = "Fischer, Lynch, Burns and Borodin 1979",
     .needs = "atomic registers",
     .decided = "on states, with a fixpoint that finds who is enabled"},
    {.id = "l-queuelike",
     .says = "l-full, fifo-enabling, and an exit of one step",
     .source = "Fischer, Lynch, Burns and Borodin 1979 (C6)",
     .needs = "atomic registers",
     .decided = "as its parts are"},
    {.id = "fifo-enabling",
     .says = "nobody arrives and is enabled while one that came before it is not",
     .source = "Fischer, Lynch, Burns and Borodin 1979 (C5')",
     .needs = "atomic registers",
     .decided = "by a search beside each state, with a fixpoint that finds who is enabled"},
    {.id = "kl-deadlock-free",
     .says = "while a permit is neither taken nor allocated somebody changes its region",
     .source = "Fischer, Lynch, Burns and Borodin 1979",
     .needs = "atomic registers",
     .decided = "on fair cycles",
     .evidence = shown_by::either},
};

}  // namespace

std::span<const property> properties() { return table; }

std::vector<std::string_view> property_ids() {
  std::vector<std::string_view> ids;
  for (const property& one : table) ids.push_back(one.id);
  return ids;
}

const property* find_property(std::string_view id) {
  for (const property& one : table)
    if (one.id == id) return &one;
  return nullptr;
}

}  // namespace kgate::lab
