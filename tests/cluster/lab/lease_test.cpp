// SPDX-License-Identifier: Apache-2.0
/// Hosts that lease slots, with jobs, over all schedules, with lost answers, expired sessions and deaths at every step:
/// one that is inside has a slot of its own as long as its lease is valid, jobs cannot keep their lessor out, nothing
/// is left behind, every job is served. And mistakes, each with a script that finds it.
#include <cstdio>

#include "cluster/lab/lease_scripts.hpp"
#include "mutants/always_queues.hpp"
#include "mutants/any_epoch.hpp"
#include "mutants/any_time.hpp"
#include "mutants/early_end.hpp"
#include "mutants/forgotten_slots.hpp"
#include "mutants/takes_out_of_order.hpp"
// what the next one is made of comes before it
#include "mutants/grants_twice.hpp"
#include "mutants/keeps_slots.hpp"
#include "mutants/lost_kept_slots.hpp"
#include "mutants/lost_reading.hpp"
#include "mutants/never_removed.hpp"
#include "mutants/no_withdrawal.hpp"
#include "mutants/old_reading.hpp"
#include "mutants/waits_for_ever.hpp"

namespace kgate::lab {
namespace {

using detail::cluster::leased_passage;
using detail::cluster::lessor;

void holds(const lease_scripts& what) {
  const script_verdict seen = explore_hosts<lessor, leased_passage>(what);
  EXPECT_TRUE(seen.holds) << seen.text;
  testing::Test::RecordProperty("states", std::to_string(seen.states));
  std::printf("%llu states\n", static_cast<unsigned long long>(seen.states));
}

TEST(cluster_leases, two_hosts) { holds({.hosts = 2, .jobs = 1, .k = 1, .passages = 2}); }
TEST(cluster_leases, a_host_and_a_client_without_a_lease) {
  holds({.hosts = 1, .jobs = 1, .direct = 1, .k = 1, .passages = 2});
}
TEST(cluster_leases, a_host_with_two_slots) { holds({.hosts = 1, .jobs = 2, .k = 2, .passages = 1}); }
TEST(cluster_leases, a_host_whose_jobs_go_on_while_others_wait) {
  holds({.hosts = 1, .jobs = 1, .direct = 1, .k = 1, .passages = 1, .idles = false, .insists = true});
}
TEST(cluster_leases, a_loss) { holds({.hosts = 1, .jobs = 1, .direct = 1, .k = 1, .passages = 1, .losses = 1}); }
TEST(cluster_leases, two_jobs_and_an_expiry) { holds({.hosts = 1, .jobs = 2, .k = 1, .passages = 1, .expiries = 1}); }
TEST(cluster_leases, a_death) { holds({.hosts = 1, .jobs = 1, .direct = 1, .k = 1, .passages = 1, .deaths = 1}); }
TEST(cluster_leases, a_lessor_that_dies_and_another_one) {
  holds({.hosts = 1, .jobs = 2, .k = 1, .passages = 1, .deaths = 1, .successor = true});
}
TEST(cluster_leases, a_gate_that_grows) {
  holds({.hosts = 1, .jobs = 1, .direct = 1, .resize = 2, .k = 1, .passages = 1});
}
TEST(cluster_leases, a_gate_that_shrinks) {
  holds({.hosts = 1, .jobs = 1, .direct = 1, .resize = 1, .k = 2, .passages = 1});
}
constexpr lease_scripts shrinking{
    .hosts = 1, .jobs = 1, .direct = 1, .k = 2, .passages = 1, .idles = false, .insists = true, .shrinks = true};
TEST(cluster_leases, a_gate_that_shrinks_to_what_a_host_has) { holds(shrinking); }
TEST(cluster_leases, a_local_gate_that_somebody_resizes) {
  holds({.hosts = 1, .jobs = 2, .direct = 1, .resize = -3, .k = 1, .passages = 1});
}
TEST(cluster_leases, a_local_gate_that_somebody_resizes_and_an_expiry) {
  holds({.hosts = 1, .jobs = 2, .direct = 1, .resize = -3, .k = 1, .passages = 1, .expiries = 1});
}

TEST(cluster_leases, one_host_and_a_gate_that_is_drained) {
  holds({.hosts = 1, .jobs = 1, .direct = 1, .resize = -2, .k = 1, .passages = 1});
}

TEST(cluster_leases, a_gate_that_is_removed) {
  holds({.hosts = 1, .jobs = 2, .direct = 1, .resize = -1, .k = 1, .passages = 1});
}

TEST(cluster_leases, a_gate_that_is_removed_and_made_again) {
  for (const int losses : {0, 1})
    holds({.hosts = 1, .jobs = 1, .direct = 1, .k = 1, .passages = 1, .losses = losses, .remakes = true});
}

/// What the explorations look for: that while a request of one host waits, another one is granted at most one.
TEST(cluster_leases, a_second_grant_while_another_host_waits_is_seen) {
  for (const bool waits : {false, true}) {
    ensemble e{.k = 3, .counts_grants = 1};
    for (const unsigned session : {0, 0, 1})
      if (session == 0 || waits) e.commit(session, {.kind = write_request::enqueue});
    for (std::uint8_t slot = 0; slot < 2; ++slot)
      e.commit(0, {.kind = write_request::grant, .sequence = e.queue[0].sequence, .slots = e.bit(slot)});
    EXPECT_EQ(static_cast<broken>(e.fault), waits ? broken::twice : broken::nothing);
  }
}

constexpr lease_scripts a_death{.hosts = 1, .jobs = 2, .k = 1, .passages = 2, .deaths = 1, .idles = false};
constexpr lease_scripts an_expiry{.hosts = 1, .jobs = 2, .k = 1, .passages = 1, .expiries = 1};
constexpr lease_scripts insisting{.hosts = 1, .jobs = 1, .direct = 1, .k = 1, .idles = false, .insists = true};

/// The shipped text holds under the same script, so it is the mistake that is found.
template <template <class> class Lessor, template <class> class Passage>
void caught(const lease_scripts& what, const char* by) {
  const script_verdict shipped = explore_hosts<lessor, leased_passage>(what);
  EXPECT_TRUE(shipped.holds) << shipped.text;
  const script_verdict seen = explore_hosts<Lessor, Passage>(what);
  EXPECT_TRUE(seen.violated) << seen.text;
  EXPECT_NE(seen.text.find(by), std::string::npos) << seen.text;
}

namespace wrong = detail::cluster;

TEST(cluster_lease_mutants, what_was_lent_is_still_on_the_list) {
  caught<wrong::no_withdrawal::lessor, leased_passage>(
      {.hosts = 1, .jobs = 2, .direct = 1, .k = 1, .passages = 1, .deaths = 1}, "not its host's");
}
TEST(cluster_lease_mutants, slots_of_a_lost_lease_taken_for_kept_ones) {
  caught<wrong::lost_kept_slots::lessor, leased_passage>(an_expiry, "a local slot was used");
}
TEST(cluster_lease_mutants, an_entry_of_an_earlier_epoch) {
  caught<lessor, wrong::any_epoch::leased_passage>(an_expiry, "violated");
}
TEST(cluster_lease_mutants, an_entry_whose_time_is_over) {
  caught<lessor, wrong::any_time::leased_passage>(an_expiry, "the time was over");
}
TEST(cluster_lease_mutants, slots_kept_though_others_wait) {
  caught<wrong::keeps_slots::lessor, leased_passage>(insisting, "starvation-free violated");
}
TEST(cluster_lease_mutants, two_grants_while_another_host_waits) {
  caught<wrong::grants_twice::lessor, leased_passage>({.hosts = 2, .jobs = 1, .k = 1, .passages = 2, .any_order = true},
                                                      "granted slots twice while another one waited");
}
TEST(cluster_lease_mutants, a_gate_that_was_made_since_taken_for_the_former) {
  caught<wrong::never_removed::lessor, leased_passage>(
      {.hosts = 1, .jobs = 1, .direct = 1, .k = 1, .passages = 1, .remakes = true}, "violated");
}
TEST(cluster_lease_mutants, a_reading_that_is_out_of_date) {
  caught<wrong::old_reading::lessor, leased_passage>(insisting, "violated");
}
TEST(cluster_lease_mutants, a_host_that_queues_though_it_has_all) {
  lease_scripts what = shrinking;
  what.jobs = 2;
  caught<wrong::always_queues::lessor, leased_passage>(what, "starvation-free violated");
}
TEST(cluster_lease_mutants, local_slots_forgotten_after_a_loss) {
  caught<wrong::forgotten_slots::lessor, leased_passage>(an_expiry, "violated");
}
TEST(cluster_lease_mutants, a_lost_answer_taken_for_nobody_waiting) {
  caught<wrong::lost_reading::lessor, leased_passage>(
      {.hosts = 1, .jobs = 1, .direct = 1, .k = 1, .losses = 1, .idles = false, .insists = true}, "violated");
}
TEST(cluster_lease_mutants, waiting_for_a_lessor_that_has_ended) {
  caught<lessor, wrong::waits_for_ever::leased_passage>(a_death, "violated");
}
TEST(cluster_lease_mutants, a_lessor_that_ends_early) {
  caught<wrong::early_end::lessor, leased_passage>({.hosts = 1, .jobs = 1, .k = 1}, "left a node behind");
}

}  // namespace
}  // namespace kgate::lab
