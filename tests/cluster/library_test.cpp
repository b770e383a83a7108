// SPDX-License-Identifier: Apache-2.0
/// kgate::cluster_gate on a real server.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>

#include "cluster/gate_nodes.hpp"
#include "cluster/secret.hpp"
#include "cluster/session.hpp"
#include "cluster/throwaway_ensemble.hpp"
#include "kgate/cluster.hpp"

namespace {
std::atomic<int> peers_read{0};
}

/// Counts how often the peer of a descriptor is asked for.
extern "C" int getpeername(int fd, sockaddr* address, socklen_t* length) noexcept {
  using call = int (*)(int, sockaddr*, socklen_t*);
  static const auto real = reinterpret_cast<call>(dlsym(RTLD_NEXT, "getpeername"));
  ++peers_read;
  return real(fd, address, length);
}

namespace kgate {
namespace {

using namespace std::chrono_literals;
using detail::cluster::write;

class cluster_library : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (tests::throwaway_ensemble::can_start()) servers = std::make_unique<tests::throwaway_ensemble>(1);
  }
  static void TearDownTestSuite() { servers.reset(); }
  void SetUp() override {
    if (servers == nullptr) GTEST_SKIP() << "no ZooKeeper server is installed (section [ensemble] of packages.txt)";
    ASSERT_NE(servers->address(), "");
    name = testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  cluster_gate open(int slots = 0) const { return cluster_gate(servers->address() + "?session=2s", name, slots); }
  /// A session of its own, for what is not kgate's.
  static std::unique_ptr<detail::cluster::session> stranger(const std::string& secret = "") {
    detail::cluster::address where;
    EXPECT_FALSE(detail::cluster::parse_address(servers->address(), where));
    return std::make_unique<detail::cluster::session>(where, secret, 10s);
  }
  template <class Call>
  static gate_errc code_of(Call&& call, std::string* text = nullptr) {
    try {
      call();
    } catch (const gate_error& error) {
      if (text != nullptr) *text = error.what();
      return error.code();
    }
    return gate_errc::none;
  }
  /// The node of the gate that the waiters (q) or the holders (s) are below.
  static std::string below(detail::cluster::session& s, const std::string& gate, char which) {
    const std::string id = detail::cluster::read_gate(s, gate).id;
    return which == 'q' ? detail::cluster::queue_of(gate, id) : detail::cluster::slots_of(gate, id);
  }
  static void await(const std::function<bool()>& condition) {
    for (int i = 0; i < 500 && !condition(); ++i) std::this_thread::sleep_for(10ms);
    EXPECT_TRUE(condition());
  }

  static inline std::unique_ptr<tests::throwaway_ensemble> servers;
  std::string name;
};

/// Versions of a gate begin again when it is removed and created again: a client that still knows the former one looks
/// anew.
TEST_F(cluster_library, a_gate_that_was_removed_and_created_again_is_another_one) {
  cluster_gate former = open(4);
  former.enter().release();
  former.remove(true);
  cluster_gate now = open(2);
  const auto first = now.enter(), second = former.enter();
  EXPECT_EQ(former.status().free, 0);
  EXPECT_FALSE(former.try_enter());
  EXPECT_FALSE(former.try_enter_for(50ms));
  EXPECT_EQ(now.status().waiters.size(), 0U);
  EXPECT_EQ(now.status().holders.size(), 2U);
}

/// Slots are freed by their numbers, which the gate that came afterwards has, too.
TEST_F(cluster_library, a_holder_of_a_removed_gate_frees_no_slot_of_the_next) {
  cluster_gate former = open(2);
  auto one = former.enter(), both = former.try_enter().value();
  former.remove(true);
  cluster_gate now = open(2);
  auto first = now.enter(2);
  EXPECT_EQ(now.status().free, 0);
  static_cast<void>(one.release());
  static_cast<void>(both.release());
  EXPECT_EQ(now.status().free, 0);
  EXPECT_FALSE(now.try_enter());
  EXPECT_TRUE(first.release());
  EXPECT_EQ(now.status().free, 2);
}

/// A change of the size is written with all that the gate's node says: not into that of a gate which was made since.
TEST_F(cluster_library, a_gate_that_is_made_again_while_others_resize_it_is_whole) {
  cluster_gate first = open(2);
  cluster_gate other = open();
  std::jthread resizer([&](const std::stop_token& stop) {
    for (int k = 1; !stop.stop_requested(); k = 3 - k) code_of([&] { other.resize(k); });
  });
  for (int round = 0; round < 150; ++round) {
    ASSERT_EQ(code_of([&] { first.remove(true); }), gate_errc::none);
    first = open(2);
  }
  resizer.request_stop();
  resizer.join();
  EXPECT_TRUE(first.enter().release());
}

/// A process that opens many sessions, or has many descriptors, does not ask all of them which one leads to the
/// servers.
TEST_F(cluster_library, connections_are_closed_on_exec_without_asking_all_descriptors) {
  std::vector<int> many;
  for (int i = 0; i < 300; ++i) many.push_back(fcntl(0, F_DUPFD_CLOEXEC, 3));
  peers_read = 0;
  const auto s = stranger();
  EXPECT_LT(peers_read, 20);
  for (const int fd : many) close(fd);
  const auto another = stranger();  // its descriptor is far below the first one's
  for (int fd = 3; fd < many.back() + 20; ++fd) {
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0) {
      EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << fd;
    }
  }
}

