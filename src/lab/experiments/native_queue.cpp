// SPDX-License-Identifier: Apache-2.0
#include "lab/experiments/native_queue.hpp"

#include <sched.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "kgate/algorithms/am97_fastpath.hpp"
#include "kgate/algorithms/am97_figure3.hpp"
#include "kgate/algorithms/am97_figure8.hpp"
#include "kgate/algorithms/am97_names.hpp"
#include "kgate/objects/assigned.hpp"
#include "kgate/objects/in_place.hpp"
#include "kgate/objects/locked.hpp"
#include "kgate/objects/priority_queue.hpp"
#include "kgate/resilient.hpp"
#include "lab/experiments/queue_workload.hpp"

namespace kgate::lab {

namespace {

template <int capacity>
using queue_of = priority_queue<std::int64_t, capacity>;
using queue = queue_of<queue_capacity>;
using machine = native<spin>;

/// A queue that P threads can use, whatever it is made of.
class shared_queue {
 public:
  shared_queue() = default;
  shared_queue(const shared_queue&) = delete;
  shared_queue& operator=(const shared_queue&) = delete;
  virtual ~shared_queue() = default;
  /// Thread t's share: n operations, insertions and deletions in turn. Returns how many it did before `over`.
  virtual long work(int t, long n, const std::atomic<bool>& over) = 0;
};

template <class Queue, class Apply>
long alternate(int t, long n, const std::atomic<bool>& over, Apply&& apply) {
  queue_workload<Queue> mine(static_cast<std::uint64_t>(t) + 1);
  for (long i = 0; i < n; ++i) {
    if (over.load(std::memory_order_relaxed)) return i;
    apply(mine.next());
  }
  return n;
}

/// An object whose threads need a number, or need none.
template <class Object>
class plain_queue final : public shared_queue {
 public:
  template <class... Arguments>
  explicit plain_queue(Arguments&&... arguments) : object_(arguments..., half_full<queue>(queue_capacity)) {}
  long work(int t, long n, const std::atomic<bool>& over) override {
    return alternate<queue>(t, n, over, [&](const queue::operation& op) {
      if constexpr (requires { object_.apply(t, op); })
        object_.apply(t, op);
      else
        object_.apply(op);
    });
  }

 private:
  Object object_;
};

/// The paper's method: names over nested fast paths.
template <template <class> class Block, int capacity, int k>
class assigned_queue final : public shared_queue {
 public:
  explicit assigned_queue(int P) : object_(memory_, P, k, half_full<queue_of<capacity>>(capacity)) {}
  long work(int t, long n, const std::atomic<bool>& over) override {
    machine::Process p(pid(t));
    return alternate<queue_of<capacity>>(t, n, over, [&](const auto& op) { object_.apply(p, op); });
  }

