// SPDX-License-Identifier: Apache-2.0
// kgate run beside flock, a static runner and GNU sem: the whole time of one command, and of 200 commands through four
// slots. The runners take turns, one command each; medians, quartiles and ratios within this run are printed.
//
// A ratio is judged by its median over the rounds: each round's is that of the two medians of that round, so that what
// else the machine does in a round is in both.
//
// usage: bench_commands [--rounds N] [--require] [--json]
//   --require   exit 1 if a ratio is above what is promised (docs/compared.md)
//   --json      what record.py keeps, and writes into docs/compared.md
// kgate and the static runner are copied first, without debugging symbols, as an installation would: what a linker has
// just written is mapped in smaller pieces, which costs each start some 5 %.
// GNU sem is slow: it runs fewer jobs, and its figure is for as many as the others by proportion.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

extern char** environ;

namespace {

constexpr int jobs = 200;
constexpr int jobs_of_sem = 4;
constexpr int repeats_max = 40;  ///< of one command in a round
constexpr int job_repeats = 6;
using words = std::vector<std::string>;

pid_t spawn(const words& line) {
  std::vector<char*> arguments;
  for (const std::string& word : line) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  pid_t child = -1;
  if (posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ) != 0) child = -1;
  posix_spawn_file_actions_destroy(&files);
  return child;
}

/// Milliseconds until all of them had ended, and of processor time that they took.
struct cost {
  double whole = 0, processor = 0;
};

cost timed(const std::vector<words>& lines) {
  const auto began = std::chrono::steady_clock::now();
  std::vector<pid_t> children;
  children.reserve(lines.size());
  for (const words& line : lines) children.push_back(spawn(line));
  cost spent;
  for (const pid_t child : children) {
    int status = 0;
    rusage used{};
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) {
      std::fprintf(stderr, "bench_commands: '%s' failed\n", lines.front().front().c_str());
      std::exit(2);
    }
    for (const timeval& one : {used.ru_utime, used.ru_stime})
      spent.processor += static_cast<double>(one.tv_sec) * 1e3 + static_cast<double>(one.tv_usec) * 1e-3;
  }
  spent.whole = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  return spent;
}