TEST_F(cluster_library, slots_and_tokens) {
  cluster_gate gate = open(2), other = open();
  auto first = gate.enter();
  auto second = other.enter();
  EXPECT_EQ(first.slot(), 0);
  EXPECT_EQ(second.slot(), 1);
  EXPECT_GT(second.token(), first.token());
  EXPECT_FALSE(gate.try_enter());
  EXPECT_FALSE(other.try_enter_for(50ms));
  const cluster_status seen = gate.status();
  EXPECT_EQ(seen.free, 0);
  ASSERT_EQ(seen.holders.size(), 2U);
  EXPECT_EQ(seen.holders[0].process, getpid());
  EXPECT_EQ(seen.holders[0].token, first.token());
  EXPECT_TRUE(seen.waiters.empty());
  EXPECT_TRUE(first.release());
  auto third = other.try_enter();
  ASSERT_TRUE(third);
  EXPECT_EQ(third->slot(), 0);
  EXPECT_GT(third->token(), second.token());
}

TEST_F(cluster_library, first_come_first_served) {
  cluster_gate gate = open(1);
  std::optional<cluster_gate::permit> inside = gate.enter();
  std::vector<int> order;
  std::mutex mutex;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&, i] {
      cluster_gate mine = open();
      const auto permit = mine.enter();
      const std::scoped_lock lock(mutex);
      order.push_back(i);
    });
    await([&] { return gate.status().waiters.size() == static_cast<std::size_t>(i) + 1; });
  }
  const cluster_status seen = gate.status();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(seen.waiters[static_cast<std::size_t>(i)].position, i + 1);
  inside.reset();
  threads.clear();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4}));
}

TEST_F(cluster_library, many_threads_share_a_session) {
  cluster_gate gate = open(2);
  std::atomic<int> inside{0}, most{0}, passages{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i)
      threads.emplace_back([&] {
        for (int round = 0; round < 10; ++round) {
          const auto permit = gate.enter();
          most = std::max(most.load(), ++inside);
          ++passages;
          std::this_thread::sleep_for(1ms);
          --inside;
        }
      });
  }
  EXPECT_EQ(passages, 60);
  EXPECT_LE(most, 2);
  EXPECT_EQ(gate.status().free, 2);
}

TEST_F(cluster_library, weights_and_resizing) {
  cluster_gate gate = open(2);
  EXPECT_EQ(code_of([&] { cluster_gate(servers->address(), name, 5); }), gate_errc::wrong_slots);
  auto both = gate.enter(2);
  EXPECT_EQ(both.slots(), (std::vector{0, 1}));
  EXPECT_EQ(code_of([&] { const auto never = gate.enter(3); }), gate_errc::bad_slots);
  EXPECT_EQ(code_of([&] { const auto never = gate.enter(0); }), gate_errc::bad_slots);
  std::optional<cluster_gate::permit> third;
  {
    cluster_gate other = open();
    std::jthread waits([&] { third = other.enter(); });
    await([&] { return gate.status().waiters.size() == 1; });
    gate.resize(3);
    waits.join();
    EXPECT_EQ(third->slot(), 2);
    gate.resize(1);
    EXPECT_EQ(gate.status().free, 0);
    EXPECT_EQ(gate.status().over, 2);
    both.release();
    EXPECT_FALSE(gate.try_enter());
    third.reset();
    EXPECT_TRUE(gate.try_enter());
  }
  EXPECT_EQ(code_of([&] { cluster_gate(servers->address(), name, 5); }), gate_errc::none);  // a size set later stands
}

TEST_F(cluster_library, a_heavy_waiter_is_refused_when_the_gate_shrinks) {
  cluster_gate gate = open(2);
  std::optional<cluster_gate::permit> inside = gate.enter();
  gate_errc code = gate_errc::none;
  std::jthread waits([&] { code = code_of([&] { const auto never = open().enter(2); }); });
  await([&] { return gate.status().waiters.size() == 1; });
  gate.resize(1);
  waits.join();
  EXPECT_EQ(code, gate_errc::bad_slots);
}

