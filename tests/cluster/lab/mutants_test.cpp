// SPDX-License-Identifier: Apache-2.0
/// Mistakes of the recipe, each with a script that must find it.
#include "cluster/lab/scripts.hpp"
#include "kgate/algorithms/cluster_recipe.hpp"
#include "mutants/absolute_order.hpp"
#include "mutants/all_watch_head.hpp"
#include "mutants/any_grant.hpp"
#include "mutants/any_version.hpp"
#include "mutants/counts_below_k.hpp"
#include "mutants/frees_at_any_gate.hpp"
#include "mutants/frees_blindly.hpp"
#include "mutants/frees_once.hpp"
#include "mutants/gives_up_once.hpp"
#include "mutants/guesses_again.hpp"
#include "mutants/guesses_and_waits.hpp"
#include "mutants/guesses_any_version.hpp"
#include "mutants/guesses_beyond.hpp"
#include "mutants/guesses_right.hpp"
#include "mutants/guesses_uncounted.hpp"
#include "mutants/head_by_event.hpp"
#include "mutants/heavy_head.hpp"
#include "mutants/lost_watch.hpp"
#include "mutants/missing_is_lost.hpp"
#include "mutants/no_search.hpp"
#include "mutants/no_sync.hpp"
#include "mutants/no_token.hpp"
#include "mutants/not_paused.hpp"
#include "mutants/old_size.hpp"
#include "mutants/own_node_unwatched.hpp"
#include "mutants/paused_is_small.hpp"
#include "mutants/queues_at_any_gate.hpp"
#include "mutants/rank_below_k.hpp"
#include "mutants/slots_unwatched.hpp"
#include "mutants/waits_for_gone.hpp"
#include "mutants/waits_on.hpp"

