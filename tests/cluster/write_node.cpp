// SPDX-License-Identifier: Apache-2.0
// Writes a node that is not kgate's: write_node ADDRESS PATH DATA, created if it is not there. Without DATA: shows what
// the node says. write_node ADDRESS --remove PATH. With the secret that the environment has. And what another program
// of this user does to a gate of this machine: write_node --gate DIR NAME K resizes it, K = 0 removes it.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cluster/secret.hpp"
#include "cluster/session.hpp"
#include "kgate/gate.hpp"

int main(int argc, char** argv) try {
  using namespace kgate::detail::cluster;
  if (argc == 5 && std::string_view(argv[1]) == "--gate") {
    kgate::gate local(argv[3], 0, {.directory = argv[2]});
    if (const int slots = std::atoi(argv[4]); slots > 0)
      local.resize(slots);
    else
      local.remove(true);
    return 0;
  }
  address where;
  if (argc < 3 || argc > 4 || parse_address(argv[1], where)) return 2;
  session s(where, find_secret(""), std::chrono::seconds(10));
  if (argc == 4 && argv[2] == std::string_view("--remove"))
    return s.transact({{write::kind::remove, argv[3]}}).is == answer::ok ? 0 : 1;
  if (argc == 3) {
    const answered<node> there = s.get(argv[2]);
    std::fputs(there.value.data.c_str(), stdout);
    return there.is == answer::ok ? 0 : 1;
  }
  answer done = s.transact({{write::kind::set, argv[2], argv[3]}}).is;
  if (done == answer::no_node) done = s.transact({{write::kind::create, argv[2], argv[3]}}).is;
  return done == answer::ok ? 0 : 1;
} catch (const kgate::gate_error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
