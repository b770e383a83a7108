// SPDX-License-Identifier: Apache-2.0
// kgate::gate beside sem_t, semop and bare futexes: alone, and among many members, threads or processes, interleaved in
// one run.
#include <semaphore.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "contenders.hpp"
#include "crowd.hpp"
#include "kgate/gate.hpp"
#include "kgate/semaphore.hpp"

namespace {

using gates_bench::crowd;
using gates_bench::outcome;
using json = nlohmann::ordered_json;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// The medians of what the rounds of one contender measured.
struct rounds {
  std::vector<double> rate, jain, cpu_us;

  void add(const outcome& one) {
    rate.push_back(one.rate);
    jain.push_back(one.jain);
    cpu_us.push_back(one.cpu_us);
  }
};

class requirements {
 public:
  void expect(const std::string& what, double measured, bool holds, double wanted) {
    std::printf("  %-64s %8.2f   %s %.2f\n", what.c_str(), measured, holds ? "as wanted," : "NOT as wanted,", wanted);
    failed_ = failed_ || !holds;
    all_.push_back({{"what", what}, {"got", measured}, {"wanted", wanted}, {"holds", holds}});
  }
  void at_least(const std::string& what, double measured, double wanted) {
    expect(what, measured, measured >= wanted, wanted);
  }
  void at_most(const std::string& what, double measured, double wanted) {
    expect(what, measured, measured <= wanted, wanted);
  }
  bool failed() const { return failed_; }
  const json& all() const { return all_; }

