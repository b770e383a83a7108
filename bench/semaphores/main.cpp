// SPDX-License-Identifier: Apache-2.0
/// semaphores [--rounds R] [--cell TEXT] [--peer TEXT]... [--json FILE] [--require] | --alone PEER OPERATIONS
///
/// Measures kgate::semaphore and its peers in the same run: for each cell, R rounds in which every peer gets a short
/// chunk in turn. --cell and --peer keep what contains the text. --require ends with the ratios that the documents
/// promise, and with exit code 1 if one is missed. --alone only calls enter and leave, or lets coroutines hand over so
/// often, for counting instructions.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "peers.hpp"
#include "report.hpp"
#include "requirements.hpp"

namespace {

using namespace kgate::bench;

std::vector<cell> all_cells() {
  std::vector<cell> cells;
  for (const int k : {1, 4})
    cells.push_back({.id = "alone k=" + std::to_string(k), .threads = 1, .k = k, .seconds = 0.004});
  for (const int k : {1, 2})
    for (const int inside : {0, 200})
      cells.push_back({.id = "pair k=" + std::to_string(k) + (inside == 0 ? " empty" : " 200 ns"),
                       .threads = 2,
                       .k = k,
                       .inside_ns = inside,
                       .seconds = 0.004});
  for (const bool overtakings : {false, true})
    for (const int threads : {16, 64})
      for (const int k : {1, 2, 4})
        cells.push_back({.id = std::string(overtakings ? "overtaking " : "crowd ") + std::to_string(threads) +
                               " threads k=" + std::to_string(k),
                         .threads = threads,
                         .k = k,
                         .inside_ns = 1000,
                         .seconds = 0.1,
                         .count_overtakings = overtakings});
  cells.push_back({.id = "hand-over 100 coroutines", .coroutines = 100, .k = 1, .seconds = 0.05});
  cells.push_back(
      {.id = "long waits: 4 threads k=1 2 ms", .threads = 4, .k = 1, .asleep_inside_us = 2000, .seconds = 0.3});
  cells.push_back(
      {.id = "long waits: 200 threads k=4 1 ms", .threads = 200, .k = 4, .asleep_inside_us = 1000, .seconds = 0.3});
  return cells;
}

template <class Peer>
bool alone(std::string_view name, int operations) {
  if (name != Peer::name) return false;
  Peer tested(4);
  for (int i = 0; i < operations; ++i) tested.enter(), tested.leave();
  return true;
}

int count_alone(std::string_view name, int operations) {
  const bool known = alone<xadd_pair>(name, operations) || alone<used_xadd_pair>(name, operations) ||
                     alone<kgate_fifo>(name, operations) || alone<kgate_throughput>(name, operations) ||
                     alone<kgate_slots>(name, operations) || alone<std_semaphore>(name, operations) ||
                     alone<posix_semaphore>(name, operations) || alone<boost_semaphore>(name, operations) ||
                     alone<moodycamel_semaphore>(name, operations) || alone<condvar_barging>(name, operations) ||
                     alone<condvar_fifo>(name, operations) || alone<absl_semaphore>(name, operations) ||
                     alone<robust_mutexes>(name, operations);
  if (known) return EXIT_SUCCESS;
  for (const peer& who : coroutine_peers())
    if (who.name == name)
      return who.run({.id = "hand-over", .coroutines = 100, .hand_overs = operations}).done ? EXIT_SUCCESS
                                                                                            : EXIT_FAILURE;
  return EXIT_FAILURE;
}

bool contains_any(const std::string& text, const std::vector<std::string>& parts) {
  return parts.empty() ||
         std::any_of(parts.begin(), parts.end(), [&](const std::string& part) { return text.find(part) != text.npos; });
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 15;
  std::vector<std::string> cell_parts, peer_parts;
  std::string json;
  bool require = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--alone" && i + 2 < argc) return count_alone(argv[i + 1], std::atoi(argv[i + 2]));
    if (i + 1 < argc && option == "--rounds") {
      rounds = std::max(1, std::atoi(argv[++i]));
    } else if (i + 1 < argc && option == "--cell") {
      cell_parts.emplace_back(argv[++i]);
    } else if (i + 1 < argc && option == "--peer") {
      peer_parts.emplace_back(argv[++i]);
    } else if (i + 1 < argc && option == "--json") {
      json = argv[++i];
    } else if (option == "--require") {
      require = true;
    } else {
      std::fprintf(stderr, "usage: semaphores [--rounds R] [--cell TEXT] [--peer TEXT]... [--json FILE] [--require]\n");
      return 2;
    }
  }
  const context here = this_context();
  print(here);
  std::vector<peer> peers = all_peers();
  for (peer& one : coroutine_peers()) peers.push_back(std::move(one));
  std::vector<result> results;
  for (const cell& what : all_cells()) {
    if (!contains_any(what.id, cell_parts)) continue;
    result r{what, {}};
    for (const peer& who : peers)
      if (contains_any(who.name, peer_parts) && who.coroutines == (what.coroutines > 0) &&
          !(who.only_one && what.k > 1) && !(who.only_spins && what.threads > 2))
        r.all.push_back({&who, {}, 0});
    // Chunks in which a thread lost its processor are taken again, in a busy system up to a limit.
    const auto wanting = [&](const series& s) {
      return std::count_if(s.samples.begin(), s.samples.end(), [](const sample& x) { return x.undisturbed > 0; }) <
             rounds;
    };
    for (int round = 0; round < 5 * rounds; ++round)
      for (series& s : r.all) {
        if (!wanting(s) || s.hung >= rounds) continue;
        const sample got = run_guarded(*s.who, what, 20 * what.seconds + 2);
        if (got.done)
          s.samples.push_back(got);
        else
          ++s.hung;
      }
    print(r);
    results.push_back(std::move(r));
  }
  const std::vector<judgement> all = judged(results);
  if (!json.empty()) write_json(json, here, results, all);
  return require && !meets_requirements(all) ? EXIT_FAILURE : EXIT_SUCCESS;
}
