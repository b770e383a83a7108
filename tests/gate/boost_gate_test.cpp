// SPDX-License-Identifier: Apache-2.0
// Entering a gate with Boost.Asio; async_gate_test.cpp has more, with standalone Asio.
#include "kgate/asio/boost_gate.hpp"

#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <future>
#include <optional>

#include "gate/faults/scratch.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;

TEST(boost_gate, gives_a_future) {
  const faults::scratch where;
  gate g = where.open("g", 1);
  std::optional<gate::permit> holder = g.enter();
  boost::asio::thread_pool threads(1);
  auto turn = with_boost_asio::async_enter(g, threads.get_executor(), boost::asio::use_future);
  auto heavy = with_boost_asio::async_enter(g, threads.get_executor(), 2, boost::asio::use_future);
  EXPECT_EQ(turn.wait_for(5ms), std::future_status::timeout);
  EXPECT_THROW(static_cast<void>(heavy.get()), gate_error);
  holder.reset();
  EXPECT_TRUE(turn.get());
  threads.join();
  faults::expect_whole(where, "g", 1);
}

}  // namespace
}  // namespace kgate