TEST_F(cluster_library, stopping_cancelling_removing) {
  cluster_gate gate = open(1);
  auto inside = gate.enter();
  std::stop_source stop;
  bool given_up = false;
  std::jthread first([&] { given_up = !open().enter(stop.get_token()); });
  await([&] { return gate.status().waiters.size() == 1; });
  stop.request_stop();
  first.join();
  EXPECT_TRUE(given_up);
  EXPECT_TRUE(gate.status().waiters.empty());

  gate_errc code = gate_errc::none;
  std::jthread second([&] { code = code_of([&] { const auto never = open().enter(); }); });
  await([&] { return gate.status().waiters.size() == 1; });
  EXPECT_FALSE(gate.cancel("w-1-2"));
  EXPECT_TRUE(gate.cancel(gate.status().waiters.front().request));
  second.join();
  EXPECT_EQ(code, gate_errc::cancelled);

  std::jthread third([&] { code = code_of([&] { const auto never = open().enter(); }); });
  await([&] { return gate.status().waiters.size() == 1; });
  EXPECT_FALSE(gate.remove());
  EXPECT_TRUE(gate.remove(true));
  third.join();
  EXPECT_EQ(code, gate_errc::removed);
  EXPECT_EQ(code_of([&] { gate.status(); }), gate_errc::not_found);
  EXPECT_EQ(code_of([&] { open(); }), gate_errc::not_found);
}

TEST_F(cluster_library, foreign_nodes_and_other_versions) {
  const auto s = stranger();
  std::string text;
  open(1);
  const std::string gate = "/kgate/" + name, q = below(*s, gate, 'q'), held = below(*s, gate, 's');
  s->transact({{write::kind::create, q + "/mine"}});
  EXPECT_EQ(code_of([&] { const auto never = open().enter(); }, &text), gate_errc::not_a_gate);
  EXPECT_NE(text.find(q + "/mine"), std::string::npos) << text;
  s->transact({{write::kind::remove, q + "/mine"}, {write::kind::create, held + "/x"}});
  EXPECT_EQ(code_of([&] { const auto never = open().enter(); }), gate_errc::not_a_gate);
  EXPECT_EQ(s->children(q).value.size(), 0U);  // the waiter did not stay behind
  s->transact({{write::kind::remove, held + "/x"}, {write::kind::set, gate, "kgate gate 9\nslots=1\n"}});
  EXPECT_EQ(code_of([&] { open(); }, &text), gate_errc::not_a_gate);
  EXPECT_NE(text.find("another version"), std::string::npos) << text;
  s->transact({{write::kind::set, gate, "something else"}});
  EXPECT_EQ(code_of([&] { open(); }, &text), gate_errc::not_a_gate);
  EXPECT_NE(text.find("no gate of kgate"), std::string::npos) << text;
}

/// A gate that lost a node: that is said, and nothing stays behind in its queue.
TEST_F(cluster_library, a_gate_without_its_slots_is_damaged) {
  const auto s = stranger();
  cluster_gate gate = open(1);
  const std::string path = "/kgate/" + name, q = below(*s, path, 'q');
  s->transact({{write::kind::remove, below(*s, path, 's')}});
  EXPECT_EQ(code_of([&] { const auto never = gate.enter(); }), gate_errc::damaged);
  EXPECT_EQ(s->children(q).value.size(), 0U);
  EXPECT_EQ(code_of([&] { gate.resize(2); }), gate_errc::damaged);
  EXPECT_EQ(code_of([&] { gate.remove(); }), gate_errc::damaged);
  EXPECT_TRUE(gate.remove(true));
  EXPECT_EQ(code_of([&] { gate.status(); }), gate_errc::not_found);
}

/// Others change what is to be removed all the time, and the attempts are bounded.
TEST_F(cluster_library, a_busy_gate_can_be_removed) {
  cluster_gate gate = open(2);
  std::atomic<int> passages{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&](const std::stop_token& stop) {
      cluster_gate mine = open();
      code_of([&] {
        for (; !stop.stop_requested(); ++passages) mine.enter().release();
      });
    });
  await([&] { return passages > 50; });
  EXPECT_EQ(code_of([&] { EXPECT_TRUE(gate.remove(true)); }), gate_errc::none);
}

TEST_F(cluster_library, bad_addresses) {
  EXPECT_EQ(code_of([&] { cluster_gate("zk://", name, 1); }), gate_errc::bad_name);
  EXPECT_EQ(code_of([&] { cluster_gate(servers->address(), "../x", 1); }), gate_errc::bad_name);
  EXPECT_EQ(code_of([&] { cluster_gate(servers->address(), name, 4096); }), gate_errc::bad_slots);
  EXPECT_EQ(code_of([&] { cluster_gate(servers->address(), name); }), gate_errc::not_found);
  cluster_options soon;
  soon.connect_timeout = 300ms;
  EXPECT_THROW(cluster_gate("zk://127.0.0.1:1", name, 1, soon), ensemble_unreachable);
  EXPECT_THROW(cluster_gate("zk://no-such-host.invalid", name, 1, soon), ensemble_unreachable);
}

