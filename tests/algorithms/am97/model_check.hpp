// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One way to hold a catalogue row to its promises at some N and k.

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "lab/checker/properties/check.hpp"
#include "lab/models/models.hpp"

namespace kgate::lab {

struct size_case {
  std::string id;
  int N = 0;
  int k = 0;
};

inline std::ostream& operator<<(std::ostream& out, const size_case& c) {
  return out << c.id << " N=" << c.N << " k=" << c.k;
}

/// The bounds stand in the test's name.
inline std::string case_name(const testing::TestParamInfo<size_case>& it) {
  std::string name = it.param.id + "_N" + std::to_string(it.param.N) + "_k" + std::to_string(it.param.k);
  for (char& c : name)
    if (c == '-' || c == '+') c = '_';
  return name;
}

inline check_result check_case(const size_case& c, std::vector<std::string> properties,
                               std::uint64_t memory_max = std::uint64_t{8} << 30) {
  const catalog::choice algorithm = find_algorithm(c.id);
  program p(make_model(algorithm, c.N, c.k), c.N, c.k, {});
  check_request request;
  request.of = {c.id, c.N, c.k, 0, {}};
  request.properties = std::move(properties);
  if (algorithm.promise().names) request.properties.emplace_back("distinct-names");
  request.crashes = catalog::crashes_max(algorithm.promise(), c.N, c.k);
  request.limits.threads = 2;
  request.limits.memory_max = memory_max;
  return check(p, request);
}

inline void expect_all_hold(const size_case& c, std::vector<std::string> properties) {
  const check_result r = check_case(c, std::move(properties));
  EXPECT_TRUE(r.complete) << c << ": " << r.why;
  for (const property_result& one : r.properties)
    EXPECT_EQ(one.is, verdict::holds) << c << ": " << one.name << ' ' << one.why;
}

inline std::vector<std::string> all_properties() {
  return {"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit"};
}

}  // namespace kgate::lab
