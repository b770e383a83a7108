// SPDX-License-Identifier: Apache-2.0
// 100,000 downloads, at most 64 at a time, on one thread, with standalone Asio. A download is a timer here.
#include <algorithm>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <chrono>
#include <cstdio>
#include <kgate/asio/standalone.hpp>
#include <mutex>

namespace {

using namespace std::chrono_literals;

struct progress {
  int active = 0, most_active = 0, done = 0;
};

asio::awaitable<void> download(asio::io_context& context, kgate::semaphore& limit, progress& all) {
  co_await kgate::with_asio::async_acquire(limit, context.get_executor(), asio::use_awaitable);
  const kgate::permit mine(limit, std::adopt_lock);  // handed to the next waiter at the end
  all.most_active = std::max(all.most_active, ++all.active);
  asio::steady_timer timer(context, 200us);
  co_await timer.async_wait(asio::use_awaitable);
  --all.active;
  ++all.done;
}

}  // namespace

int main() {
  constexpr int downloads = 100'000;
  asio::io_context context(1);
  kgate::semaphore limit(64);
  progress all;
  const auto before = std::chrono::steady_clock::now();
  for (int i = 0; i < downloads; ++i) asio::co_spawn(context, download(context, limit, all), asio::detached);
  context.run();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  std::printf("%d downloads in %.2f s, at most %d at a time\n", all.done, seconds, all.most_active);
  return all.done == downloads && all.most_active == 64 ? 0 : 1;
}
