// SPDX-License-Identifier: Apache-2.0
// Writes a node that is not kgate's: write_node ADDRESS PATH DATA, created if it is not there. Without DATA: shows what
// the node says.
#include <cstdio>

#include "cluster/session.hpp"

int main(int argc, char** argv) {
  using namespace kgate::detail::cluster;
  address where;
  if (argc < 3 || argc > 4 || parse_address(argv[1], where)) return 2;
  session s(where, "", std::chrono::seconds(10));
  if (argc == 3) {
    const answered<node> there = s.get(argv[2]);
    std::fputs(there.value.data.c_str(), stdout);
    return there.is == answer::ok ? 0 : 1;
  }
  answer done = s.transact({{write::kind::set, argv[2], argv[3]}}).is;
  if (done == answer::no_node) done = s.transact({{write::kind::create, argv[2], argv[3]}}).is;
  return done == answer::ok ? 0 : 1;
}
