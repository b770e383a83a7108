// SPDX-License-Identifier: Apache-2.0
// A client of the chaos test: enters and leaves a gate until SIGTERM comes, and writes a line for each grant.
//
// usage: chaos_client ADDRESS GATE K FENCES    FENCES: a file, what the slots protect
// A line: slot token sequence entered left lost refused. Times are of the monotonic clock, in nanoseconds: inside at
// `entered`, and still known to be inside at `left`. `refused` writes had a smaller token than had been seen there.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "cluster/gate_nodes.hpp"
#include "cluster/request.hpp"

namespace {

using namespace kgate::detail::cluster;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

volatile sig_atomic_t over = 0;

/// The recipe's client, which keeps the sequence number that its grant came from.
class observed_client : public request_client {
 public:
  using request_client::request_client;
  answered<token> grant(const gate_id& id, const waiter& me, const slot_set& chosen, std::int32_t version) {
    sequence = me.sequence;
    return request_client::grant(id, me, chosen, version);
  }
  std::int32_t sequence = 0;
};

/// What a slot protects: it takes no write with a smaller token than it has seen.
bool write_fenced(std::atomic<std::uint64_t>& resource, std::uint64_t token) {
  std::uint64_t seen = resource.load();
  while (seen < token && !resource.compare_exchange_weak(seen, token)) {
  }
  return seen <= token;
}

/// One passage. `known` is what is known of the gate, before and after.
void pass(session& s, const std::string& gate, known_gate& known, std::atomic<std::uint64_t>* resources,
          std::mt19937& random) {
  participant_data who;
  who.host = "chaos";
  who.process = getpid();
  observed_client client(s, gate, who, {{}, std::chrono::steady_clock::now() + std::chrono::seconds(60)});
  recipe<observed_client> text(client, known.id, known.size);
  const outcome how = text.acquire(1);
  known.size = text.at().size;  // as a cluster_gate does
  if (how != outcome::done) return;
  const std::int64_t entered = now_ns();
  const int slot = text.at().slots.numbers.front();
  const std::uint64_t token = text.at().fence;
  const std::int64_t until = entered + static_cast<std::int64_t>(random() % 200) * 1'000'000;
  std::int64_t left = entered;
  bool lost = false;
  int refused = 0;
  do {
    refused += write_fenced(resources[slot], token) ? 0 : 1;
    const std::int64_t before = now_ns();
    lost = s.is_lost();
    if (!lost) left = before;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  } while (!lost && now_ns() < until);
  refused += write_fenced(resources[slot], token) ? 0 : 1;  // late, if this process was paused
  if (text.release() != outcome::done) lost = true;
  std::printf("%d %llu %d %lld %lld %d %d\n", slot, static_cast<unsigned long long>(token), client.sequence,
              static_cast<long long>(entered), static_cast<long long>(left), lost ? 1 : 0, refused);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  signal(SIGTERM, [](int) { over = 1; });
  address where;
  if (parse_address(argv[1], where)) return 2;
  const int fd = open(argv[4], O_RDWR | O_CLOEXEC);
  void* const map = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return 2;
  std::mt19937 random(static_cast<unsigned>(getpid()));
  std::unique_ptr<session> s;
  while (over == 0) {
    try {
      if (s == nullptr || s->is_lost()) s = std::make_unique<session>(where, "", std::chrono::seconds(20));
      known_gate known = open_gate(*s, where.root, argv[2], std::atoi(argv[3]));
      known.size.room = 0;
      while (over == 0 && !s->is_lost())
        pass(*s, where.root + "/" + argv[2], known, static_cast<std::atomic<std::uint64_t>*>(map), random);
    } catch (const kgate::gate_error& error) {
      std::fprintf(stderr, "%d: %s\n", static_cast<int>(getpid()), error.what());
    }
  }
}
