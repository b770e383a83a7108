// SPDX-License-Identifier: Apache-2.0
/// As scripts_test.cpp, at sizes that take minutes.
#include "cluster/lab/holds.hpp"

namespace kgate::lab {
namespace {

using act = cluster_act;
const std::vector<act> all{act::enter,   act::enter_two, act::give_up, act::stay,
                           act::enlarge, act::shrink,    act::dismiss, act::remove};

/// Three clients, two passages each; each request has a listener of its own.
cluster_scripts three(int k, cluster_scripts faults) {
  faults.clients = 3;
  faults.k = k;
  faults.acts = 2;
  faults.own_listeners = true;
  return faults;
}

TEST(cluster_scripts_deep, n3_k1_two_passages_with_a_listener_for_each_session) {
  holds({.clients = 3, .k = 1, .acts = 2, .deaths = 1});
}
TEST(cluster_scripts_deep, n3_k1_two_passages_an_expiry_each_and_a_death) {
  holds(three(1, {.expiries = 1, .deaths = 1}), 1'025'342);
}
TEST(cluster_scripts_deep, n3_k2_two_passages_an_expiry_each_and_a_death) {
  holds(three(2, {.expiries = 1, .deaths = 1}));
}
TEST(cluster_scripts_deep, n3_k1_two_passages_a_loss_each) { holds(three(1, {.losses = 1}), 1'955'560); }
TEST(cluster_scripts_deep, n3_k2_two_passages_a_loss_each) { holds(three(2, {.losses = 1})); }
TEST(cluster_scripts_deep, n3_k1_two_passages_both_faults_of_one_and_a_death) {
  holds(three(1, {.losses = 1, .expiries = 1, .deaths = 1, .faulty = 1}), 622'375);
}
TEST(cluster_scripts_deep, n3_k1_two_passages_both_faults_of_two) {
  holds(three(1, {.losses = 1, .expiries = 1, .faulty = 2}), 3'448'993);
}
/// Some five minutes each.
TEST(cluster_scripts_deep, n3_k1_two_passages_both_faults_of_all_and_a_death) {
  holds(three(1, {.losses = 1, .expiries = 1, .deaths = 1}), 29'077'990);
}
TEST(cluster_scripts_deep, n3_k2_two_passages_both_faults_of_all_and_a_death) {
  holds(three(2, {.losses = 1, .expiries = 1, .deaths = 1}), 40'304'752);
}
TEST(cluster_scripts_deep, n3_k2_guesses_a_loss_each) { holds(three(2, {.losses = 1, .remembers = true})); }
TEST(cluster_scripts_deep, n3_k2_guesses_an_expiry_each_and_a_death) {
  holds(three(2, {.expiries = 1, .deaths = 1, .remembers = true}));
}
TEST(cluster_scripts_deep, n2_two_of_any_kind_a_loss_each) {
  holds({.clients = 2, .k = 1, .acts = 2, .losses = 1, .among = all});
}
TEST(cluster_scripts_deep, n3_one_of_any_kind_and_a_death) {
  holds({.clients = 3, .k = 1, .acts = 1, .deaths = 1, .among = all});
}

}  // namespace
}  // namespace kgate::lab
