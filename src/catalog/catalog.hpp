// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The one table of the algorithms. Tests, tools, benchmarks and documents iterate over it: a new algorithm is a file
/// beside this one and an entry here. The id with "+names" behind it stands for figure 1 of Anderson & Moir over it.
///
///     catalog::for_each([](const catalog::row& row, auto tag) {
///       using Algorithm = typename decltype(tag)::template on<native<>>;
///       using Named = typename catalog::names_over<decltype(tag)>::template on<native<>>;
///     });

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "catalog/row.hpp"
#include "kgate/algorithms/afek94_bounded_timestamps.hpp"
#include "kgate/algorithms/afek94_figure2.hpp"
#include "kgate/algorithms/am97_chain.hpp"
#include "kgate/algorithms/am97_fastpath.hpp"
#include "kgate/algorithms/am97_figure3.hpp"
#include "kgate/algorithms/am97_figure8.hpp"
#include "kgate/algorithms/am97_figure9.hpp"
#include "kgate/algorithms/am97_names.hpp"
#include "kgate/algorithms/am97_queue.hpp"
#include "kgate/algorithms/am97_tree.hpp"
#include "kgate/algorithms/choi11.hpp"
#include "kgate/algorithms/danek10_figure2.hpp"
#include "kgate/algorithms/danek10_nonatomic.hpp"
#include "kgate/algorithms/fa_semaphore.hpp"
#include "kgate/algorithms/flbb79_bank.hpp"
#include "kgate/algorithms/flbb79_bounded.hpp"
#include "kgate/algorithms/flbb79_count.hpp"
#include "kgate/algorithms/flbb79_fifo.hpp"
#include "kgate/algorithms/flbb79_tickets.hpp"
#include "kgate/algorithms/kgate_gate.hpp"
#include "kgate/algorithms/mcs_lock.hpp"
#include "kgate/algorithms/peterson_k.hpp"
#include "kgate/algorithms/ticket_queue.hpp"

