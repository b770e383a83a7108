// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "requirements.hpp"

namespace kgate::bench {

double quantile_of(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

std::vector<sample> series::undisturbed() const {
  std::vector<sample> kept;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(kept),
               [](const sample& s) { return s.undisturbed > 0; });
  return kept.empty() ? samples : kept;
}

template <class Of>
double series::quantile(double q, Of&& of) const {
  std::vector<double> values;
  for (const sample& s : undisturbed()) values.push_back(of(s));
  return quantile_of(std::move(values), q);
}

double series::rate(double q) const { return quantile(q, rate_of); }
double series::cpu_per_operation() const { return quantile(0.5, cpu_of); }
double series::jain() const {
  return quantile(0.5, [](const sample& s) { return s.jain; });
}
double series::most(double sample::*of) const {
  double most = -1;
  for (const sample& s : samples) most = std::max(most, s.*of);
  return most;
}

context this_context() {
  context here;
  std::ifstream cpus("/proc/cpuinfo");
  for (std::string line; std::getline(cpus, line);)
    if (line.rfind("model name", 0) == 0) {
      here.machine = line.substr(line.find(':') + 2);
      break;
    }
  here.machine += ", " + std::to_string(std::thread::hardware_concurrency()) + " processors";
  utsname system{};
  ::uname(&system);
  here.kernel = std::string(system.sysname) + " " + system.release;
  here.compiler = __VERSION__;
#if defined(__clang__)
  here.compiler = "clang " + here.compiler;
#elif defined(__GNUC__)
  here.compiler = "gcc " + here.compiler;
#endif
  here.build = KGATE_BUILD_TYPE;
  here.commit = KGATE_COMMIT;
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%FT%TZ", std::gmtime(&now));
  here.when = text;
  here.line_ns = line_round_trip_ns();
  here.futex_ns = futex_round_trip_ns();
  return here;
}

namespace {

bool is_ours(const series& s) { return s.who->name.rfind("kgate", 0) == 0; }
bool is_floor(const series& s) { return s.who->name.rfind("floor", 0) == 0; }

void print_rates(const result& r, const series* first, const series* second) {
  std::printf("  %-26s %12s %17s %9s %9s\n", "peer", r.what.threads == 1 ? "ns/pair" : "ops/s", "quartiles", "fifo x",
              "thrput x");
  for (const series& s : r.all) {
    const bool alone = r.what.threads == 1;
    const auto shown = [&](double q) { return alone ? 1e9 / s.rate(1 - q) : s.rate(q); };
    // A ratio above 1 says that ours is faster.
    const auto ratio = [&](const series* own) { return own && s.rate() > 0 ? own->rate() / s.rate() : 0; };
    std::printf("  %-26s %12.*f %8.*f-%-8.*f %9.2f %9.2f", s.who->name.c_str(), alone ? 1 : 0, shown(0.5),
                alone ? 1 : 0, shown(0.25), alone ? 1 : 0, shown(0.75), ratio(first), ratio(second));
    if (r.what.threads > 2) std::printf("  Jain %.3f", s.jain());
    if (r.what.asleep_inside_us > 0) std::printf("  CPU %.1f us/op", 1e6 * s.cpu_per_operation());
    if (s.hung > 0) std::printf("  HUNG %d times", s.hung);
    std::printf("\n");
  }
}

void print_overtakings(const result& r) {
  std::printf("  %-26s %s\n", "peer", "most others let in: seen from call to return, and of ours while queued");
  for (const series& s : r.all) {
    std::printf("  %-26s %8.0f", s.who->name.c_str(), s.most(&sample::entered_meanwhile));
    if (s.most(&sample::admitted_meanwhile) >= 0) std::printf(" %8.0f", s.most(&sample::admitted_meanwhile));
    if (s.hung > 0) std::printf("  HUNG %d times", s.hung);
    std::printf("\n");
  }
}

}  // namespace

void print(const context& here) {
  std::printf("machine   %s, %s\ncompiler  %s, %s\ncommit    %s at %s\n", here.machine.c_str(), here.kernel.c_str(),
              here.compiler.c_str(), here.build.c_str(), here.commit.c_str(), here.when.c_str());
  std::printf("floors    cache line round trip %.0f ns, futex round trip %.0f ns\n", here.line_ns, here.futex_ns);
  if (here.build == "Debug") std::printf("warning   built without optimisation: these figures mean nothing\n");
  std::fflush(stdout);
}

void print(const result& r) {
  const series *first = nullptr, *second = nullptr, *best_word = nullptr, *best = nullptr;
  for (const series& s : r.all) {
    if (s.who->name == "kgate fifo") first = &s;
    if (s.who->name == "kgate throughput") second = &s;
    if (is_ours(s) || is_floor(s)) continue;
    if (s.who->one_word && (best_word == nullptr || s.rate() > best_word->rate())) best_word = &s;
    if (best == nullptr || s.rate() > best->rate()) best = &s;
  }
  std::printf("\n%s\n", r.what.id.c_str());
  if (r.what.count_overtakings) {
    print_overtakings(r);
  } else {
    print_rates(r, first, second);
    if (first && second && best && best_word)
      std::printf(
          "  fifo is %.2f and throughput %.2f times %s (best one-word peer); %.2f and %.2f times %s (best peer)\n",
          first->rate() / best_word->rate(), second->rate() / best_word->rate(), best_word->who->name.c_str(),
          first->rate() / best->rate(), second->rate() / best->rate(), best->who->name.c_str());
  }
  std::fflush(stdout);
}

void write_json(const std::string& path, const context& here, const std::vector<result>& results,
                const std::vector<judgement>& judged) {
  nlohmann::json out;
  out["context"] = {{"machine", here.machine},
                    {"kernel", here.kernel},
                    {"compiler", here.compiler},
                    {"build", here.build},
                    {"commit", here.commit},
                    {"when", here.when},
                    {"line_round_trip_ns", here.line_ns},
                    {"futex_round_trip_ns", here.futex_ns}};
  for (const result& r : results) {
    nlohmann::json entry = {{"cell", r.what.id},
                            {"threads", r.what.threads},
                            {"k", r.what.k},
                            {"inside_ns", r.what.inside_ns},
                            {"asleep_inside_us", r.what.asleep_inside_us}};
    for (const series& s : r.all) {
      nlohmann::json peer = {{"peer", s.who->name},
                             {"hung", s.hung},
                             {"median_ops_per_s", s.rate()},
                             {"median_cpu_us", 1e6 * s.cpu_per_operation()},
                             {"entered_meanwhile_max", s.most(&sample::entered_meanwhile)},
                             {"admitted_meanwhile_max", s.most(&sample::admitted_meanwhile)}};
      for (const sample& x : s.samples)
        peer["samples"].push_back({{"operations", x.operations},
                                   {"seconds", x.seconds},
                                   {"cpu_seconds", x.cpu_seconds},
                                   {"jain", x.jain},
                                   {"entered_meanwhile", x.entered_meanwhile},
                                   {"admitted_meanwhile", x.admitted_meanwhile},
                                   {"undisturbed", x.undisturbed > 0}});
      entry["peers"].push_back(std::move(peer));
    }
    out["results"].push_back(std::move(entry));
  }
  for (const judgement& one : judged)
    out["required"].push_back(
        {{"cell", one.cell}, {"ours", one.ours}, {"peer", one.peer}, {"got", one.got}, {"wanted", one.wanted}});
  std::ofstream(path) << out.dump(1) << '\n';
}

}  // namespace kgate::bench
