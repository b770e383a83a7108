// SPDX-License-Identifier: Apache-2.0
/// Clients of a gate on a simulated ensemble, over all schedules, with lost answers, expired sessions and deaths at
/// every step: at most k slots held, each by the client that believes so and with its token, none passed, no node left
/// behind, every client served.
#include "cluster/lab/holds.hpp"

namespace kgate::lab {
namespace {

using act = cluster_act;

TEST(cluster_scripts, n2_k1_two_passages_a_loss_and_an_expiry_each_and_a_death) {
  holds({.clients = 2, .k = 1, .acts = 2, .losses = 1, .expiries = 1, .deaths = 1});
}
TEST(cluster_scripts, n2_k2_two_passages_a_loss_and_an_expiry_each_and_a_death) {
  holds({.clients = 2, .k = 2, .acts = 2, .losses = 1, .expiries = 1, .deaths = 1});
}
TEST(cluster_scripts, n2_weights_and_resizes_and_giving_up) {
  holds({.clients = 2,
         .k = 1,
         .acts = 2,
         .among = {act::enter, act::enter_two, act::give_up, act::enlarge, act::shrink}});
}
TEST(cluster_scripts, n2_weights_and_resizes_and_giving_up_with_a_loss_and_an_expiry_each) {
  holds({.clients = 2,
         .k = 1,
         .acts = 1,
         .losses = 1,
         .expiries = 1,
         .deaths = 1,
         .among = {act::enter, act::enter_two, act::give_up, act::enlarge, act::shrink}});
}
TEST(cluster_scripts, n2_waiters_dismissed_and_the_gate_removed_with_a_loss_each) {
  holds({.clients = 2, .k = 1, .acts = 2, .losses = 1, .among = {act::enter, act::dismiss, act::remove}});
}
TEST(cluster_scripts, n3_waiters_dismissed) {
  holds({.clients = 3, .k = 1, .acts = 1, .among = {act::enter, act::stay, act::dismiss}});
}
TEST(cluster_scripts, n3_a_free_slot_is_given_away) {
  holds({.clients = 3, .k = 1, .acts = 1, .among = {act::stay_inside, act::enlarge}});
}
TEST(cluster_scripts, n2_pauses_and_weights) {
  holds({.clients = 2, .k = 2, .acts = 2, .among = {act::enter, act::enter_two, act::give_up, act::pause}});
}
TEST(cluster_scripts, n2_pauses_with_a_loss_each) {
  holds({.clients = 2, .k = 1, .acts = 2, .losses = 1, .among = {act::enter, act::pause}});
}
TEST(cluster_scripts, n3_a_pause_while_others_wait) {
  holds({.clients = 3, .k = 1, .acts = 1, .among = {act::enter, act::pause}});
}
TEST(cluster_scripts, n3_k1_two_passages) {
  holds({.clients = 3, .k = 1, .acts = 2, .deaths = 1, .own_listeners = true}, 84'936);
}
TEST(cluster_scripts, n3_k2_two_passages) {
  holds({.clients = 3, .k = 2, .acts = 2, .deaths = 1, .own_listeners = true}, 84'924);
}
TEST(cluster_scripts, n3_k1_one_passage_a_loss_and_an_expiry_each_and_a_death) {
  holds({.clients = 3, .k = 1, .acts = 1, .losses = 1, .expiries = 1, .deaths = 1});
}
TEST(cluster_scripts, n3_k2_one_passage_a_loss_and_an_expiry_each_and_a_death) {
  holds({.clients = 3, .k = 2, .acts = 1, .losses = 1, .expiries = 1, .deaths = 1, .own_listeners = true});
}
/// One that was inside a gate that was removed, or waited there, does nothing to the one that is made in its stead.
TEST(cluster_scripts, n2_the_gate_removed_and_made_again_with_a_loss_and_an_expiry_each_and_a_death) {
  for (const int k : {1, 2})
    holds({.clients = 2,
           .k = k,
           .losses = 1,
           .expiries = 1,
           .deaths = 1,
           .fixed = {{act::enter, act::enter}, {act::remove, act::make, act::enter}},
           .own_listeners = true});
}
TEST(cluster_scripts, n3_the_gate_removed_and_made_again) {
  for (const int k : {1, 2})
    holds({.clients = 3,
           .k = k,
           .fixed = {{act::enter, act::enter}, {act::remove, act::make, act::enter}, {act::enter, act::enter}},
           .own_listeners = true});
}
TEST(cluster_scripts, n2_any_of_entering_removing_and_making_with_a_loss_each) {
  holds({.clients = 2,
         .k = 1,
         .acts = 3,
         .losses = 1,
         .among = {act::enter, act::remove, act::make},
         .own_listeners = true});
}
TEST(cluster_scripts, n2_guesses_at_a_gate_removed_and_made_again) {
  holds({.clients = 2,
         .k = 2,
         .losses = 1,
         .fixed = {{act::enter, act::enter, act::enter}, {act::remove, act::make, act::enter, act::enter}},
         .remembers = true,
         .own_listeners = true});
}
/// Clients that know of room make guesses, right and wrong.
TEST(cluster_scripts, n2_guesses_in_two_passages_a_loss_and_an_expiry_each_and_a_death) {
  for (const int k : {1, 2})
    holds({.clients = 2,
           .k = k,
           .acts = 2,
           .losses = 1,
           .expiries = 1,
           .deaths = 1,
           .remembers = true,
           .own_listeners = true});
}
TEST(cluster_scripts, n3_guesses_in_two_passages) {
  holds({.clients = 3, .k = 2, .acts = 2, .deaths = 1, .remembers = true, .own_listeners = true});
}
TEST(cluster_scripts, n3_guesses_with_a_loss_each) {
  holds({.clients = 3, .k = 2, .acts = 1, .losses = 1, .expiries = 1, .remembers = true, .own_listeners = true});
}
TEST(cluster_scripts, n2_guesses_with_weights_and_resizes_and_pauses) {
  holds({.clients = 2,
         .k = 2,
         .acts = 2,
         .among = {act::enter, act::enter_two, act::give_up, act::enlarge, act::shrink, act::pause},
         .remembers = true,
         .own_listeners = true});
}
TEST(cluster_scripts, n2_guesses_of_waiters_dismissed_and_the_gate_removed) {
  holds({.clients = 2,
         .k = 2,
         .acts = 2,
         .losses = 1,
         .among = {act::enter, act::dismiss, act::remove},
         .remembers = true,
         .own_listeners = true});
}

/// Listeners of requests and listeners of sessions: what holds with one holds with the other.
TEST(cluster_scripts, n2_two_passages_with_a_listener_for_each_request) {
  for (const int k : {1, 2})
    holds({.clients = 2, .k = k, .acts = 2, .losses = 1, .expiries = 1, .deaths = 1, .own_listeners = true});
}

}  // namespace
}  // namespace kgate::lab
