// SPDX-License-Identifier: Apache-2.0
// A pool of connections: made when first needed, lent to one borrower at a time in the order they came, replaced when
// broken. A borrower waits no longer than it likes, and not beyond the end of the program.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <kgate/pool.hpp>
#include <stop_token>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

std::atomic<int> connections_made{0};

class connection {
 public:
  explicit connection(std::ptrdiff_t slot) : slot_(slot) { ++connections_made; }
  /// False if the other side has gone.
  bool query() {
    std::this_thread::sleep_for(1ms);
    return ++queries_ % 50 != 0;
  }
  std::ptrdiff_t slot() const { return slot_; }

 private:
  std::ptrdiff_t slot_;
  int queries_ = 0;
};

}  // namespace

int main() {
  kgate::pool<connection> database(4, [](std::ptrdiff_t slot) { return connection(slot); });
  std::atomic<int> answered{0}, broken{0}, too_late{0};
  const auto client = [&](std::stop_token stop) {
    while (!stop.stop_requested()) {
      auto link = database.try_borrow_for(stop, 8ms);
      if (!link) {
        if (!stop.stop_requested()) ++too_late;
      } else if (link->query()) {
        ++answered;
      } else {
        ++broken;
        link.discard();  // the next borrower of this slot gets a new one
      }
    }
  };
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 12; ++i) clients.emplace_back(client);
    std::this_thread::sleep_for(400ms);
  }  // asks all to stop: those that wait give up at once
  std::printf("%d answers, %d broken connections, %d borrowers gave up after 8 ms; %d connections were made\n",
              answered.load(), broken.load(), too_late.load(), connections_made.load());
  return answered > 0 && connections_made <= 4 + broken && database.available() == 4 ? 0 : 1;
}