 private:
  using assignment = am97::names<machine, am97::fastpath_nested<machine, Block>>;
  using object =
      std::conditional_t<k == 1, in_place<machine, queue_of<capacity>>, herlihy93<machine, queue_of<capacity>, k>>;
  machine::Memory memory_;
  assigned<machine, object, assignment, queue_of<capacity>> object_;
};

struct contender {
  queue_curve curve;
  std::function<std::unique_ptr<shared_queue>(int P)> make;
  bool large = false;  ///< the large queue
};

template <class Queue>
std::unique_ptr<shared_queue> made(int P) {
  if constexpr (std::is_constructible_v<Queue, int>)
    return std::make_unique<Queue>(P);
  else
    return std::make_unique<Queue>();
}

template <template <class> class Block, int capacity, int... k>
void add_assigned(std::vector<contender>& all, const char* block, std::integer_sequence<int, k...>) {
  (all.push_back({{"k-" + std::to_string(k), "k = " + std::to_string(k) + ", " + block, k, k == 1 ? 0 : k, {}},
                  made<assigned_queue<Block, capacity, k>>,
                  capacity == large_queue_capacity}),
   ...);
}

template <template <class> class Block, int capacity>
void add_assigned(std::vector<contender>& all, const char* block) {
  add_assigned<Block, capacity>(all, block, std::integer_sequence<int, 1, 2, 4, 8, 16>{});
}

template <int... N>
void add_herlihy(std::vector<contender>& all, std::integer_sequence<int, N...>) {
  (all.push_back(
       {{"herlihy-" + std::to_string(N), "Herlihy, N = " + std::to_string(N), 0, N, {}},
        [](int) -> std::unique_ptr<shared_queue> { return std::make_unique<plain_queue<wait_free<queue, N>>>(); }}),
   ...);
}

std::vector<contender> contenders(const native_queue_request& request) {
  std::vector<contender> all;
  all.push_back({{"mcs", "MCS lock", 0, 0, {}}, [](int P) -> std::unique_ptr<shared_queue> {
                   return std::make_unique<plain_queue<mcs_locked<queue>>>(P);
                 }});
  if (request.figure == queue_figure::fig10) {
    add_herlihy(all, std::integer_sequence<int, 100, 200>{});
    add_assigned<am97::figure3, queue_capacity>(all, "figure 3");
    add_assigned<am97::figure3, large_queue_capacity>(all, "figure 3");
  } else {
    add_herlihy(all, std::integer_sequence<int, 200, 400>{});
    add_assigned<am97::figure8, queue_capacity>(all, "figure 8");
    add_assigned<am97::figure8, large_queue_capacity>(all, "figure 8");
  }
  if (request.peers) {
    all.push_back({{"mutex", "std::mutex", 0, 0, {}}, [](int) -> std::unique_ptr<shared_queue> {
                     return std::make_unique<plain_queue<locked<queue>>>();
                   }});
    all.push_back({{"resilient-4", "kgate::resilient, K = 4", 4, 4, {}}, [](int) -> std::unique_ptr<shared_queue> {
                     return std::make_unique<plain_queue<resilient<queue, 4>>>();
                   }});
  }
  return all;
}

/// All operations, by P threads that start together.
queue_point measure(shared_queue& q, int P, long operations, double seconds_max) {
  using clock = std::chrono::steady_clock;
  queue_point point{.processes = P, .operations = operations, .done = 0, .seconds = 0};
  std::atomic<bool> over{false};
  std::atomic<long> done{0};
  std::mutex mutex;
  std::condition_variable ended;
  int running = P;
  std::barrier start(P + 1);
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(P));
  for (int t = 0; t < P; ++t)
    threads.emplace_back([&, t] {
      const long share = operations / P + (t < operations % P ? 1 : 0);
      start.arrive_and_wait();
      done += q.work(t, share, over);
      const std::lock_guard guard(mutex);
      if (--running == 0) ended.notify_one();
    });
  const auto begin = clock::now();
  start.arrive_and_wait();
  std::unique_lock lock(mutex);
  if (!ended.wait_for(lock, std::chrono::duration<double>(seconds_max), [&] { return running == 0; })) {
    over = true;
    ended.wait(lock, [&] { return running == 0; });
  }
  point.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  point.done = done;
  return point;
}

}  // namespace

int native_processors() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  return ::sched_getaffinity(0, sizeof usable, &usable) == 0 ? std::max(1, CPU_COUNT(&usable)) : 1;
}

queue_curves run_native_queue(const native_queue_request& request) {
  queue_curves result{.figure = request.figure, .processors = native_processors(), .curves = {}, .large = {}};
  std::vector<int> processes = request.processes;
  if (processes.empty())
    for (const int each : {1, 2, 3, 4, 6, 8}) processes.push_back(each * result.processors);
  const long operations = request.operations > 0 ? request.operations : native_operations(request.figure);

  std::vector<contender> all = contenders(request);
  const std::vector<int> large_at = counts_of_large(processes);
  const auto wanted = [&](const contender& c, int P) {
    return !c.large || std::find(large_at.begin(), large_at.end(), P) != large_at.end();
  };
  int measurements = 0, measured = 0;
  for (const int P : processes)
    for (const contender& c : all) measurements += wanted(c, P) ? request.repetitions : 0;
  for (int round = 0; round < request.repetitions; ++round)
    for (const int P : processes)
      for (contender& c : all) {
        if (!wanted(c, P)) continue;
        if (request.interrupted != nullptr && request.interrupted->load()) break;
        if (request.report) request.report(c.curve.name + (c.large ? ", large queue" : ""), measured, measurements);
        const std::unique_ptr<shared_queue> q = c.make(P);
        c.curve.points.push_back(measure(*q, P, operations, request.seconds_max));
        ++measured;
      }
  for (contender& c : all) {
    std::stable_sort(c.curve.points.begin(), c.curve.points.end(),
                     [](const queue_point& a, const queue_point& b) { return a.processes < b.processes; });
    (c.large ? result.large : result.curves).push_back(std::move(c.curve));
  }
  return result;
}

}  // namespace kgate::lab
