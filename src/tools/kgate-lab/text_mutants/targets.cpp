// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/text_mutants/text_mutants.hpp"

namespace kgate::tool {

const std::vector<text_target>& text_targets() {
  // Sizes at which the unchanged text is decided in a second or so.
  static const std::vector<text_target> all{
      {"am97-chain-cc", "am97_figure3.hpp", "", "chain<M, figure3>", {{3, 2, 0}}},
      {"am97-chain-cc", "am97_chain.hpp", "", "chain<M, figure3>", {{3, 1, 0}}},
      {"am97-tree-cc", "am97_tree.hpp", "", "tree<M, figure3>", {{4, 1, 0}, {2, 2, 0}}},
      {"am97-fastpath-tree-cc",
       "am97_fastpath.hpp",
       "fastpath_tree",
       "fastpath_tree<M, figure3>",
       {{3, 1, 0}, {2, 1, 0}, {1, 1, 0}}},
      {"am97-fastpath-nested-cc", "am97_fastpath.hpp", "fastpath_nested", "fastpath_nested<M, figure3>", {{3, 1, 0}}},
      {"am97-chain-dsm", "am97_figure8.hpp", "", "chain<M, figure8>", {{3, 2, 0}}},
      {"am97-chain-dsm-small", "am97_figure9.hpp", "", "chain<M, figure9>", {{3, 2, 0}}},
      {"am97-queue", "am97_queue.hpp", "", "queue<M>", {{3, 2, 0}}},
      {"am97-chain-cc+names", "am97_names.hpp", "", "names<M, chain<M, figure3>>", {{3, 2, 0}}},
      {"flbb79-count", "flbb79_count.hpp", "", "count<M>", {{3, 2, 0}}},
      {"flbb79-bank", "flbb79_bank.hpp", "", "bank<M, mcs_lock>", {{3, 2, 0}}},
      {"flbb79-tickets", "flbb79_tickets.hpp", "", "tickets<M>", {{3, 2, 0}, {2, 2, 0}, {4, 3, 0}}},
      {"flbb79-bank-numbers", "flbb79_number_lock.hpp", "", "bank<M, number_lock>", {{3, 2, 0}, {2, 1, 0}}},
      {"danek10-bakery", "danek10_figure1.hpp", "", "bakery<M>", {{2, 1, 2}}},
      {"danek10-fife", "danek10_figure2.hpp", "figure2", "fife<M>", {{3, 2, 1}, {2, 1, 2}, {3, 1, 1}, {4, 2, 0, 3000}}},
      {"danek10-fife", "danek10_registers.hpp", "", "fife<M>", {{3, 2, 1}, {2, 1, 2}}},
      {"danek10-reset", "danek10_figure2.hpp", "figure2", "reset<M>", {{3, 2, 1}, {2, 1, 4}, {4, 2, 0, 3000}}},
      {"choi11", "choi11.hpp", "algorithm", "corrected<M>", {{3, 2, 2}, {3, 1, 2}, {4, 3, 1}, {4, 2, 0, 2000}}},
      {"choi11", "choi11_sets.hpp", "", "corrected<M>", {{3, 2, 2}, {2, 1, 2}, {4, 3, 1}, {4, 3, 0, 300}}},
      {"afek94-fife", "afek94_figure2.hpp", "figure2", "fife<M>", {{3, 2, 1}, {3, 1, 1}, {4, 2, 0, 1000}}},
      {"afek94-fife",
       "afek94_timestamps.hpp",
       "unbounded_timestamps",
       "fife<M>",
       {{3, 2, 1}, {3, 1, 1}, {4, 2, 0, 1000}}},
      {"peterson-k", "peterson_k.hpp", "", "peterson_k<M>", {{3, 1, 0}}},
      {"mcs", "mcs_lock.hpp", "", "mcs_lock<M>", {{3, 1, 0}}},
      {"fa-semaphore", "fa_semaphore.hpp", "", "fa_semaphore<M>", {{3, 2, 0}}},
      {"dekker", "dekker.hpp", "", "dekker<M>", {{2, 1, 0}}},
      {"bakery", "lamport_bakery.hpp", "", "lamport_bakery<M>", {{2, 1, 2}, {3, 1, 1}}},
      {"burns-lynch", "burns_lynch.hpp", "", "burns_lynch<M>", {{3, 1, 0}}},
      {"ticket", "ticket_lock.hpp", "", "ticket_lock<M>", {{3, 1, 2}}},
      {"clh", "clh_lock.hpp", "", "clh_lock<M>", {{3, 1, 0}}},
      {"kgate", "ticket_word.hpp", "", "kgate_fifo<M>", {{3, 2, 2}}},
      {"kgate", "ticket_queue.hpp", "acquire", "kgate_fifo<M>", {{3, 2, 2}}},
      {"kgate", "ticket_queue.hpp", "release", "kgate_fifo<M>", {{3, 2, 2}}},
  };
  return all;
}

}  // namespace kgate::tool
