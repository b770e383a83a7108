// SPDX-License-Identifier: Apache-2.0
/// As lease_test.cpp, at sizes that take minutes.
#include <cstdio>

#include "cluster/lab/lease_scripts.hpp"

namespace kgate::lab {
namespace {

void holds(const lease_scripts& what) {
  const script_verdict seen =
      explore_hosts<detail::cluster::lessor, detail::cluster::leased_passage>(what, std::uint64_t{5} << 30);
  EXPECT_TRUE(seen.holds) << seen.text;
  testing::Test::RecordProperty("states", std::to_string(seen.states));
  std::printf("%llu states\n", static_cast<unsigned long long>(seen.states));
}

TEST(cluster_leases_deep, two_hosts_whose_jobs_go_on_while_others_wait) {
  holds({.hosts = 2, .jobs = 1, .k = 1, .passages = 1, .idles = false, .insists = true});
}
TEST(cluster_leases_deep, two_hosts_a_loss_each) { holds({.hosts = 2, .jobs = 1, .k = 1, .passages = 1, .losses = 1}); }
TEST(cluster_leases_deep, two_hosts_an_expiry_each) {
  holds({.hosts = 2, .jobs = 1, .k = 1, .passages = 1, .expiries = 1});
}
TEST(cluster_leases_deep, two_hosts_and_a_death) { holds({.hosts = 2, .jobs = 1, .k = 1, .passages = 1, .deaths = 1}); }
TEST(cluster_leases_deep, a_lessor_that_dies_another_one_and_a_client_without_a_lease) {
  holds({.hosts = 1, .jobs = 1, .direct = 1, .k = 1, .passages = 1, .deaths = 1, .successor = true});
}

}  // namespace
}  // namespace kgate::lab
