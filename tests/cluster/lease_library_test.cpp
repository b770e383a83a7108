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
