// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where a gate between machines is: zk://HOST[:PORT][,HOST[:PORT]]...[/PATH][?session=TIME].

#include <chrono>
#include <string>
#include <string_view>

#include "kgate/gate_error.hpp"

namespace kgate::detail::cluster {

struct address {
  std::string hosts;            ///< HOST:PORT,HOST:PORT, as the client library wants it
  std::string root = "/kgate";  ///< the node below which the gates are
  std::chrono::milliseconds session{10'000};
};

/// Fills in `out`, or says what is wrong (gate_errc::bad_name).
gate_failure parse_address(std::string_view text, address& out);

/// What is wrong with the name of a gate, if anything.
gate_failure check_name(std::string_view name);

}  // namespace kgate::detail::cluster
