// SPDX-License-Identifier: Apache-2.0
/// objects [--rounds R] [--seconds S] [--json FILE] [--require]
///
/// Measures shared priority queues in one run: R rounds in which every contender gets S seconds in turn, for one
/// thread, for as many as processors, and for eight times as many; then as many processes, of which one after the other
/// is stopped inside an operation. Prints medians with their spread, and the ratios that matter. --require fails if a
/// promised ratio is missed.

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "scenes.hpp"

namespace {

using namespace kgate::bench;

struct series {
  std::string name;
  std::vector<double> samples;
  double quantile(double q) const {
    std::vector<double> sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
  }
  double median() const { return quantile(0.5); }
};

struct cell {
  std::string name;
  std::vector<series> all;
  const series& of(std::string_view name_of) const {
    return *std::find_if(all.begin(), all.end(), [&](const series& s) { return s.name == name_of; });
  }
  /// The median of the ratios round by round: what is measured one after the other suffers alike when the machine is
  /// slow.
  double ratio(std::string_view of_this, std::string_view to_that) const {
    series ratios{"", of(of_this).samples};
    for (std::size_t i = 0; i < ratios.samples.size(); ++i) ratios.samples[i] /= of(to_that).samples[i];
    return ratios.median();
  }
};

template <class Contenders, class Run>
cell measured(std::string name, const Contenders& contenders, int rounds, Run&& run) {
  cell c{std::move(name), {}};
  for (const auto& one : contenders) c.all.push_back({one.name, {}});
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < contenders.size(); ++i) c.all[i].samples.push_back(run(contenders[i]));
  std::printf("\n%s\n", c.name.c_str());
  for (const series& s : c.all)
    std::printf("  %-40s %9.3f million/s  (%.3f - %.3f)  %6.2f x %s\n", s.name.c_str(), s.median() / 1e6,
                s.quantile(0.25) / 1e6, s.quantile(0.75) / 1e6, s.median() / c.all[0].median(), c.all[0].name.c_str());
  std::fflush(stdout);
  return c;
}

struct promise {
  std::string what;
  double ratio;
  double at_least;
};

