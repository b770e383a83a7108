// SPDX-License-Identifier: Apache-2.0
/// kgate::host_lease and kgate::leased_gate on a real server. A host is a directory here: what tells hosts apart is
/// where their local gates are.
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "cluster/throwaway_ensemble.hpp"
#include "kgate/gate.hpp"
#include "kgate/lease.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;

class cluster_leases : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (tests::throwaway_ensemble::can_start()) servers = std::make_unique<tests::throwaway_ensemble>(1);
  }
  static void TearDownTestSuite() { servers.reset(); }
  void SetUp() override {
    if (servers == nullptr) GTEST_SKIP() << "no ZooKeeper server is installed (section [ensemble] of packages.txt)";
    name = testing::UnitTest::GetInstance()->current_test_info()->name();
    address = servers->address() + "?session=2s";
    for (auto& one : host) {
      char pattern[] = "/tmp/kgate-host-XXXXXX";
      one = mkdtemp(pattern);
    }
  }
  void TearDown() override {
    for (auto& one : host) std::filesystem::remove_all(one);
  }
  lease_options on(int number) const {
    lease_options out;
    out.directory = host[static_cast<std::size_t>(number)];
    out.turn = 20ms;
    out.idle = 200ms;
    return out;
  }
  static void await(const std::function<bool()>& condition) {
    for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(10ms);
    EXPECT_TRUE(condition());
  }
  template <class Call>
  static gate_errc code_of(Call&& call) {
    try {
      call();
    } catch (const gate_error& error) {
      return error.code();
    }
    return gate_errc::none;
  }

  /// A lease that is served until it goes out of scope.
  class served {
   public:
    served(const cluster_leases& of, int number, int slots)
        : lease(of.address, of.name, slots, of.on(number)),
          thread([this](const std::stop_token& stop) { lease.serve(stop); }) {}
    host_lease lease;
    std::jthread thread;
  };

  static inline std::unique_ptr<tests::throwaway_ensemble> servers;
  std::string name, address;
  std::array<std::string, 2> host;
};

TEST_F(cluster_leases, slots_are_lent_and_come_back_when_idle) {
  served a(*this, 0, 2);
  leased_gate gate(address, name, on(0));
  EXPECT_EQ(gate.slots(), 2);
  cluster_gate all(address, name);
  {
    auto first = gate.enter(), second = gate.enter();
    EXPECT_NE(first.slot(), second.slot());
    EXPECT_GT(first.token(), 0U);
    EXPECT_FALSE(first.lost());
    EXPECT_GT(first.time_left(), 0ns);
    EXPECT_FALSE(gate.try_enter());
    EXPECT_FALSE(gate.try_enter_for(30ms));
    EXPECT_EQ(all.status().free, 0);
    EXPECT_TRUE(first.release());
  }
  await([&] { return all.status().free == 2; });
  auto again = gate.enter();
  EXPECT_EQ(all.status().free, 1);
}

TEST_F(cluster_leases, hosts_and_clients_without_a_lease_share_the_slots) {
  constexpr int k = 3;
  served a(*this, 0, k), b(*this, 1, 0);
  std::array<std::atomic<int>, k> inside{};
  std::array<std::atomic<std::uint64_t>, k> fence{};
  std::atomic<int> wrong = 0, passages = 0;
  const auto visit = [&](int slot, std::uint64_t token) {
    if (inside[static_cast<std::size_t>(slot)].fetch_add(1) != 0) ++wrong;
    if (fence[static_cast<std::size_t>(slot)].exchange(token) > token) ++wrong;
    std::this_thread::sleep_for(50us);
    --inside[static_cast<std::size_t>(slot)];
    ++passages;
  };
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < 8; ++i)
      all.emplace_back([&, i] {
        leased_gate gate(address, name, on(i % 2));
        for (int n = 0; n < 200; ++n) {
          const auto permit = gate.enter();
          visit(permit.slot(), permit.token());
          EXPECT_FALSE(permit.lost());
        }
      });
    all.emplace_back([&] {
      cluster_gate gate(address, name);
      for (int n = 0; n < 20; ++n) {
        const auto permit = gate.enter();
        visit(permit.slot(), permit.token());
      }
    });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(passages, 8 * 200 + 20);
}

TEST_F(cluster_leases, a_lost_session_loses_what_was_lent) {
  served a(*this, 0, 1);
  leased_gate gate(address, name, on(0));
  auto permit = gate.enter();
  kill(servers->server(1), SIGSTOP);
  await([&] { return permit.lost(); });
  kill(servers->server(1), SIGCONT);
  EXPECT_FALSE(permit.release());
  auto next = gate.try_enter_for(20s);
  ASSERT_TRUE(next);
  EXPECT_FALSE(next->lost());
}

TEST_F(cluster_leases, a_gate_that_shrinks_takes_slots_back) {
  served a(*this, 0, 3);
  leased_gate gate(address, name, on(0));
  cluster_gate all(address, name);
  std::vector<leased_gate::permit> held;
  for (int i = 0; i < 3; ++i) held.push_back(gate.enter());
  all.resize(1);
  held.clear();
  await([&] { return all.status().free >= 0; });  // below 0 until the lease has seen it
  auto one = gate.enter();
  EXPECT_EQ(one.slot(), 0);
  EXPECT_FALSE(gate.try_enter_for(100ms));
  all.resize(2);
  auto two = gate.try_enter_for(10s);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->slot(), 1);
}

