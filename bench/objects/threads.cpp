// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "kgate/objects/locked.hpp"
#include "kgate/resilient.hpp"
#include "scenes.hpp"

namespace kgate::bench {

namespace {

/// All threads alternate insertions and deletions until time is up.
template <class Apply>
double operations_per_second(int threads, int rounds_between, double seconds, Apply&& apply) {
  using clock = std::chrono::steady_clock;
  std::atomic<bool> over{false};
  std::atomic<long> done{0};
  const auto begin = clock::now();
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        long count = 0;
        std::uint64_t random = static_cast<std::uint64_t>(t) + 1;
        const auto compute = [&](int rounds) {
          for (int i = 0; i < rounds; ++i) {
            random = random * 6364136223846793005U + 1442695040888963407U;
            asm volatile("" : "+r"(random));
          }
        };
        for (; !over.load(std::memory_order_relaxed); count += 2) {
          compute(rounds_between + 1);
          apply(t, queue::insert(static_cast<std::int64_t>(random >> 50)));
          compute(rounds_between);
          apply(t, queue::delete_min());
        }
        done += count;
      });
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    over = true;
  }
  return static_cast<double>(done) / std::chrono::duration<double>(clock::now() - begin).count();
}

template <class Object>
contender of(std::string name) {
  contender c;
  c.name = std::move(name);
  c.bytes = sizeof(Object);
  const auto probe = std::make_unique<Object>();
  if constexpr (requires { probe->blocks(); }) c.blocks = probe->blocks(), c.block_bytes = probe->block_bytes();
  c.run = [](int threads, int rounds_between, double seconds) {
    const auto object = std::make_unique<Object>(half_full());
    return operations_per_second(threads, rounds_between, seconds, [&](int t, const queue::operation& op) {
      if constexpr (requires { object->apply(t, op); })
        object->apply(t, op);
      else
        object->apply(op);
    });
  };
  return c;
}

}  // namespace

queue half_full() {
  queue q;
  for (std::int64_t i = 0; i < 8; ++i) q.apply(queue::insert(i * 1000));
  return q;
}

std::vector<contender> threads_contenders() {
  std::vector<contender> all;
  all.push_back(of<locked<queue>>("std::mutex"));
  all.push_back(of<resilient<queue, 1>>("resilient K=1"));
  all.push_back(of<resilient<queue, 2>>("resilient K=2"));
  all.push_back(of<resilient<queue, 4>>("resilient K=4"));
  all.push_back(of<resilient<queue, 8>>("resilient K=8"));
  all.push_back(of<resilient<queue, 4, slots>>("resilient K=4, slots in order"));
  all.push_back(of<resilient<queue, 4, basic_slots<bounded_overtaking<>>>>("resilient K=4, slots with overtaking"));
  all.push_back(of<wait_free<queue, 16>>("wait_free for 16"));
  all.push_back(of<wait_free<queue, 200>>("wait_free for 200"));
  return all;
}

}  // namespace kgate::bench