int processors() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  return ::sched_getaffinity(0, sizeof usable, &usable) == 0 ? std::max(1, CPU_COUNT(&usable)) : 1;
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 9;
  double seconds = 0.1;
  std::string json;
  bool require = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (i + 1 < argc && option == "--rounds" && std::atoi(argv[i + 1]) > 0) {
      rounds = std::atoi(argv[++i]);
    } else if (i + 1 < argc && option == "--seconds" && std::atof(argv[i + 1]) > 0) {
      seconds = std::atof(argv[++i]);
    } else if (i + 1 < argc && option == "--json") {
      json = argv[++i];
    } else if (option == "--require") {
      require = true;
    } else {
      std::fprintf(stderr, "usage: objects [--rounds R] [--seconds S] [--json FILE] [--require]\n");
      return 2;
    }
  }
  const int cores = processors();
  std::printf("%d processors, %s build, commit %s, %d rounds of %g s\n", cores, KGATE_BUILD_TYPE, KGATE_COMMIT, rounds,
              seconds);

  const std::vector<contender> contenders = threads_contenders();
  std::printf("\nmemory\n");
  for (const contender& c : contenders)
    std::printf(
        "  %-40s %7zu bytes%s\n", c.name.c_str(), c.bytes,
        c.blocks == 0 ? "" : (", " + std::to_string(c.blocks) + " blocks of " + std::to_string(c.block_bytes)).c_str());

  std::vector<cell> cells;
  const auto measure_threads = [&](int threads, int rounds_between) {
    cells.push_back(measured(std::to_string(threads) + " threads, " +
                                 (rounds_between == 0 ? "nothing else to do" : "about 100 ns of other work in between"),
                             contenders, rounds,
                             [&](const contender& c) { return c.run(threads, rounds_between, seconds); }));
  };
  constexpr int some_work = 80;
  measure_threads(1, 0);
  measure_threads(cores, 0);
  measure_threads(1, some_work);
  measure_threads(cores, some_work);
  measure_threads(8 * cores, 0);
  std::vector<promise> promises;
  const auto measure_words = [&](std::size_t bytes, int threads, int reads) -> const cell& {
    cells.push_back(measured(std::to_string(bytes) + " bytes, " + std::to_string(threads) + " threads, " +
                                 std::to_string(reads) + " % reading",
                             words_contenders(bytes), rounds,
                             [&](const words_contender& c) { return c.run(threads, reads, seconds); }));
    return cells.back();
  };
  for (const std::size_t bytes : {8U, 32U, 64U})
    for (const int threads : {1, 2}) {
      const cell& c = measure_words(bytes, threads, 0);
      promises.push_back({"resilient K=4 / copy loop, " + c.name, c.ratio("resilient K=4", "copy loop"), 0.8});
      promises.push_back({"resilient K=33 / K=4, " + c.name, c.ratio("resilient K=33", "resilient K=4"), 0.5});
    }
  measure_words(8, 4, 0);
  {
    const cell& c = measure_words(8, 16, 0);
    promises.push_back({"resilient K=4 / std::mutex, " + c.name, c.ratio("resilient K=4", "std::mutex"), 1});
  }
  for (const int threads : {1, 2, 4, 16}) {
    const cell& c = measure_words(64, threads, 99);
    promises.push_back({"resilient K=4 / copy loop, " + c.name, c.ratio("resilient K=4", "copy loop"), 0.8});
  }
  const std::vector<preempted_contender> tormented = processes_contenders();
  const preemption torment{.processes = 8 * cores};
  cells.push_back(measured(std::to_string(torment.processes) + " processes, nobody stopped", tormented, rounds,
                           [&](const preempted_contender& c) {
                             return c.run({.processes = torment.processes, .stopped = 0, .between = 0}, seconds);
                           }));
  cells.push_back(measured(
      std::to_string(torment.processes) + " processes, one after the other stopped inside for 100 ms", tormented,
      rounds, [&](const preempted_contender& c) { return c.run(torment, std::max(seconds, 0.5)); }));

  for (std::size_t i = 0; i < 4; ++i)
    promises.push_back(
        {"resilient K=4 / std::mutex, " + cells[i].name, cells[i].ratio("resilient K=4", "std::mutex"), 0.5});
  promises.push_back(
      {"resilient K=4 / wait_free for 200, " + cells[4].name, cells[4].ratio("resilient K=4", "wait_free for 200"), 3});
  promises.push_back({"resilient K=4 / mutex, " + cells.back().name, cells.back().ratio("resilient K=4", "mutex"), 1});
  std::printf("\nratios\n");
  bool kept = true;
  for (const promise& p : promises) {
    kept = kept && p.ratio >= p.at_least;
    std::printf("  %-86s %6.2f  (wanted: %.1f)%s\n", p.what.c_str(), p.ratio, p.at_least,
                p.ratio >= p.at_least ? "" : "  MISSED");
  }

  if (!json.empty()) {
    nlohmann::json j{
        {"processors", cores}, {"build", KGATE_BUILD_TYPE}, {"commit", KGATE_COMMIT}, {"seconds", seconds}};
    for (const contender& c : contenders)
      j["memory"].push_back(
          {{"name", c.name}, {"bytes", c.bytes}, {"blocks", c.blocks}, {"block_bytes", c.block_bytes}});
    for (const cell& c : cells) {
      nlohmann::json one{{"name", c.name}};
      for (const series& s : c.all)
        one["contenders"].push_back({{"name", s.name}, {"operations_per_second", s.samples}});
      j["cells"].push_back(one);
    }
    for (const promise& p : promises)
      j["ratios"].push_back({{"what", p.what}, {"ratio", p.ratio}, {"promised", p.at_least}});
    std::ofstream(json) << j.dump(2) << '\n';
  }
  return require && !kept ? EXIT_FAILURE : EXIT_SUCCESS;
}
