// SPDX-License-Identifier: Apache-2.0
// Writes a node that is not kgate's: write_node ADDRESS PATH DATA, created if it is not there.
#include <cstdio>

#include "cluster/session.hpp"

int main(int argc, char** argv) {
  using namespace kgate::detail::cluster;
  address where;
  if (argc != 4 || parse_address(argv[1], where)) return 2;
  session s(where, "", std::chrono::seconds(10));
  answer done = s.transact({{write::kind::set, argv[2], argv[3]}}).is;
  if (done == answer::no_node) done = s.transact({{write::kind::create, argv[2], argv[3]}}).is;
  return done == answer::ok ? 0 : 1;
}