namespace kgate::lab {
namespace {

using detail::cluster::recipe;
using act = cluster_act;

/// The shipped text holds under the same script, so it is the mistake that is found.
template <template <class> class Mutant>
void caught_by(const cluster_scripts& what, const char* by) {
  const script_verdict shipped = explore_clients<recipe>(what);
  EXPECT_TRUE(shipped.holds) << shipped.text;
  const script_verdict seen = explore_clients<Mutant>(what);
  EXPECT_TRUE(seen.violated) << seen.text;
  EXPECT_NE(seen.text.find(by), std::string::npos) << seen.text;
}

/// With a listener for each session, and with one for each request.
template <template <class> class Mutant>
void caught(cluster_scripts what, const char* by) {
  caught_by<Mutant>(what, by);
  what.own_listeners = true;
  caught_by<Mutant>(what, by);
}

constexpr const char* left_behind = "has left a node behind";
constexpr const char* passed = "a waiter was passed";
constexpr const char* stuck = "deadlock-free violated";

TEST(cluster_mutants, the_second_takes_slots_as_well) {
  caught<detail::cluster::rank_below_k::recipe>({.clients = 3, .k = 2, .acts = 1}, passed);
}
TEST(cluster_mutants, sequence_numbers_compared_as_numbers) {
  caught<detail::cluster::absolute_order::recipe>({.clients = 3, .k = 1, .acts = 1}, passed);
}
TEST(cluster_mutants, a_slot_freed_blindly_after_a_lost_answer) {
  caught<detail::cluster::frees_blindly::recipe>({.clients = 2, .k = 1, .acts = 1, .losses = 1}, "slot is not its own");
}
TEST(cluster_mutants, a_lost_answer_to_the_release) {
  caught<detail::cluster::frees_once::recipe>({.clients = 2, .k = 1, .acts = 1, .losses = 1}, left_behind);
}
TEST(cluster_mutants, no_search_after_a_lost_creation) {
  caught<detail::cluster::no_search::recipe>({.clients = 2, .k = 1, .acts = 1, .losses = 1}, left_behind);
}
TEST(cluster_mutants, a_missing_node_taken_for_an_end) {
  caught<detail::cluster::missing_is_lost::recipe>({.clients = 2, .k = 1, .acts = 1, .losses = 1}, left_behind);
}
TEST(cluster_mutants, a_grant_found_without_its_token) {
  caught<detail::cluster::no_token::recipe>({.clients = 2, .k = 1, .acts = 1, .losses = 1}, "token");
}
TEST(cluster_mutants, everybody_watches_the_head) {
  caught<detail::cluster::all_watch_head::recipe>({.clients = 3, .k = 1, .acts = 2}, "woke several");
}
TEST(cluster_mutants, a_read_without_sync) {
  caught<detail::cluster::no_sync::recipe>({.clients = 2, .k = 1, .acts = 1, .losses = 1}, left_behind);
}
TEST(cluster_mutants, the_one_behind_taken_for_the_head) {
  caught<detail::cluster::head_by_event::recipe>({.clients = 3, .k = 1, .acts = 1, .expiries = 1}, passed);
}
TEST(cluster_mutants, a_grant_under_any_size) {
  caught<detail::cluster::any_version::recipe>(
      {.clients = 2, .k = 1, .acts = 2, .among = {act::enter, act::enlarge, act::shrink}}, "not below k");
}
TEST(cluster_mutants, slots_above_a_smaller_size_not_counted) {
  caught<detail::cluster::counts_below_k::recipe>({.clients = 2, .k = 2, .acts = 3, .among = {act::enter, act::shrink}},
                                                  "more than k");
}
TEST(cluster_mutants, a_head_that_does_not_see_the_gate_grow) {
  caught<detail::cluster::old_size::recipe>(
      {.clients = 3, .k = 1, .acts = 1, .among = {act::stay_inside, act::enlarge}}, "violated");
}
TEST(cluster_mutants, giving_up_tried_once) {
  caught<detail::cluster::gives_up_once::recipe>(
      {.clients = 2, .k = 1, .acts = 1, .losses = 1, .among = {act::enter, act::give_up}}, left_behind);
}
TEST(cluster_mutants, a_head_heavier_than_the_gate) {
  caught<detail::cluster::heavy_head::recipe>({.clients = 2, .k = 1, .acts = 1, .among = {act::enter, act::enter_two}},
                                              stuck);
}
TEST(cluster_mutants, waiting_for_one_that_has_gone) {
  caught<detail::cluster::waits_for_gone::recipe>({.clients = 2, .k = 1, .acts = 1}, stuck);
}
TEST(cluster_mutants, a_lost_answer_taken_for_a_watch) {
  caught<detail::cluster::lost_watch::recipe>({.clients = 2, .k = 1, .acts = 1, .losses = 1}, stuck);
}

TEST(cluster_mutants, a_dismissed_waiter_that_nobody_tells) {
  caught<detail::cluster::own_node_unwatched::recipe>(
      {.clients = 3, .k = 1, .acts = 1, .among = {act::stay, act::enter, act::dismiss}}, "violated");
}
TEST(cluster_mutants, a_gate_that_is_not_paused_for_the_head) {
  caught<detail::cluster::not_paused::recipe>({.clients = 2, .k = 1, .acts = 2, .among = {act::enter, act::pause}},
                                              "while the gate was paused");
}
TEST(cluster_mutants, a_paused_gate_that_turns_away) {
  caught<detail::cluster::paused_is_small::recipe>({.clients = 2, .k = 1, .acts = 1, .among = {act::enter, act::pause}},
                                                   "refused");
}
TEST(cluster_mutants, slots_that_the_head_waits_for_not_watched) {
  caught<detail::cluster::slots_unwatched::recipe>({.clients = 2, .k = 1, .acts = 1, .among = {act::enter}},
                                                   "violated");
}

// It takes a watch of an earlier request: a session has one listener then.
TEST(cluster_mutants, the_grant_of_one_far_ahead) {
  caught_by<detail::cluster::any_grant::recipe>(
      {.clients = 3, .k = 2, .fixed = {{act::enter}, {act::enter}, {act::give_up, act::enter}}}, passed);
}
TEST(cluster_mutants, a_waiter_that_never_watches_its_own_node) {
  caught<detail::cluster::waits_on::recipe>(
      {.clients = 3, .k = 1, .acts = 1, .among = {act::stay, act::enter, act::dismiss}}, "violated");
}

// A gate that was removed, and another one of its name.
TEST(cluster_mutants, a_slot_freed_at_a_gate_that_was_made_since) {
  caught<detail::cluster::frees_at_any_gate::recipe>(
      {.clients = 2, .k = 1, .fixed = {{act::enter}, {act::remove, act::make, act::enter}}}, "slot is not its own");
}
TEST(cluster_mutants, a_waiter_in_the_queue_of_a_gate_that_was_made_since) {
  caught<detail::cluster::queues_at_any_gate::recipe>(
      {.clients = 2, .k = 1, .fixed = {{act::enter}, {act::remove, act::make}}}, left_behind);
}

TEST(cluster_mutants, a_guess_of_a_slot_that_the_gate_does_not_have) {
  caught<detail::cluster::guesses_beyond::recipe>({.clients = 2, .k = 1, .acts = 1, .remembers = true}, "not below k");
}
TEST(cluster_mutants, a_guess_while_slots_are_held_that_the_gate_has_no_more) {
  caught<detail::cluster::guesses_uncounted::recipe>(
      {.clients = 3,
       .k = 3,
       .fixed = {{act::enter}, {act::reduce, act::enter, act::enter}, {act::enter}},
       .remembers = true},
      "more than k");
}
TEST(cluster_mutants, a_guess_under_a_size_that_has_changed) {
  caught<detail::cluster::guesses_any_version::recipe>(
      {.clients = 2, .k = 2, .acts = 2, .among = {act::enter, act::shrink}, .remembers = true}, "k");
}
TEST(cluster_mutants, a_wrong_guess_taken_for_a_watch) {
  caught<detail::cluster::guesses_and_waits::recipe>({.clients = 2, .k = 1, .acts = 1, .remembers = true}, "violated");
}
TEST(cluster_mutants, a_wrong_guess_taken_for_a_grant) {
  caught<detail::cluster::guesses_right::recipe>({.clients = 2, .k = 1, .acts = 1, .remembers = true},
                                                 "inside without a slot");
}
TEST(cluster_mutants, a_guess_whose_answer_was_lost) {
  caught<detail::cluster::guesses_again::recipe>({.clients = 2, .k = 1, .acts = 1, .losses = 1, .remembers = true},
                                                 left_behind);
}

}  // namespace
}  // namespace kgate::lab