 private:
  bool failed_ = false;
  json all_ = json::array();
};

struct settings {
  std::vector<int> members{2, 8, 32, 64, 256, 1024};
  std::vector<int> sizes{1, 2, 4};
  std::vector<std::string> kinds{"threads", "processes"};
  std::vector<double> inside_ns{1000};
  std::vector<std::string> only;
  int rounds = 5;
  double seconds = 0.3;
  std::string json_file;
  bool require = false;
  bool alone = true;
};

json measure_alone(const std::string& directory, int rounds, requirements& wanted) {
  json all = json::array();
  std::printf("alone: ns a passage\n");
  for (const int k : {1, 4}) {
    kgate::gate_options options;
    options.directory = directory;
    kgate::gate gate("alone" + std::to_string(k), k, options);
    kgate::gate::member member = gate.join();
    kgate::basic_semaphore<kgate::fifo> semaphore(k);
    sem_t peer;
    sem_init(&peer, 0, static_cast<unsigned>(k));
    std::vector<double> at_gate, at_semaphore, at_peer;
    for (int round = 0; round < 200 * rounds; ++round) {
      at_gate.push_back(gates_bench::ns_each([&] { member.enter(); }, [&] { member.leave(); }));
      at_semaphore.push_back(gates_bench::ns_each([&] { semaphore.acquire(); }, [&] { semaphore.release(); }));
      at_peer.push_back(gates_bench::ns_each([&] { sem_wait(&peer); }, [&] { sem_post(&peer); }));
    }
    std::printf("  k=%d  gate %.1f  semaphore %.1f  sem_t %.1f\n", k, median(at_gate), median(at_semaphore),
                median(at_peer));
    wanted.at_most("alone k=" + std::to_string(k) + ": time over sem_t's", median(at_gate) / median(at_peer), 1.0);
    all.push_back({{"k", k},
                   {"gate_ns", median(at_gate)},
                   {"semaphore_ns", median(at_semaphore)},
                   {"sem_t_ns", median(at_peer)}});
  }
  return all;
}

/// What is promised of `members` members, in ratios to semop and sem_t of the same rounds.
void require_of(const std::string& at, int members, double inside_ns, std::map<std::string, rounds>& by_name,
                requirements& wanted) {
  const double semop = median(by_name["semop"].rate);
  if (inside_ns > 0) wanted.at_least(at + " strict / semop", median(by_name["strict"].rate) / semop, 0.95);
  if (inside_ns > 0 && members >= 64)
    wanted.at_least(at + " default / semop", median(by_name["default"].rate) / semop, 1.0);
  if (inside_ns > 0) wanted.at_least(at + " default, Jain's index", median(by_name["default"].jain), 0.9);
  if (inside_ns == 0 && members == 2)
    wanted.at_least(at + " default / sem_t", median(by_name["default"].rate) / median(by_name["sem_t"].rate), 0.8);
}

json measure_crowds(const std::string& directory, const settings& how, requirements& wanted) {
  json all = json::array();
  std::printf("\n%-36s %-10s %12s %8s %8s %14s\n", "members", "", "passages/s", "/ semop", "Jain", "CPU us/passage");
  std::map<std::string, double> cpu_at_64;
  for (const std::string& kind : how.kinds)
    for (const double inside_ns : how.inside_ns)
      for (const int k : how.sizes)
        for (const int members : how.members) {
          crowd people{members, kind == "processes", inside_ns, how.seconds};
          std::map<std::string, rounds> by_name;
          for (int round = 0; round < how.rounds; ++round)
            for (const auto& one : gates_bench::contenders(directory, k))
              if (how.only.empty() || std::find(how.only.begin(), how.only.end(), one->name()) != how.only.end())
                by_name[one->name()].add(people.run(*one));
          char at[80];
          std::snprintf(at, sizeof at, "%d %s, k=%d, %.0f ns inside", members, kind.c_str(), k, inside_ns);
          const auto semop = by_name.find("semop");
          const double floor = semop != by_name.end() ? median(semop->second.rate) : 0;
          json medians;
          for (auto& [name, of] : by_name) {
            medians[name] = {{"rate", median(of.rate)}, {"jain", median(of.jain)}, {"cpu_us", median(of.cpu_us)}};
            std::printf("%-36s %-10s %12.0f %8.2f %8.2f %14.2f\n", at, name.c_str(), median(of.rate),
                        floor > 0 ? median(of.rate) / floor : 0, median(of.jain), median(of.cpu_us));
          }
          all.push_back(
              {{"kind", kind}, {"members", members}, {"k", k}, {"inside_ns", inside_ns}, {"contenders", medians}});
          if (how.only.empty()) require_of(at, members, inside_ns, by_name, wanted);
          const std::string row = kind + std::to_string(k) + "/" + std::to_string(inside_ns);
          if (!how.only.empty()) continue;
          const double cpu = median(by_name["default"].cpu_us);
          if (members == 64) cpu_at_64[row] = cpu;
          if (members == 1024 && cpu_at_64[row] > 0)
            wanted.at_most(std::string(at) + " default, CPU over that at 64", cpu / cpu_at_64[row], 2.0);
          std::fflush(stdout);
        }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  settings how;
  CLI::App app{"kgate::gate beside sem_t and semop, interleaved in one run"};
  app.add_option("--members", how.members, "how many compete")->delimiter(',');
  app.add_option("-k,--slots", how.sizes, "sizes of the gate")->delimiter(',');
  app.add_option("--kinds", how.kinds, "threads, processes")->delimiter(',');
  app.add_option("--inside", how.inside_ns, "ns of work inside")->delimiter(',');
  app.add_option("--only", how.only, "of strict, default, sem_t, semop, bare, bare-timed")->delimiter(',');
  app.add_option("--rounds", how.rounds, "of each contender, interleaved");
  app.add_option("--seconds", how.seconds, "of each round");
  app.add_flag("!--no-alone", how.alone, "leave out the uncontended passage");
  app.add_option("--json", how.json_file, "write the medians to this file");
  app.add_flag("--require", how.require, "fail if a ratio is worse than promised");
  CLI11_PARSE(app, argc, argv);

  char directory[] = "/dev/shm/kgate-bench-XXXXXX";
  if (mkdtemp(directory) == nullptr) return EXIT_FAILURE;
  requirements wanted;
  json report{{"rounds", how.rounds}, {"seconds", how.seconds}};
  if (how.alone) report["alone"] = measure_alone(directory, how.rounds, wanted);
  report["crowds"] = measure_crowds(directory, how, wanted);
  report["required"] = wanted.all();
  std::filesystem::remove_all(directory);
  if (!how.json_file.empty() && !(std::ofstream(how.json_file) << report.dump(1) << '\n')) return EXIT_FAILURE;
  return how.require && wanted.failed() ? EXIT_FAILURE : EXIT_SUCCESS;
}
