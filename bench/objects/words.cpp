// SPDX-License-Identifier: Apache-2.0
/// States of one to eight words, changed or read by many threads at once, beside what one would write by hand.

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "kgate/objects/locked.hpp"
#include "kgate/resilient.hpp"
#include "scenes.hpp"

namespace kgate::bench {

namespace {

/// A state of so many bytes, all of which an operation changes unless it adds nothing.
template <std::size_t Bytes>
struct words {
  struct operation {
    std::uint64_t add;
  };
  using result = std::uint64_t;
  static bool reads_only(const operation& op) noexcept { return op.add == 0; }
  result apply(const operation& op) noexcept {
    const std::uint64_t was = all[0];
    if (op.add != 0)
      for (std::uint64_t& one : all) one += op.add;
    return was;
  }
  std::uint64_t all[Bytes / 8]{};
};

/// The plain way without a lock: copy, change, swing a tagged index, again until that succeeds. Each thread owns a
/// block, so there are as many as threads. No thread helps another, and nothing is bounded.
template <class T>
class copy_loop {
 public:
  static constexpr std::size_t threads_max = 63;

  copy_loop() {
    for (std::size_t t = 0; t < threads_max; ++t) spare_[t].block = t;
    for (block& one : blocks_)
      for (auto& word : one.words) word.store(0, std::memory_order_relaxed);
  }
  typename T::result apply(int thread, const typename T::operation& op) noexcept {
    std::uint64_t& mine = spare_[static_cast<std::size_t>(thread)].block;
    for (;;) {
      std::uint64_t seen = current_.load();
      in_words<T> state;
      for (std::size_t i = 0; i < in_words<T>::size; ++i)
        state.set(i, blocks_[seen % 64].words[i].load(std::memory_order_acquire));
      if (current_.load() != seen) continue;
      const typename T::result was = state.value().apply(op);
      if (op.add == 0) return was;
      for (std::size_t i = 0; i < in_words<T>::size; ++i)
        blocks_[mine].words[i].store(state.get(i), std::memory_order_release);
      if (current_.compare_exchange_strong(seen, (seen / 64 + 1) * 64 + mine)) {
        mine = seen % 64;
        return was;
      }
    }
  }

 private:
  struct alignas(64) block {
    std::array<std::atomic<std::uint64_t>, in_words<T>::size> words;
  };
  struct alignas(64) owned {
    std::uint64_t block;
  };
  alignas(64) std::atomic<std::uint64_t> current_{threads_max};
  std::array<block, threads_max + 1> blocks_;
  std::array<owned, threads_max> spare_;
};

template <class Object>
double run(int threads, int reads_in_hundred, double seconds) {
  using clock = std::chrono::steady_clock;
  const auto object = std::make_unique<Object>();
  std::atomic<bool> over{false};
  std::atomic<long> done{0};
  const auto begin = clock::now();
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        long count = 0;
        for (; !over.load(std::memory_order_relaxed); ++count) {
          const std::uint64_t add = count % 100 < reads_in_hundred ? 0 : 1;
          if constexpr (requires { object->apply(t, {add}); })
            object->apply(t, {add});
          else
            object->apply({add});
        }
        done += count;
      });
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    over = true;
  }
  return static_cast<double>(done) / std::chrono::duration<double>(clock::now() - begin).count();
}

template <std::size_t Bytes>
std::vector<words_contender> of_bytes() {
  using T = words<Bytes>;
  return {{"copy loop", run<copy_loop<T>>},
          {"std::mutex", run<locked<T>>},
          {"resilient K=4", run<resilient<T, 4>>},
          {"resilient K=33", run<resilient<T, 33>>},
          {"resilient K=4, a name each time", run<resilient<T, 4, word_slots>>},
          {"resilient K=4, healing", run<resilient<T, 4, healing>>}};
}

}  // namespace

std::vector<words_contender> words_contenders(std::size_t bytes) {
  return bytes == 8 ? of_bytes<8>() : bytes == 32 ? of_bytes<32>() : of_bytes<64>();
}

}  // namespace kgate::bench