TEST_F(cluster_library, strangers_can_neither_enter_nor_remove) {
  cluster_options mine;
  mine.authentication = "me:secret";
  cluster_options other;
  other.authentication = "you:secret";
  cluster_gate gate(servers->address(), name, 1, mine);
  const auto permit = gate.enter();
  const auto s = stranger();
  const std::string path = "/kgate/" + name;
  const std::string q = below(*stranger("me:secret"), path, 'q'), held = below(*stranger("me:secret"), path, 's');
  for (const auto& options : {cluster_options{}, other})
    EXPECT_EQ(code_of([&] { cluster_gate(servers->address(), name, 1, options); }), gate_errc::no_permission);
  EXPECT_EQ(code_of([&] { s->children(q); }), gate_errc::no_permission);
  EXPECT_EQ(code_of([&] { s->create_waiter(q + "/w-1-1_", ""); }), gate_errc::no_permission);
  EXPECT_EQ(code_of([&] { s->transact({{write::kind::remove, held + "/0"}}); }), gate_errc::no_permission);
  EXPECT_EQ(code_of([&] { s->transact({{write::kind::set, path, "x"}}); }), gate_errc::no_permission);
  EXPECT_EQ(cluster_gate(servers->address(), name, 1, mine).status().holders.size(), 1U);
}

TEST_F(cluster_library, secrets_come_from_a_file_of_ones_own) {
  char path[] = "/tmp/kgate-secret-XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_EQ(::write(fd, "me:secret\n", 10), 10);
  close(fd);
  setenv("KGATE_ZK_AUTH_FILE", path, 1);
  EXPECT_EQ(detail::cluster::find_secret(""), "me:secret");
  chmod(path, 0640);
  EXPECT_EQ(code_of([] { detail::cluster::find_secret(""); }), gate_errc::no_permission);
  setenv("KGATE_ZK_AUTH", "nocolon", 1);
  EXPECT_EQ(code_of([] { detail::cluster::find_secret(""); }), gate_errc::no_permission);
  setenv("KGATE_ZK_AUTH", "a:b", 1);
  EXPECT_EQ(detail::cluster::find_secret(""), "a:b");
  unsetenv("KGATE_ZK_AUTH");
  unsetenv("KGATE_ZK_AUTH_FILE");
  unlink(path);
}

TEST_F(cluster_library, a_dead_holder_and_its_children) {
  cluster_gate gate = open(1);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    bool refused = false;
    try {
      gate.status();
    } catch (const gate_error& error) {
      refused = error.code() == gate_errc::forked;
    }
    cluster_gate mine = open();
    const auto permit = mine.enter();
    const char said = refused ? 'y' : 'n';
    if (::write(ends[1], &said, 1) != 1) _exit(1);
    pause();
  }
  char said = 0;
  ASSERT_EQ(read(ends[0], &said, 1), 1);
  EXPECT_EQ(said, 'y');
  const auto began = std::chrono::steady_clock::now();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const auto permit = gate.enter();
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_LE(took, gate.session_timeout() + 1500ms);  // half a second, and the machine's own delays
  close(ends[0]);
  close(ends[1]);
}

TEST_F(cluster_library, a_lost_session) {
  const auto threads = [] {
    const std::filesystem::directory_iterator all("/proc/self/task");
    return std::distance(begin(all), end(all));
  };
  const auto threads_before = threads();
  cluster_gate gate = open(1);
  auto permit = gate.enter();
  EXPECT_TRUE(permit.connected());
  std::atomic<bool> called{false};
  const std::stop_callback callback(permit.lost(), [&] { called = true; });
  pollfd descriptor{permit.lost_descriptor(), POLLIN, 0};
  EXPECT_EQ(poll(&descriptor, 1, 0), 0);
  const auto began = std::chrono::steady_clock::now();
  kill(servers->server(1), SIGSTOP);
  EXPECT_EQ(poll(&descriptor, 1, 10'000), 1);
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_LE(took, gate.session_timeout() + 300ms);  // no later than the servers could have given the slot away
  EXPECT_FALSE(permit.connected());
  await([&] { return called.load(); });
  kill(servers->server(1), SIGCONT);
  // The client library must not keep alive what is taken for lost.
  await([&] { return threads() == threads_before; });
  EXPECT_FALSE(permit.release());
  auto again = gate.try_enter_for(20s);  // a session of its own
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->connected());
}

}  // namespace
}  // namespace kgate