TEST_F(cluster_leases, what_cannot_be) {
  EXPECT_EQ(code_of([&] { leased_gate(address, name, on(0)); }), gate_errc::not_found);
  std::optional<leased_gate> gate;
  {
    served a(*this, 0, 1);
    EXPECT_EQ(code_of([&] { host_lease(address, name, 1, on(0)); }), gate_errc::in_use);
    gate.emplace(address, name, on(0));
    { const auto permit = gate->enter(); }
  }
  EXPECT_THROW((void)gate->enter(), session_lost);
  EXPECT_EQ(code_of([&] { leased_gate(address, name, on(0)); }), gate_errc::not_found);
  EXPECT_EQ(code_of([&] { host_lease(address, "no such name", 1, on(0)); }), gate_errc::bad_name);
  EXPECT_EQ(code_of([&] { host_lease(address, name, 7, on(0)); }), gate_errc::wrong_slots);
  cluster_gate all(address, name);
  EXPECT_EQ(all.status().free, 1);  // nothing is left behind
}

TEST_F(cluster_leases, a_lease_after_one_that_has_ended) {
  std::optional<leased_gate> gate;
  {
    served a(*this, 0, 1);
    gate.emplace(address, name, on(0));
    { const auto permit = gate->enter(); }
  }
  EXPECT_TRUE(std::filesystem::is_empty(host[0]));
  EXPECT_THROW((void)gate->enter(), session_lost);
  served b(*this, 0, 1);
  EXPECT_FALSE(gate->enter().lost());
}

TEST_F(cluster_leases, a_local_gate_that_others_resize) {
  served a(*this, 0, 2);
  gate local(a.lease.local_gate(), 0, {.directory = host[0]});
  std::atomic<int> inside = 0, wrong = 0, passages = 0;
  std::vector<std::jthread> all;
  for (int i = 0; i < 6; ++i)
    all.emplace_back([&](const std::stop_token& stop) {
      leased_gate leased(address, name, on(0));
      while (!stop.stop_requested()) {
        const auto permit = leased.enter();
        if (++inside > 2 || permit.slot() > 1) ++wrong;
        std::this_thread::sleep_for(1ms);
        --inside;
        ++passages;
      }
    });
  for (const int slots : {5, 1, 9, 3, 1, 64}) {
    local.resize(slots);
    std::this_thread::sleep_for(50ms);
    await([&, before = passages.load()] { return passages > before + 100; });
  }
  all.clear();
  EXPECT_EQ(wrong, 0);
  await([&] { return local.slots() == 2; });
}

TEST_F(cluster_leases, a_local_gate_that_others_replace) {
  std::optional<host_lease> lease;
  lease.emplace(address, name, 1, on(0));
  std::atomic<gate_errc> ended = gate_errc::none;
  std::jthread serving([&](const std::stop_token& stop) { ended = code_of([&] { lease->serve(stop); }); });
  leased_gate before(address, name, on(0));
  cluster_gate all(address, name);
  auto permit = before.enter();
  const std::string mine = lease->local_gate();
  gate(mine, 0, {.directory = host[0]}).remove(true);
  gate other(mine, 4, {.directory = host[0]});
  // None gets in beside the one inside, by whichever object.
  EXPECT_THROW((void)before.try_enter_for(10s), session_lost);
  EXPECT_EQ(code_of([&] { leased_gate(address, name, on(0)); }), gate_errc::not_found);
  await([&] { return ended == gate_errc::removed; });
  EXPECT_TRUE(permit.lost());
  // The slot goes back when that one has left.
  std::jthread ending([&] { lease.reset(); });
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(all.status().free, 0);
  EXPECT_FALSE(permit.release());
  await([&] { return all.status().free == 1; });
  ending.join();
  EXPECT_TRUE(other.status().holders.empty());  // it is not this lease's, and stays
  EXPECT_EQ(other.slots(), 4);
}

TEST_F(cluster_leases, one_that_stays_inside_keeps_the_session) {
  std::optional<host_lease> lease;
  lease.emplace(address, name, 1, on(0));
  std::jthread serving([&](const std::stop_token& stop) { (void)code_of([&] { lease->serve(stop); }); });
  leased_gate gate(address, name, on(0));
  const auto permit = gate.enter();
  std::filesystem::remove(host[0] + "/" + lease->local_gate() + ".gate");
  serving.join();
  const auto began = std::chrono::steady_clock::now();
  lease.reset();
  const auto waited = std::chrono::steady_clock::now() - began;
  EXPECT_GT(waited, 1500ms);
  EXPECT_LT(waited, 10s);
  EXPECT_TRUE(permit.lost());
}

TEST_F(cluster_leases, a_gate_that_shrinks_to_what_a_host_has) {
  served a(*this, 0, 3);
  std::vector<std::jthread> jobs;
  for (int i = 0; i < 4; ++i)
    jobs.emplace_back([&](const std::stop_token& stop) {
      leased_gate gate(address, name, on(0));
      while (!stop.stop_requested()) {
        const auto permit = gate.enter();
        std::this_thread::sleep_for(1ms);
      }
    });
  cluster_gate all(address, name);
  await([&] { return all.status().free == 0; });
  all.resize(1);
  std::this_thread::sleep_for(200ms);
  EXPECT_TRUE(all.try_enter_for(10s));
}

TEST_F(cluster_leases, a_removed_gate_ends_the_lease) {
  host_lease lease(address, name, 1, on(0));
  std::jthread serving([&](const std::stop_token& stop) { lease.serve(stop); });
  leased_gate gate(address, name, on(0));
  { const auto permit = gate.enter(); }
  cluster_gate(address, name).remove(true);
  await([&] { return !lease.gate_exists(); });
  EXPECT_THROW((void)gate.enter(), session_lost);
}

}  // namespace
}  // namespace kgate
