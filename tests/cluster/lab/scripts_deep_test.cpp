// SPDX-License-Identifier: Apache-2.0
/// As scripts_test.cpp, at sizes that take minutes.
#include "cluster/lab/holds.hpp"

namespace kgate::lab {
namespace {

using act = cluster_act;
const std::vector<act> all{act::enter,   act::enter_two, act::give_up, act::stay,
                           act::enlarge, act::shrink,    act::dismiss, act::remove};

TEST(cluster_scripts_deep, n3_k2_two_passages) { holds({.clients = 3, .k = 2, .acts = 2, .deaths = 1}); }
TEST(cluster_scripts_deep, n3_k2_one_passage_a_loss_and_an_expiry_each_and_a_death) {
  holds({.clients = 3, .k = 2, .acts = 1, .losses = 1, .expiries = 1, .deaths = 1});
}
TEST(cluster_scripts_deep, n3_k1_two_passages_an_expiry_each_and_a_death) {
  holds({.clients = 3, .k = 1, .acts = 2, .expiries = 1, .deaths = 1});
}
TEST(cluster_scripts_deep, n3_k2_two_passages_an_expiry_each_and_a_death) {
  holds({.clients = 3, .k = 2, .acts = 2, .expiries = 1, .deaths = 1});
}
TEST(cluster_scripts_deep, n3_k1_two_passages_a_loss_each) { holds({.clients = 3, .k = 1, .acts = 2, .losses = 1}); }
TEST(cluster_scripts_deep, n3_k2_two_passages_a_loss_each) { holds({.clients = 3, .k = 2, .acts = 2, .losses = 1}); }
// A loss and an expiry together, be it of one client alone, with two passages of three clients and a death: 8 GB do not
// hold the table of steps, at some 500,000 states.
TEST(cluster_scripts_deep, n2_two_of_any_kind_a_loss_each) {
  holds({.clients = 2, .k = 1, .acts = 2, .losses = 1, .among = all});
}
TEST(cluster_scripts_deep, n3_one_of_any_kind_and_a_death) {
  holds({.clients = 3, .k = 1, .acts = 1, .deaths = 1, .among = all});
}

}  // namespace
}  // namespace kgate::lab
