// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The algorithms of Anderson & Moir 1997: four shapes over three blocks, and the queue of figure 2.

#include <string_view>
#include <tuple>

#include "catalog/entry.hpp"
#include "kgate/algorithms/am97_chain.hpp"
#include "kgate/algorithms/am97_fastpath.hpp"
#include "kgate/algorithms/am97_figure3.hpp"
#include "kgate/algorithms/am97_figure8.hpp"
#include "kgate/algorithms/am97_figure9.hpp"
#include "kgate/algorithms/am97_queue.hpp"
#include "kgate/algorithms/am97_tree.hpp"

namespace kgate::catalog {

inline constexpr std::string_view am97_paper = "Anderson & Moir 1997";

/// ceil(log2(N/k)): how often N must be halved until at most k are left.
constexpr int halvings(int N, int k) {
  int count = 0;
  for (long long reach = k; reach < N; reach *= 2) ++count;
  return count;
}

/// The formulas of the theorems for a block of B remote references.
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

/// What a row has from the block its shape is made of, besides the shape's own part.
constexpr row over_figure3(row shape) {
  shape.paper = am97_paper;
  shape.primitives = shape.primitives | fetch_and_add;
  return with_bound(shape, unbounded_dsm);
}
constexpr row over_figure8(row shape) {
  shape.paper = am97_paper;
  shape.primitives = fetch_and_add | test_and_set;
  return shape;
}
constexpr row over_figure9(row shape) {
  shape.paper = am97_paper;
  shape.primitives = fetch_and_add | test_and_set | compare_and_swap;
  return shape;
}

inline constexpr auto am97_rows = std::tuple{
    entry<shaped<am97::chain, am97::figure3>>{over_figure3({
        .id = "am97-chain-cc",
        .title = "N-k nested (n+1,n)-exclusion blocks, for cache-coherent machines",
        .figure = "3",
        .theorem = "theorem 1",
        .symmetric = symmetry::full,
        .headers = {"am97_chain.hpp", "am97_figure3.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "7(N-k)", chain_bound<7>}}},
    })},
    entry<shaped<am97::tree, am97::figure3>>{over_figure3({
        .id = "am97-tree-cc",
        .title = "a binary tree of (2k,k)-exclusion nodes, for cache-coherent machines",
        .figure = "4 and 5 over 3",
        .theorem = "theorem 2",
        .symmetric = symmetry::one_group,
        .headers = {"am97_tree.hpp", "am97_chain.hpp", "am97_figure3.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "7k ceil(log2(N/k))", tree_bound<7>}}},
    })},
    entry<shaped<am97::fastpath_tree, am97::figure3>>{over_figure3({
        .id = "am97-fastpath-tree-cc",
        .title = "a fast path in front of the tree, for cache-coherent machines",
        .figure = "7 over 5 over 3",
        .theorem = "theorem 3, corollary 1",
        .primitives = test_and_set,
        .symmetric = symmetry::one_group,
        .headers = {"am97_fastpath.hpp", "am97_tree.hpp", "am97_chain.hpp", "am97_figure3.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::alone, "9", constant<9>},
                    {rmr_model::cc, bound_case::always, "7k ceil(log2(N/k)) + 8", fastpath_tree_bound<7>}}},
    })},
    entry<shaped<am97::fastpath_nested, am97::figure3>>{over_figure3({
        .id = "am97-fastpath-nested-cc",
        .title = "nested fast paths, for cache-coherent machines",
        .figure = "6 and 7 over 3",
        .theorem = "theorem 4, corollary 2",
        .primitives = test_and_set,
        .symmetric = symmetry::full,
        .headers = {"am97_fastpath.hpp", "am97_figure3.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::contention, "8c+1", fastpath_nested_bound<7>}}},
    })},
    entry<shaped<am97::chain, am97::figure8>>{over_figure8({
        .id = "am97-chain-dsm",
        .title = "N-k nested (n+1,n)-exclusion blocks, for distributed memory",
        .figure = "8",
        .theorem = "theorem 5",
        .symmetric = symmetry::full,
        .headers = {"am97_chain.hpp", "am97_figure8.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::always, "9(N-k)", chain_bound<9>}}},
    })},
    entry<shaped<am97::tree, am97::figure8>>{over_figure8({
        .id = "am97-tree-dsm",
        .title = "a binary tree of (2k,k)-exclusion nodes, for distributed memory",
        .figure = "4 and 5 over 8",
        .theorem = "theorem 6",
        .symmetric = symmetry::one_group,
        .headers = {"am97_tree.hpp", "am97_chain.hpp", "am97_figure8.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::always, "9k ceil(log2(N/k))", tree_bound<9>}}},
    })},
    entry<shaped<am97::fastpath_tree, am97::figure8>>{over_figure8({
        .id = "am97-fastpath-tree-dsm",
        .title = "a fast path in front of the tree, for distributed memory",
        .figure = "7 over 5 over 8",
        .theorem = "theorem 7, corollary 3",
        .symmetric = symmetry::one_group,
        .headers = {"am97_fastpath.hpp", "am97_tree.hpp", "am97_chain.hpp", "am97_figure8.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::alone, "11", constant<11>},
                    {rmr_model::dsm, bound_case::always, "9k ceil(log2(N/k)) + 10", fastpath_tree_bound<9>}}},
    })},
    entry<shaped<am97::fastpath_nested, am97::figure8>>{over_figure8({
        .id = "am97-fastpath-nested-dsm",
        .title = "nested fast paths, for distributed memory",
        .figure = "6 and 7 over 8",
        .theorem = "theorem 8, corollary 4",
        .symmetric = symmetry::full,
        .headers = {"am97_fastpath.hpp", "am97_figure8.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::contention, "10c+1", fastpath_nested_bound<9>}}},
    })},
    entry<shaped<am97::chain, am97::figure9>>{over_figure9({
        .id = "am97-chain-dsm-small",
        .title = "N-k nested (n+1,n)-exclusion blocks, for distributed memory in O(N) space",
        .figure = "9",
        .theorem = "theorem 9",
        .symmetric = symmetry::full,
        .headers = {"am97_chain.hpp", "am97_figure9.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::always, "10(N-k)", chain_bound<10>}}},
    })},
    entry<shaped<am97::tree, am97::figure9>>{over_figure9({
        .id = "am97-tree-dsm-small",
        .title = "a binary tree of (2k,k)-exclusion nodes, for distributed memory in O(N) space",
        .figure = "4 and 5 over 9",
        .theorem = "theorem 10",
        .symmetric = symmetry::one_group,
        .headers = {"am97_tree.hpp", "am97_chain.hpp", "am97_figure9.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::always, "10k ceil(log2(N/k))", tree_bound<10>}}},
    })},
    entry<shaped<am97::fastpath_tree, am97::figure9>>{over_figure9({
        .id = "am97-fastpath-tree-dsm-small",
        .title = "a fast path in front of the tree, for distributed memory in O(N) space",
        .figure = "7 over 5 over 9",
        .theorem = "theorem 11, corollary 5",
        .symmetric = symmetry::one_group,
        .headers = {"am97_fastpath.hpp", "am97_tree.hpp", "am97_chain.hpp", "am97_figure9.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::alone, "12", constant<12>},
                    {rmr_model::dsm, bound_case::always, "10k ceil(log2(N/k)) + 11", fastpath_tree_bound<10>}}},
    })},
    entry<shaped<am97::fastpath_nested, am97::figure9>>{over_figure9({
        .id = "am97-fastpath-nested-dsm-small",
        .title = "nested fast paths, for distributed memory in O(N) space",
        .figure = "6 and 7 over 9",
        .theorem = "theorem 12, corollary 6",
        .symmetric = symmetry::full,
        .headers = {"am97_fastpath.hpp", "am97_figure9.hpp"},
        .bounds = {{{rmr_model::dsm, bound_case::contention, "11c+1", fastpath_nested_bound<10>}}},
    })},
    entry<plain<am97::queue>>{{
        .id = "am97-queue",
        .title = "an atomic queue and counter in one variable",
        .paper = am97_paper,
        .figure = "2",
        .primitives = read_modify_write,
        .allowed = {.N_max = am97::counter_and_queue::processes_max, .k_max = am97::counter_and_queue::processes_max},
        .promise = {.k_fcfs = true, .fife = true},
        .note = "the reference for tests; unrealistic: a whole queue is changed in one step",
        .headers = {"am97_queue.hpp"},
    }},
};

}  // namespace kgate::catalog
