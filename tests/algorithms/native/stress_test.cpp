// SPDX-License-Identifier: Apache-2.0
// Every algorithm of the catalogue, plain and with names, on real threads, more of them than cores. Inside, counters
// watch that at most k are in and that names are distinct and below k; where the algorithm protects data (k = 1, or a
// name), plain variables are changed, so that ThreadSanitizer sees a missing happens-before.

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "catalog/catalog.hpp"
#include "kgate/detail/machines/native.hpp"

namespace {

using namespace std::chrono_literals;
using kgate::pid;

struct outcome {
  long passages = 0;
  long overfull = 0;      ///< entries that found k others inside
  long name_clashes = 0;  ///< entries whose name was out of range or taken
  long lost_updates = 0;  ///< changes of protected plain data that did not last
};

enum class data { watched, left_alone };

template <class Algorithm>
concept GivesNames = requires(typename Algorithm::Private mine) {
  mine.name;
};

template <class M, class Algorithm>
outcome run(int N, int k, data protected_data, std::chrono::milliseconds duration = 8ms) {
  typename M::Memory memory;
  Algorithm algorithm(memory, N, k);
  std::atomic<int> inside{0};
  std::vector<std::atomic<int>> holders(static_cast<std::size_t>(k));
  std::vector<long> by_name(static_cast<std::size_t>(k));
  long alone = 0;
  std::atomic<bool> stop{false};
  std::atomic<long> passages{0}, overfull{0}, name_clashes{0};

  const auto take_part = [&](int id) {
    typename M::Process p(pid(id));
    constexpr long passages_min = 5;
    for (long passage = 0; passage < passages_min || !stop.load(std::memory_order_relaxed); ++passage) {
      typename Algorithm::Private mine{};
      algorithm.acquire(p, mine);
      if (inside.fetch_add(1, std::memory_order_relaxed) >= k) overfull.fetch_add(1, std::memory_order_relaxed);
      if (k == 1 && protected_data == data::watched) ++alone;
      if constexpr (GivesNames<Algorithm>) {
        const auto name = static_cast<std::size_t>(mine.name);
        if (name >= holders.size() || holders[name].fetch_add(1, std::memory_order_relaxed) != 0)
          name_clashes.fetch_add(1, std::memory_order_relaxed);
        else if (protected_data == data::watched)
          ++by_name[name];
        if (passage % 4 == 0) sched_yield();
        if (name < holders.size()) holders[name].fetch_sub(1, std::memory_order_relaxed);
      } else {
        if (passage % 4 == 0) sched_yield();
      }
      inside.fetch_sub(1, std::memory_order_relaxed);
      passages.fetch_add(1, std::memory_order_relaxed);
      algorithm.release(p, mine);
    }
  };

  std::vector<std::thread> threads;
  for (int id = 0; id < N; ++id) threads.emplace_back(take_part, id);
  std::this_thread::sleep_for(duration);
  stop = true;
  for (auto& thread : threads) thread.join();

  outcome result{passages, overfull, name_clashes, 0};
  if (protected_data == data::watched) {
    if (k == 1) result.lost_updates += passages - alone;
    if constexpr (GivesNames<Algorithm>) {
      long sum = 0;
      for (const long count : by_name) sum += count;
      result.lost_updates += passages - name_clashes - sum;
    }
  }
  return result;
}

template <class M, class Algorithm>
void expect_safe(const std::string& who, int N, int k) {
  SCOPED_TRACE(who + " N=" + std::to_string(N) + " k=" + std::to_string(k));
  const outcome result = run<M, Algorithm>(N, k, data::watched);
  EXPECT_GE(result.passages, 5L * N);
  EXPECT_EQ(result.overfull, 0);
  EXPECT_EQ(result.name_clashes, 0);
  EXPECT_EQ(result.lost_updates, 0);
}

/// One algorithm, plain and with names, under one wait policy.
template <class Tag, class Policy>
void expect_safe_under(const kgate::catalog::row& row, const char* policy) {
  using machine = kgate::native<Policy>;
  for (const auto& [N, k] : {std::pair{6, 1}, {6, 2}, {5, 3}, {3, 2}, {3, 3}, {2, 1}}) {
    if (!kgate::catalog::limits_error(row, N, k).empty()) continue;
    const std::string who = std::string(row.id) + " " + policy;
    expect_safe<machine, typename Tag::template on<machine>>(who, N, k);
    expect_safe<machine, typename kgate::catalog::names_over<Tag>::template on<machine>>(who + " with names", N, k);
  }
}

template <class Tag>
class stress_of : public testing::Test {
 public:
  explicit stress_of(const kgate::catalog::row& row) : row_(row) {}
  void TestBody() override {
    expect_safe_under<Tag, kgate::spin_yield>(row_, "spin_yield");
    expect_safe_under<Tag, kgate::spin_park>(row_, "spin_park");
  }

 private:
  const kgate::catalog::row& row_;
};

/// One test per row that makes sense natively.
const bool registered = [] {
  kgate::catalog::for_each_native([](const kgate::catalog::row& row, auto tag) {
    std::string name(row.id);
    std::replace(name.begin(), name.end(), '-', '_');
    testing::RegisterTest("stress", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [&row]() -> testing::Test* { return new stress_of<decltype(tag)>(row); });
  });
  return true;
}();

/// Lets all in, all under the same name.
template <class M>
struct open_door {
  struct Private {
    int name = 0;
  };
  open_door(typename M::Memory&, int, int) {}
  void acquire(typename M::Process&, Private&) {}
  void release(typename M::Process&, Private&) {}
};

TEST(stress_itself, notices_an_open_door) {
  ASSERT_TRUE(registered);
  using machine = kgate::native<kgate::spin_yield>;
  const outcome result = run<machine, open_door<machine>>(6, 2, data::left_alone, 100ms);
  EXPECT_GT(result.overfull, 0);
  EXPECT_GT(result.name_clashes, 0);
}

}  // namespace