namespace kgate::catalog {

/// Tags: how to make the class of an algorithm for a machine.
template <template <class...> class Algorithm>  // a pack: parameters with defaults may follow the machine
struct plain {
  template <class M>
  using on = Algorithm<M>;
};
template <template <class, template <class> class> class Shape, template <class> class Block>
struct shaped {
  template <class M>
  using on = Shape<M, Block>;
};
template <class Tag>
struct names_over {
  template <class M>
  using on = am97::names<M, typename Tag::template on<M>>;
};

template <class Tag>
struct entry {
  using tag = Tag;
  row about;
};

/// The suffix that asks for figure 1 over an algorithm.
inline constexpr std::string_view names_suffix = "+names";

namespace detail {

/// ceil(log2(N/k)): how often N must be halved until at most k are left.
constexpr int halvings(int N, int k) {
  int count = 0;
  for (long long reach = k; reach < N; reach *= 2) ++count;
  return count;
}

constexpr rmr_count without_bound(int, int, int) { return unbounded; }
template <int Count>
constexpr rmr_count constant(int, int, int) {
  return Count;
}
/// The formulas of Anderson & Moir's theorems for a block of B remote references.
template <int B>
constexpr rmr_count chain_bound(int N, int k, int) {
  return rmr_count{B} * (N > k ? N - k : 0);
}
template <int B>
constexpr rmr_count tree_bound(int N, int k, int) {
  return rmr_count{B} * k * halvings(N, k);
}
template <int B>
constexpr rmr_count fastpath_tree_bound(int N, int k, int) {
  return tree_bound<B>(N, k, 0) + B + 1;
}
template <int B>
constexpr rmr_count fastpath_nested_bound(int, int, int c) {
  return rmr_count{B + 1} * c + 1;
}

inline constexpr std::string_view am97 = "Anderson & Moir 1997";
inline constexpr std::string_view danek10 = "Danek 2010";
inline constexpr std::string_view choi11 = "Choi 2011";
inline constexpr std::string_view afek94 = "Afek, Dolev, Gafni, Merritt & Shavit 1994";
inline constexpr std::string_view flbb79 = "Fischer, Lynch, Burns & Borodin 1979";
inline constexpr rmr_bound unbounded_cc{rmr_model::cc, bound_case::always, "unbounded", without_bound};
inline constexpr rmr_bound unbounded_dsm{rmr_model::dsm, bound_case::always, "unbounded", without_bound};

}  // namespace detail

inline constexpr auto table = std::tuple{
    entry<shaped<am97::chain, am97::figure3>>{{
        .id = "am97-chain-cc",
        .title = "N-k nested (n+1,n)-exclusion blocks, for cache-coherent machines",
        .paper = detail::am97,
        .figure = "3",
        .theorem = "theorem 1",
        .primitives = fetch_and_add,
        .symmetric = symmetry::full,
        .headers = {"am97_chain.hpp", "am97_figure3.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "7(N-k)", detail::chain_bound<7>}, detail::unbounded_dsm}},
    }},
    entry<shaped<am97::tree, am97::figure3>>{{
        .id = "am97-tree-cc",
        .title = "a binary tree of (2k,k)-exclusion nodes, for cache-coherent machines",
        .paper = detail::am97,
        .figure = "4 and 5 over 3",
        .theorem = "theorem 2",
        .primitives = fetch_and_add,
        .symmetric = symmetry::one_group,
        .headers = {"am97_tree.hpp", "am97_chain.hpp", "am97_figure3.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "7k ceil(log2(N/k))", detail::tree_bound<7>},
                    detail::unbounded_dsm}},
    }},
    entry<shaped<am97::fastpath_tree, am97::figure3>>{{
        .id = "am97-fastpath-tree-cc",
        .title = "a fast path in front of the tree, for cache-coherent machines",
        .paper = detail::am97,
        .figure = "7 over 5 over 3",
        .theorem = "theorem 3, corollary 1",
        .primitives = fetch_and_add | test_and_set,
        .symmetric = symmetry::one_group,
        .headers = {"am97_fastpath.hpp", "am97_tree.hpp", "am97_chain.hpp", "am97_figure3.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::alone, "9", detail::constant<9>},
                    {rmr_model::cc, bound_case::always, "7k ceil(log2(N/k)) + 8", detail::fastpath_tree_bound<7>},
                    detail::unbounded_dsm}},
    }},
    entry<shaped<am97::fastpath_nested, am97::figure3>>{{
        .id = "am97-fastpath-nested-cc",
        .title = "nested fast paths, for cache-coherent machines",
        .paper = detail::am97,
        .figure = "6 and 7 over 3",
        .theorem = "theorem 4, corollary 2",
        .primitives = fetch_and_add | test_and_set,
        .symmetric = symmetry::full,
        .headers = {"am97_fastpath.hpp", "am97_figure3.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::contention, "8c+1", detail::fastpath_nested_bound<7>},
                    detail::unbounded_dsm}},
    }},
    entry<shaped<am97::chain, am97::figure8>>{{
        .id = "am97-chain-dsm",
        .title = "N-k nested (n+1,n)-exclusion blocks, for distributed memory",
        .paper = detail::am97,
        .figure = "8",
        .theorem = "theorem 5",
        .primitives = fetch_and_add | test_and_set,
        .symmetric = symmetry::full,
        .headers = {"am97_chain.hpp", "am97_figure8.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::always, "9(N-k)", detail::chain_bound<9>}}},
    }},
    entry<shaped<am97::tree, am97::figure8>>{{
        .id = "am97-tree-dsm",
        .title = "a binary tree of (2k,k)-exclusion nodes, for distributed memory",
        .paper = detail::am97,
        .figure = "4 and 5 over 8",
        .theorem = "theorem 6",
        .primitives = fetch_and_add | test_and_set,
        .symmetric = symmetry::one_group,
        .headers = {"am97_tree.hpp", "am97_chain.hpp", "am97_figure8.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::always, "9k ceil(log2(N/k))", detail::tree_bound<9>}}},
    }},
    entry<shaped<am97::fastpath_tree, am97::figure8>>{{
        .id = "am97-fastpath-tree-dsm",
        .title = "a fast path in front of the tree, for distributed memory",
        .paper = detail::am97,
        .figure = "7 over 5 over 8",
        .theorem = "theorem 7, corollary 3",
        .primitives = fetch_and_add | test_and_set,
        .symmetric = symmetry::one_group,
        .headers = {"am97_fastpath.hpp", "am97_tree.hpp", "am97_chain.hpp", "am97_figure8.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::alone, "11", detail::constant<11>},
                    {rmr_model::dsm, bound_case::always, "9k ceil(log2(N/k)) + 10", detail::fastpath_tree_bound<9>}}},
    }},
    entry<shaped<am97::fastpath_nested, am97::figure8>>{{
        .id = "am97-fastpath-nested-dsm",
        .title = "nested fast paths, for distributed memory",
        .paper = detail::am97,
        .figure = "6 and 7 over 8",
        .theorem = "theorem 8, corollary 4",
        .primitives = fetch_and_add | test_and_set,
        .symmetric = symmetry::full,
        .headers = {"am97_fastpath.hpp", "am97_figure8.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::contention, "10c+1", detail::fastpath_nested_bound<9>}}},
    }},
    entry<shaped<am97::chain, am97::figure9>>{{
        .id = "am97-chain-dsm-small",
        .title = "N-k nested (n+1,n)-exclusion blocks, for distributed memory in O(N) space",
        .paper = detail::am97,
        .figure = "9",
        .theorem = "theorem 9",
        .primitives = fetch_and_add | test_and_set | compare_and_swap,
        .symmetric = symmetry::full,
        .headers = {"am97_chain.hpp", "am97_figure9.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::always, "10(N-k)", detail::chain_bound<10>}}},
    }},
    entry<shaped<am97::tree, am97::figure9>>{{
        .id = "am97-tree-dsm-small",
        .title = "a binary tree of (2k,k)-exclusion nodes, for distributed memory in O(N) space",
        .paper = detail::am97,
        .figure = "4 and 5 over 9",
        .theorem = "theorem 10",
        .primitives = fetch_and_add | test_and_set | compare_and_swap,
        .symmetric = symmetry::one_group,
        .headers = {"am97_tree.hpp", "am97_chain.hpp", "am97_figure9.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::always, "10k ceil(log2(N/k))", detail::tree_bound<10>}}},
    }},
    entry<shaped<am97::fastpath_tree, am97::figure9>>{{
        .id = "am97-fastpath-tree-dsm-small",
        .title = "a fast path in front of the tree, for distributed memory in O(N) space",
        .paper = detail::am97,
        .figure = "7 over 5 over 9",
        .theorem = "theorem 11, corollary 5",
        .primitives = fetch_and_add | test_and_set | compare_and_swap,
        .symmetric = symmetry::one_group,
        .headers = {"am97_fastpath.hpp", "am97_tree.hpp", "am97_chain.hpp", "am97_figure9.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::alone, "12", detail::constant<12>},
                    {rmr_model::dsm, bound_case::always, "10k ceil(log2(N/k)) + 11", detail::fastpath_tree_bound<10>}}},
    }},
    entry<shaped<am97::fastpath_nested, am97::figure9>>{{
        .id = "am97-fastpath-nested-dsm-small",
        .title = "nested fast paths, for distributed memory in O(N) space",
        .paper = detail::am97,
        .figure = "6 and 7 over 9",
        .theorem = "theorem 12, corollary 6",
        .primitives = fetch_and_add | test_and_set | compare_and_swap,
        .symmetric = symmetry::full,
        .headers = {"am97_fastpath.hpp", "am97_figure9.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::contention, "11c+1", detail::fastpath_nested_bound<10>}}},
    }},
    entry<plain<am97::queue>>{{
        .id = "am97-queue",
        .title = "an atomic queue and counter in one variable",
        .paper = detail::am97,
        .figure = "2",
        .primitives = read_modify_write,
        .allowed = {.N_max = am97::counter_and_queue::processes_max, .k_max = am97::counter_and_queue::processes_max},
        .promise = {.k_fcfs = true, .fife = true},
        .note = "the reference for tests; unrealistic: a whole queue is changed in one step",
        .headers = {"am97_queue.hpp"},
    }},
    entry<plain<fa_semaphore>>{{
        .id = "fa-semaphore",
        .title = "the fetch-and-add semaphore, baseline",
        .paper = "Gottlieb, Lubachevsky & Rudolph 1983",
        .figure = "test-decrement-retest; row of table 1 in Anderson & Moir 1997",
        .primitives = fetch_and_add,
        .promise = {.starvation_free = false},
        .symmetric = symmetry::full,
        .headers = {"fa_semaphore.hpp"},
        .bounds = {{detail::unbounded_cc, detail::unbounded_dsm}},
    }},
    entry<plain<flbb79::count>>{{
        .id = "flbb79-count",
        .title = "the COUNT semaphore, baseline",
        .paper = detail::flbb79,
        .figure = "section 1",
        .primitives = fetch_and_add | read_modify_write,
        .promise = {.starvation_free = false},
        .symmetric = symmetry::full,
        .headers = {"flbb79_count.hpp"},
        .bounds = {{detail::unbounded_cc, detail::unbounded_dsm}},
    }},
    entry<shaped<flbb79::bank, mcs_lock>>{{
        .id = "flbb79-bank",
        .title = "the bank teller: a queue, here the MCS lock, in front of COUNT",
        .paper = detail::flbb79,
        .figure = "section 1",
        .theorem = "theorem 4.1",
        .primitives = fetch_and_add | compare_and_swap | exchange,
        .promise = {.despite = crashes::none},
        .symmetric = symmetry::full,
        .note = "one crash can stop it",
        .headers = {"flbb79_bank.hpp", "mcs_lock.hpp"},
        .bounds = {{detail::unbounded_cc, detail::unbounded_dsm}},
    }},
    entry<plain<flbb79::tickets>>{{
        .id = "flbb79-tickets",
        .title = "coloured tickets in one variable",
        .paper = detail::flbb79,
        .figure = "section 4",
        .theorem = "theorem 4.2",
        .primitives = read_modify_write,
        .allowed = {.N_max = flbb79::ticket_word::numbers_max, .k_max = flbb79::ticket_word::valid_max},
        .promise = {.k_fcfs = true, .fife = true, .l_queuelike = true, .overtakings_max = 0},
        .symmetric = symmetry::full,
        .headers = {"flbb79_tickets.hpp"},
        .bounds = {{detail::unbounded_cc, detail::unbounded_dsm}},
    }},
    entry<plain<flbb79::bounded>>{{
        .id = "flbb79-bounded",
        .title = "buckets moved by a supervisor that is done without",
        .paper = detail::flbb79,
        .figure = "lemmas 4.4 and 4.3",
        .theorem = "theorem 4.3",
        .primitives = read_modify_write,
        .allowed = {.N_max = flbb79::bucket_system<>::processes_max, .k_max = flbb79::robustness_max},
        .symmetric = symmetry::full,
        .native = false,
        .note = "for the laboratory: no real primitive changes so large a variable in one step",
        .headers = {"flbb79_bounded.hpp", "flbb79_supervisor.hpp"},
        .bounds = {{detail::unbounded_cc, detail::unbounded_dsm}},
    }},
    entry<plain<flbb79::fifo>>{{
        .id = "flbb79-fifo",
        .title = "a queue under short names, its supervisor done without",
        .paper = detail::flbb79,
        .figure = "lemmas 4.5 and 4.3",
        .theorem = "theorem 4.4",
        .primitives = read_modify_write,
        .allowed = {.N_max = flbb79::fifo_system::processes_max, .k_max = flbb79::robustness_max},
        .promise = {.k_fcfs = true, .fife = true, .overtakings_max = 0},
        .symmetric = symmetry::full,
        .native = false,
        .note = "for the laboratory: a completed sketch; no real primitive changes so large a variable in one step",
        .headers = {"flbb79_fifo.hpp", "flbb79_fifo_values.hpp", "flbb79_short_names.hpp", "flbb79_supervisor.hpp"},
        .bounds = {{detail::unbounded_cc, detail::unbounded_dsm}},
    }},
    entry<plain<flbb79::bounded_printed_order>>{{
        .id = "flbb79-bounded-printed-order",
        .title = "as printed: transno after newval",
        .paper = detail::flbb79,
        .figure = "lemma 4.3",
        .primitives = read_modify_write,
        .allowed = {.N_max = flbb79::bucket_system<>::processes_max, .k_max = flbb79::robustness_max},
        .promise = {.deadlock_free = false, .starvation_free = false},
        .symmetric = symmetry::full,
        .native = false,
        .note = "for study: the supervisor loses its way",
        .headers = {"flbb79_bounded.hpp", "flbb79_supervisor.hpp"},
        .bounds = {{detail::unbounded_cc, detail::unbounded_dsm}},
    }},
    entry<plain<flbb79::bounded_printed_test>>{{
        .id = "flbb79-bounded-printed-test",
        .title = "as printed: gate takes main whole only below k-1",
        .paper = detail::flbb79,
        .figure = "lemma 4.4",
        .primitives = read_modify_write,
        .allowed = {.N_max = flbb79::bucket_system<>::processes_max, .k_max = flbb79::robustness_max},
        .promise = {.deadlock_free = false, .starvation_free = false},
        .symmetric = symmetry::full,
        .native = false,
        .note = "for study: a sleeper in main stops the supervisor",
        .headers = {"flbb79_bounded.hpp", "flbb79_supervisor.hpp"},
        .bounds = {{detail::unbounded_cc, detail::unbounded_dsm}},
    }},
    entry<plain<peterson_k>>{{
        .id = "peterson-k",
        .title = "Peterson's algorithm stopped after N-k levels, baseline",
        .paper = "Peterson 1981",
        .figure = "row of table 1 in Anderson & Moir 1997",
        .promise = {.despite = crashes::none},
        .note = "one crash can stop it",
        .headers = {"peterson_k.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "Theta(N^3 - N k^2)", nullptr}, detail::unbounded_dsm}},
    }},
    entry<plain<danek10::kfcfs>>{{
        .id = "danek10-kfcfs",
        .title = "the k-bakery",
        .paper = detail::danek10,
        .figure = "2, unshaded",
        .theorem = "theorem 8",
        .allowed = {.N_max = danek10::processes_max, .k_max = danek10::processes_max},
        .promise = {.k_fcfs = true},
        .bounded_variables = false,
        .headers = {"danek10_figure2.hpp", "danek10_registers.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "Theta(N)", nullptr},
                    {rmr_model::dsm, bound_case::always, "Theta(N)", nullptr}}},
    }},
    entry<plain<danek10::fife>>{{
        .id = "danek10-fife",
        .title = "the k-bakery with capture",
        .paper = detail::danek10,
        .figure = "2",
        .theorem = "theorem 9",
        .allowed = {.N_max = danek10::processes_max, .k_max = danek10::processes_max},
        .promise = {.k_fcfs = true, .fife = true},
        .bounded_variables = false,
        .headers = {"danek10_figure2.hpp", "danek10_registers.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "Theta(N)", nullptr},
                    {rmr_model::dsm, bound_case::always, "Theta(N)", nullptr}}},
    }},
    entry<plain<danek10::nonatomic>>{{
        .id = "danek10-nonatomic",
        .title = "the k-bakery on safe registers",
        .paper = detail::danek10,
        .figure = "3",
        .theorem = "theorem 10",
        .allowed = {.N_max = danek10::processes_max, .k_max = danek10::processes_max},
        .promise = {.k_fcfs = true, .fife = true},
        .bounded_variables = false,
        .needs = registers::safe,
        .headers = {"danek10_nonatomic.hpp", "danek10_registers.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "Theta(N)", nullptr},
                    {rmr_model::dsm, bound_case::always, "Theta(N)", nullptr}}},
    }},
    entry<plain<choi11::corrected>>{{
        .id = "choi11",
        .title = "tickets, wait sets and release sets",
        .paper = detail::choi11,
        .figure = "section 2",
        .primitives = fetch_and_add | compare_and_swap,
        .promise = {.k_fcfs = true, .fife = true},
        .symmetric = symmetry::full,
        .bounded_variables = false,
        .note = "needs a smart cache: a failed CAS disturbs no reader",
        .headers = {"choi11.hpp", "choi11_sets.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "O(log k)", nullptr}, detail::unbounded_dsm}},
    }},
    entry<plain<choi11::amortized>>{{
        .id = "choi11-amortized",
        .title = "the same with a larger array, for ordinary caches",
        .paper = detail::choi11,
        .figure = "section 3.7.5",
        .primitives = fetch_and_add | compare_and_swap,
        .promise = {.k_fcfs = true, .fife = true},
        .symmetric = symmetry::full,
        .bounded_variables = false,
        .headers = {"choi11.hpp", "choi11_sets.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "O(log k) amortized", nullptr}, detail::unbounded_dsm}},
    }},
    entry<plain<choi11::as_printed>>{{
        .id = "choi11-as-printed",
        .title = "as printed: its two errors",
        .paper = detail::choi11,
        .figure = "section 2.2-2.4",
        .primitives = fetch_and_add | compare_and_swap,
        .promise = {.deadlock_free = false, .starvation_free = false},
        .symmetric = symmetry::full,
        .bounded_variables = false,
        .native = false,
        .note = "for study: a waiter can starve",
        .headers = {"choi11.hpp", "choi11_sets.hpp"},
        .bounds = {{detail::unbounded_dsm}},
    }},
    entry<plain<choi11::printed_waits>>{{
        .id = "choi11-as-printed-waits",
        .title = "as printed: wait sets without their own slot",
        .paper = detail::choi11,
        .figure = "section 2.4",
        .primitives = fetch_and_add | compare_and_swap,
        .promise = {.deadlock_free = false, .starvation_free = false},
        .symmetric = symmetry::full,
        .bounded_variables = false,
        .native = false,
        .note = "for study: a waiter can starve with one crash, from n = 3, k = 2",
        .headers = {"choi11.hpp", "choi11_sets.hpp"},
        .bounds = {{detail::unbounded_dsm}},
    }},
    entry<plain<choi11::printed_blocks>>{{
        .id = "choi11-as-printed-blocks",
        .title = "as printed: N = 2k for k < n <= 2k",
        .paper = detail::choi11,
        .figure = "section 2.2",
        .primitives = fetch_and_add | compare_and_swap,
        .promise = {.deadlock_free = false, .starvation_free = false},
        .symmetric = symmetry::full,
        .bounded_variables = false,
        .native = false,
        .note = "for study: a waiter can starve with two crashes, from n = 4, k = 3",
        .headers = {"choi11.hpp", "choi11_sets.hpp"},
        .bounds = {{detail::unbounded_dsm}},
    }},
    entry<plain<choi11::printed_rounding>>{{
        .id = "choi11-as-printed-rounding",
        .title = "as printed: parse rounds up",
        .paper = detail::choi11,
        .figure = "section 2.3",
        .primitives = fetch_and_add | compare_and_swap,
        .promise = {.k_exclusion = false, .deadlock_free = false, .starvation_free = false},
        .symmetric = symmetry::full,
        .bounded_variables = false,
        .native = false,
        .note = "for study",
        .headers = {"choi11.hpp", "choi11_sets.hpp"},
        .bounds = {{detail::unbounded_dsm}},
    }},
    entry<plain<choi11::printed_patterns>>{{
        .id = "choi11-as-printed-patterns",
        .title = "as printed: patterns one bit short",
        .paper = detail::choi11,
        .figure = "section 2.4",
        .primitives = fetch_and_add | compare_and_swap,
        .promise = {.deadlock_free = false, .starvation_free = false},
        .symmetric = symmetry::full,
        .bounded_variables = false,
        .native = false,
        .note = "for study",
        .headers = {"choi11.hpp", "choi11_sets.hpp"},
        .bounds = {{detail::unbounded_dsm}},
    }},
    entry<plain<choi11::one_update>>{{
        .id = "choi11-one-update",
        .title = "misread: each slot updated once",
        .paper = detail::choi11,
        .figure = "lines 5 and 6",
        .primitives = fetch_and_add | compare_and_swap,
        .promise = {.deadlock_free = false, .starvation_free = false},
        .symmetric = symmetry::full,
        .bounded_variables = false,
        .native = false,
        .note = "for study",
        .headers = {"choi11.hpp", "choi11_sets.hpp"},
        .bounds = {{detail::unbounded_dsm}},
    }},
    entry<plain<choi11::descending>>{{
        .id = "choi11-descending",
        .title = "misread: slots updated in descending order",
        .paper = detail::choi11,
        .figure = "line 4",
        .primitives = fetch_and_add | compare_and_swap,
        .promise = {.deadlock_free = false, .starvation_free = false},
        .symmetric = symmetry::full,
        .bounded_variables = false,
        .native = false,
        .note = "for study",
        .headers = {"choi11.hpp", "choi11_sets.hpp"},
        .bounds = {{detail::unbounded_dsm}},
    }},
    entry<plain<afek94::fife>>{{
        .id = "afek94-fife",
        .title = "flags and unbounded timestamps",
        .paper = detail::afek94,
        .figure = "2 on 1",
        .theorem = "lemmas 4.1-4.4",
        .allowed = {.N_max = afek94::process_set_max, .k_max = afek94::process_set_max},
        .promise = {.k_fcfs = true, .fife = true},
        .bounded_variables = false,
        .headers = {"afek94_figure2.hpp", "afek94_timestamps.hpp"},
        .bounds = {{detail::unbounded_cc, detail::unbounded_dsm}},
    }},
    entry<plain<afek94::bounded>>{{
        .id = "afek94-bounded",
        .title = "flags and bounded timestamps",
        .paper = detail::afek94,
        .figure = "2",
        .theorem = "lemmas 4.1-4.4",
        .allowed = {.N_max = afek94::labelling::processes_max, .k_max = afek94::labelling::processes_max},
        .promise = {.k_fcfs = true, .fife = true},
        .note = "the timestamps are a reconstruction: docs/decisions",
        .headers = {"afek94_figure2.hpp", "afek94_bounded_timestamps.hpp", "afek94_labelling.hpp",
                    "afek94_timestamps.hpp"},
        .bounds = {{detail::unbounded_cc, detail::unbounded_dsm}},
    }},
    entry<plain<afek94::printed_label>>{{
        .id = "afek94-as-printed",
        .title = "as printed: Label keeps a label that equals the maximum",
        .paper = detail::afek94,
        .figure = "2 on 1",
        .allowed = {.N_max = afek94::process_set_max, .k_max = afek94::process_set_max},
        .promise = {.k_exclusion = false, .starvation_free = false},
        .bounded_variables = false,
        .native = false,
        .note = "for study: two processes may hold the largest label for ever, and the later one starves",
        .headers = {"afek94_figure2.hpp", "afek94_timestamps.hpp"},
        .bounds = {{detail::unbounded_cc, detail::unbounded_dsm}},
    }},
    entry<plain<kgate_fifo>>{{
        .id = "kgate",
        .title = "the packed ticket word: what kgate::semaphore runs",
        .paper = "this project",
        .figure = "algorithms/ticket_queue.hpp",
        .primitives = fetch_and_add | compare_and_swap,
        .promise = {.k_fcfs = true, .fife = true, .overtakings_max = 0},
        .symmetric = symmetry::full,
        .bounded_variables = false,
        .note = "tickets wrap after 2^32, too far to explore; tests/semaphore checks it with small words that wrap, "
                "and with "
                "the waiting room in which threads sleep. Here a waiter looks at W, hence the O(N)",
        .headers = {"ticket_queue.hpp", "ticket_word.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::alone, "2", detail::constant<2>},
                    {rmr_model::cc, bound_case::always, "O(N)", nullptr},
                    detail::unbounded_dsm}},
    }},
    entry<plain<kgate_gate>>{{
        .id = "kgate-gate",
        .title = "the gate between processes: one word that names its last operation, helped by all",
        .paper = "this project",
        .figure = "algorithms/gate_protocol.hpp",
        .primitives = compare_and_swap,
        .allowed = {.N_max = 15},
        .promise = {.starvation_free = false, .bounded_exit = false, .k_fcfs = true},
        .bounded_variables = false,
        .note =
            "operations and passages are numbered; tests/gate/lab explores scripts of all its operations with deaths. "
            "Lock-free: who tries to queue or to leave can be overtaken, who is queued cannot",
        .headers = {"kgate_gate.hpp", "gate_protocol.hpp", "gate_word.hpp"},
        .bounds = {{detail::unbounded_cc, detail::unbounded_dsm}},
    }},
    entry<plain<mcs_lock>>{{
        .id = "mcs",
        .title = "the MCS queue lock, the peer for k = 1",
        .paper = "Mellor-Crummey & Scott 1991",
        .figure = "list-based queuing lock",
        .primitives = compare_and_swap | exchange,
        .allowed = {.k_max = 1},
        .promise = {.bounded_exit = false, .k_fcfs = true},
        .symmetric = symmetry::full,
        .headers = {"mcs_lock.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "10", detail::constant<10>},
                    {rmr_model::dsm, bound_case::always, "4", detail::constant<4>}}},
    }},
};

/// Calls f(row, tag) for every entry, in the order of the table.
template <class F>
constexpr void for_each(F&& f) {
  std::apply([&](const auto&... one) { (f(one.about, typename std::remove_cvref_t<decltype(one)>::tag{}), ...); },
             table);
}

/// The same for the entries that make sense on the native machine; f is not even instantiated for the others, whose
/// shared variables may be larger than a machine has atomic operations for.
template <class F>
constexpr void for_each_native(F&& f) {
  const auto call = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    constexpr const auto& one = std::get<I>(table);
    if constexpr (one.about.native) f(one.about, typename std::remove_cvref_t<decltype(one)>::tag{});
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) { (call(std::integral_constant<std::size_t, I>{}), ...); }
  (std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(table)>>>{});
}

/// The rows alone.
inline constexpr auto rows =
    std::apply([](const auto&... one) { return std::array<const row*, sizeof...(one)>{&one.about...}; }, table);

/// The algorithm with this id, which may end in "+names"; empty if there is none.
inline choice find(std::string_view id) {
  const bool with_names = id.ends_with(names_suffix);
  if (with_names) id.remove_suffix(names_suffix.size());
  for (const row* one : rows)
    if (one->id == id) return {one, with_names};
  return {};
}

}  // namespace kgate::catalog
