// SPDX-License-Identifier: Apache-2.0
// A bulkhead: at most so many calls to a backend at a time, a bounded wait for those beyond, and a limit that follows
// the backend while it is in use. Here the backend gets slow after a while, and well again.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <kgate/semaphore.hpp>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

class bulkhead {
 public:
  explicit bulkhead(std::ptrdiff_t limit) : inside_(limit) {}

  /// Calls `backend` unless the queue is too long: then false.
  template <class Backend>
  bool call(Backend&& backend) {
    const kgate::permit mine(inside_, 20ms);
    if (!mine) return false;
    const auto before = clock_type::now();
    backend();
    adapt(clock_type::now() - before);
    return true;
  }
  std::ptrdiff_t limit() const { return inside_.permits(); }
  std::ptrdiff_t smallest() const { return smallest_; }

 private:
  /// A slow call halves the limit, a hundred quick ones in a row raise it by one.
  void adapt(clock_type::duration took) {
    if (took > 5ms) {
      quick_ = 0;
      const std::ptrdiff_t fewer = std::max<std::ptrdiff_t>(1, inside_.permits() / 2);
      inside_.resize(fewer);  // those inside finish undisturbed
      smallest_ = std::min(smallest_.load(), fewer);
    } else if (quick_.fetch_add(1) % 100 == 99) {
      inside_.resize(std::min<std::ptrdiff_t>(8, inside_.permits() + 1));
    }
  }
  kgate::semaphore inside_;
  std::atomic<int> quick_{0};
  std::atomic<std::ptrdiff_t> smallest_{8};
};

}  // namespace

int main() {
  bulkhead calls(8);
  std::atomic<bool> backend_is_slow{false};
  std::atomic<int> inside{0}, most{0}, done{0}, turned_away{0};
  const auto backend = [&] {
    int before = most;
    for (const int now = ++inside; before < now && !most.compare_exchange_weak(before, now);) {
    }
    std::this_thread::sleep_for(backend_is_slow ? 10ms : 200us);
    --inside;
  };
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 16; ++i)
      clients.emplace_back([&](std::stop_token stop) {
        while (!stop.stop_requested()) ++(calls.call(backend) ? done : turned_away);
      });
    std::this_thread::sleep_for(100ms);
    backend_is_slow = true;
    std::this_thread::sleep_for(200ms);
    backend_is_slow = false;
    std::this_thread::sleep_for(300ms);
    for (std::jthread& one : clients) one.request_stop();
  }
  std::printf("%d calls, %d turned away; at most %d at a time; the limit went down to %td and is now %td\n",
              done.load(), turned_away.load(), most.load(), calls.smallest(), calls.limit());
  return most <= 8 && calls.smallest() < 8 && done > 0 ? 0 : 1;
}