double quantile_of(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

struct measured {
  std::string name;
  int repeats;
  std::function<cost()> once;
  std::vector<double> times{}, processor{};

  double quantile(double share) const { return quantile_of(times, share); }
  /// Of the times of one round.
  double median_of(std::size_t round) const {
    const auto first = times.begin() + static_cast<std::ptrdiff_t>(round) * repeats;
    return quantile_of({first, first + repeats}, 0.5);
  }
  /// Of processor time: the mean of the lower half, for what disturbs only adds to it.
  double processor_mean() {
    std::sort(processor.begin(), processor.end());
    const std::size_t half = (processor.size() + 1) / 2;
    return std::accumulate(processor.begin(), processor.begin() + static_cast<std::ptrdiff_t>(half), 0.0) /
           static_cast<double>(half);
  }
};

/// A copy of a program as an installation would make it.
std::string installed(const std::filesystem::path& program, const std::filesystem::path& folder) {
  const std::string copy = (folder / program.filename()).string();
  const std::string line = "strip -o '" + copy + ".stripped' '" + program.string() + "' 2>/dev/null || cp '" +
                           program.string() + "' '" + copy + ".stripped'; cp '" + copy + ".stripped' '" + copy + "'";
  if (std::system(line.c_str()) != 0) std::exit(2);
  return copy;
}

bool is_there(const char* program) {
  return std::system((std::string("command -v ") + program + " >/dev/null 2>&1").c_str()) == 0;
}

std::vector<words> many(const words& line, int count) {
  return std::vector<words>(static_cast<std::size_t>(count), line);
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 10;
  bool require = false, json = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
      rounds = std::max(std::atoi(argv[++i]), 1);
    else if (std::strcmp(argv[i], "--require") == 0)
      require = true;
    else if (std::strcmp(argv[i], "--json") == 0)
      json = true;
    else {
      std::fputs("usage: bench_commands [--rounds N] [--require] [--json]\n", stderr);
      return 120;
    }
  }
  const std::filesystem::path here = std::filesystem::canonical("/proc/self/exe").parent_path();
  char folder[] = "/dev/shm/kgate-bench-XXXXXX";
  char programs[] = "/var/tmp/kgate-bench-XXXXXX";  // on a disk, as programs are
  if (mkdtemp(folder) == nullptr || mkdtemp(programs) == nullptr) return 2;
  const std::string tool = installed(here / "kgate", programs);
  const std::string runner = installed(here / "static_runner", programs);
  setenv("KGATE_DIR", folder, 1);
  const auto lock = [&](int i) { return std::string(folder) + "/lock" + std::to_string(i); };
  const auto each = [&](const std::function<words(int)>& line) {
    std::vector<words> lines;
    lines.reserve(jobs);
    for (int i = 0; i < jobs; ++i) lines.push_back(line(i % 4));
    return lines;
  };
  std::vector<measured> cases{
      {"one true", repeats_max, [&] { return timed({{"true"}}); }},
      {"one kgate", repeats_max,
       [&] {
         return timed({{tool, "run", "--", "true"}});
       }},
      {"one kgate --exec", repeats_max,
       [&] {
         return timed({{tool, "run", "--exec", "--", "true"}});
       }},
      {"one flock", repeats_max,
       [&] {
         return timed({{"flock", lock(0), "true"}});
       }},
      {"one static", repeats_max,
       [&] {
         return timed({{runner, lock(9), "0", "true"}});
       }},
      {"jobs kgate", job_repeats,
       [&] {
         return timed(many({tool, "run", "-n", "jobs", "-k", "4", "--", "true"}, jobs));
       }},
      {"jobs kgate --exec", job_repeats,
       [&] {
         return timed(many({tool, "run", "-n", "jobs", "-k", "4", "--exec", "--", "true"}, jobs));
       }},
      {"jobs flock", job_repeats, [&] { return timed(each([&](int i) {
                                          return words{"flock", lock(i), "true"};
                                        })); }},
      {"jobs static", job_repeats,
       [&] { return timed(each([&](int i) {
               return words{runner, lock(9), std::to_string(i), "true"};
             })); }},
  };
  if (is_there("sem"))
    cases.push_back({"jobs sem", 1, [&] {
                       const cost few = timed(many({"sem", "--fg", "--id", "kgate-bench", "-j4", "true"}, jobs_of_sem));
                       constexpr double by = double{jobs} / jobs_of_sem;
                       return cost{few.whole * by, few.processor * by};
                     }});
  for (int round = 0; round <= rounds; ++round)
    for (int i = 0; i < repeats_max; ++i)
      for (measured& one : cases) {
        if (i >= one.repeats) continue;
        const cost spent = one.once();
        if (round == 0) continue;  // warms up
        one.times.push_back(spent.whole);
        one.processor.push_back(spent.processor);
      }
  std::filesystem::remove_all(folder);
  std::filesystem::remove_all(programs);
  const auto find = [&](const char* name) {
    return std::find_if(cases.begin(), cases.end(), [&](const measured& one) { return one.name == name; });
  };
  struct ratio {
    const char *first, *second, *says;
    double promised;  ///< 0: nothing
  };
  const ratio ratios[] = {
      {"one kgate", "one flock", "one command: `kgate run` / `flock`", 0.75},
      {"one kgate --exec", "one static", "one command: `kgate run --exec` / `static`", 1.15},
      {"jobs kgate", "jobs flock", "200 commands through 4 slots: `kgate run` / `flock` on four files", 0.8},
      {"jobs kgate --exec", "jobs static", "200 commands through 4 slots: `kgate run --exec` / `static`", 1.05},
      {"jobs sem", "jobs kgate", "200 commands through 4 slots: GNU `sem` / `kgate run`", 0}};
  if (json) std::printf("{\"medians_ms\":{");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const measured& one = cases[i];
    if (json)
      std::printf("%s\"%s\":%.4f", i == 0 ? "" : ",", one.name.c_str(), one.quantile(0.5));
    else
      std::printf("%-20s %10.3f ms   (%.3f .. %.3f)\n", one.name.c_str(), one.quantile(0.5), one.quantile(0.25),
                  one.quantile(0.75));
  }
  if (json) std::printf("},\"ratios\":[");
  bool kept = true, first = true;
  for (const ratio& one : ratios) {
    const auto of = find(one.first), to = find(one.second);
    if (of == cases.end() || to == cases.end()) continue;
    std::vector<double> of_rounds;
    for (std::size_t round = 0; round < static_cast<std::size_t>(rounds); ++round)
      of_rounds.push_back(of->median_of(round) / to->median_of(round));
    const double judged = quantile_of(of_rounds, 0.5);
    const double low = quantile_of(of_rounds, 0), high = quantile_of(of_rounds, 1);
    const double processor = of->processor_mean() / to->processor_mean();
    kept &= one.promised == 0 || judged <= one.promised;
    const std::string promised = one.promised == 0 ? "" : std::to_string(one.promised).substr(0, 4);
    if (json)
      std::printf(
          "%s{\"says\":\"%s\",\"of\":\"%s\",\"to\":\"%s\",\"median\":%.3f,\"lowest\":%.3f,\"highest\":%.3f,"
          "\"promised\":%.2f,\"processor\":%.3f}",
          first ? "" : ",", one.says, one.first, one.second, judged, low, high, one.promised, processor);
    else
      std::printf("%s / %s: %.3f, the median of %d rounds (promised: %s; %.3f to %.3f), processor time %.3f\n",
                  one.first, one.second, judged, rounds, promised.empty() ? "nothing" : promised.c_str(), low, high,
                  processor);
    first = false;
  }
  if (json) std::printf("]}\n");
  return kept || !require ? 0 : 1;
}
