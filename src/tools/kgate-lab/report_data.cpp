// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/report_data.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "lab/checker/explore/share_out.hpp"
#include "lab/checker/properties/check.hpp"
#include "lab/experiments/native_queue.hpp"
#include "lab/experiments/queue_observations.hpp"
#include "lab/experiments/rmr_table.hpp"
#include "lab/experiments/simulated_queue.hpp"
#include "lab/experiments/space.hpp"
#include "lab/models/models.hpp"
#include "tools/kgate-lab/arguments.hpp"
#include "tools/kgate-lab/output/catalog_text.hpp"
#include "tools/kgate-lab/output/machine_text.hpp"
#include "tools/kgate-lab/output/text.hpp"

namespace kgate::tool {

namespace {

using nlohmann::json;

class gatherer {
 public:
  gatherer(const report_effort& effort, const std::atomic<bool>& interrupted,
           const std::function<void(const std::string&)>& report)
      : effort_(effort), interrupted_(interrupted), report_(report) {}

  json catalogue() {
    json all = json::array();
    const auto rows = lab::algorithm_rows();
    for (std::size_t i = 0; i < rows.size() && !interrupted_; ++i) {
      say(fmt::format("checking {} ({} of {})", rows[i]->id, i + 1, rows.size()));
      all.push_back(verdicts(catalog::choice{rows[i], false}));
    }
    return all;
  }

  json rmr() {
    lab::rmr_table_options options;
    options.seconds_max = effort_.rmr_seconds;
    options.sampled_steps = static_cast<std::uint64_t>(effort_.sampled_steps);
    options.interrupted = &interrupted_;
    options.report = [this](const std::string& what) { say("remote references: " + what); };
    json series = json::array();
    for (const lab::memory_model model : {lab::memory_model::cc, lab::memory_model::dsm}) {
      series.push_back(against(model, "N", "k = 2", {3, 4, 6, 8, 12, 16, 24, 32, 48, 64}));
      series.push_back(against(model, "k", "N = 32", {1, 2, 4, 8, 16}));
      series.push_back(against(model, "contention", "N = 12, k = 2", {1, 2, 3, 4, 6, 8, 10, 12}));
    }
    return {{"claims", lab::to_json(lab::rmr_table(options))}, {"series", std::move(series)}};
  }

  json space() {
    lab::run_limits limits;
    limits.memory_max = std::uint64_t{1} << 30;
    limits.seconds_max = effort_.space_seconds;
    limits.interrupted = &interrupted_;
    json all = json::array();
    for (const std::string_view algorithm : lab::space_algorithms())
      for (int k = 1; k <= 2; ++k)
        for (int N = k + 1; N <= effort_.space_N && !interrupted_; ++N) {
          say(fmt::format("space of {} for N = {}, k = {}", algorithm, N, k));
          all.push_back(lab::to_json(lab::measure_space(std::string(algorithm), N, k, limits)));
        }
    return all;
  }

  json figures() {
    lab::queue_curves native[2], simulated[2];
    const lab::queue_figure both[] = {lab::queue_figure::fig10, lab::queue_figure::fig11};
    lab::simulated_queue_request requests[2];
    for (int i = 0; i < 2; ++i) {
      requests[i] = lab::paper_request(both[i]);
      requests[i].operations = lab::setting_of(both[i]).operations / effort_.operations_divisor;
      requests[i].costs = lab::with_quantum(requests[i].costs, requests[i].costs.quantum / effort_.operations_divisor);
      requests[i].repetitions = effort_.simulated_repetitions;
      requests[i].interrupted = &interrupted_;
      requests[i].report = [&, i](const std::string& what, int at, int of) {
        say(fmt::format("{} simulated: {} of {} points, {}", lab::setting_of(both[i]).name, at, of, what));
      };
      simulated[i] = lab::run_simulated_queue(requests[i]);
    }
    json result;
    for (int i = 0; i < 2; ++i) {
      lab::native_queue_request request;
      request.figure = both[i];
      request.operations = native_operations(both[i]);
      request.repetitions = effort_.native_repetitions;
      request.seconds_max = effort_.native_seconds;
      request.interrupted = &interrupted_;
      request.report = [&](const std::string& curve, int at, int of) {
        say(fmt::format("{} on this machine: {} of {} points, {}", lab::setting_of(both[i]).name, at, of, curve));
      };
      native[i] = lab::run_native_queue(request);
      json& here = result[lab::setting_of(both[i]).name];
      here["native"] = lab::to_json(native[i]);
      here["native"]["observations"] = lab::to_json(lab::observe(native[i]));
      here["simulated"] = lab::to_json(simulated[i]);
      here["simulated"]["machine"] = lab::to_json(requests[i].costs);
      here["simulated"]["observations"] = lab::to_json(lab::observe(simulated[i], &simulated[1 - i]));
    }
    result["conditions"] = fmt::format(
        "On this machine: {} operations (figure 10) and {} (figure 11), a hundredfold of the paper's, which today's "
        "processors would "
        "finish within a time slice; threads for processes, {} of each point and at most {} s each; where time was up "
        "the rate seen is "
        "taken for the whole. Simulated: {} and {} operations with a quantum of {} ms, 10 and 40 "
        "processors as in the paper, {} of each point; what comes out with the paper's own numbers is in "
        "docs/experiments.md. The curves "
        "show medians.",
        grouped(static_cast<std::uint64_t>(native_operations(both[0]))),
        grouped(static_cast<std::uint64_t>(native_operations(both[1]))), counted(effort_.native_repetitions),
        effort_.native_seconds, grouped(static_cast<std::uint64_t>(requests[0].operations)),
        grouped(static_cast<std::uint64_t>(requests[1].operations)), requests[0].costs.quantum / 1'000'000,
        counted(effort_.simulated_repetitions));
    return result;
  }

  json scale() {
    json result;
    for (const lab::queue_figure figure : {lab::queue_figure::fig10, lab::queue_figure::fig11}) {
      lab::simulated_queue_request base = lab::paper_request(figure);
      base.interrupted = &interrupted_;
      base.report = [&](const std::string& what, int, int) { say("more processors, simulated: " + what); };
      result[lab::setting_of(figure).name] =
          lab::to_json(lab::run_queue_scale(base, effort_.scale, effort_.scale_herlihy));
    }
    return result;
  }

  const json& example() const { return example_; }

 private:
  void say(const std::string& what) const {
    if (report_) report_(what);
  }
  static std::string counted(int n) { return n == 1 ? "1 run" : fmt::format("{} runs", n); }

  /// The sizes at which an algorithm is checked: a smaller one says something of what the time did not suffice for at
  /// the first.
  std::vector<std::pair<int, int>> sizes(const catalog::row& row) const {
    std::vector<std::pair<int, int>> all;
    for (const auto& [N, k] : {std::pair{effort_.check_N, 2}, {3, 1}, {2, 1}}) {
      const int processes = std::min(N, row.allowed.N_max);
      const std::pair size{processes, std::clamp(k, 1, std::max(1, std::min(row.allowed.k_max, processes - 1)))};
      if (N <= effort_.check_N && (all.empty() || size < all.back())) all.push_back(size);
    }
    return all;
  }

  json verdicts(const catalog::choice& algorithm) {
    const catalog::row& row = *algorithm.base;
    std::vector<std::string> open = default_properties(algorithm, false);
    std::vector<json> list(open.size());
    const std::vector<std::string> order = open;
    json entry{{"id", algorithm.id()},
               {"title", row.title},
               {"source", source_text(row)},
               {"note", row.note},
               {"promises", fmt::format("{}; {}", fmt::join(promised_properties(algorithm.promise()), ", "),
                                        despite_text(row.promise.despite))}};
    for (const auto& [N, k] : sizes(row)) {
      if (open.empty() || interrupted_) break;
      lab::check_request request;
      request.of = {algorithm.id(), N, k, row.bounded_variables ? 0 : 1, {}, row.needs == catalog::registers::safe};
      if (request.of.safe_registers) request.of.passages = 1;
      request.crashes = std::min(catalog::crashes_max(algorithm.promise(), N, k), k - 1);
      request.properties = open;
      request.limits.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
      request.limits.memory_max = std::uint64_t{1} << 30;
      request.limits.seconds_max = effort_.check_seconds;
      request.limits.interrupted = &interrupted_;
      const auto program = make_program({algorithm, N, k}, request.of);
      const lab::check_result result = lab::check(*program, request);
      if (!entry.contains("N"))
        entry.update({{"N", N},
                      {"k", k},
                      {"passages", request.of.passages},
                      {"crashes", request.crashes},
                      {"states", result.states},
                      {"complete", result.complete}});
      open.clear();
      for (const lab::property_result& one : result.properties) {
        const auto at = static_cast<std::size_t>(std::find(order.begin(), order.end(), one.name) - order.begin());
        const bool decided = one.is != lab::verdict::undecided;
        if (!decided) open.push_back(one.name);
        if (!decided && !list[at].is_null()) continue;  // the reason at the first size is the one to tell
        list[at] = {{"name", one.name},
                    {"verdict", lab::to_string(one.is)},
                    {"N", N},
                    {"k", k},
                    {"promised", is_promised(algorithm, one.name, N, k, request.crashes)},
                    // Some entries are there for the error that is in them.
                    {"kept_for_errors", row.note.starts_with("for study")}};
        if (!one.why.empty()) list[at]["why"] = one.why;
        if (one.counterexample && example_.is_null()) example_ = lab::to_json(*one.counterexample, *program);
      }
    }
    entry["verdicts"] = std::move(list);
    return entry;
  }

  json against(lab::memory_model model, const char* what, const char* fixed, const std::vector<int>& values) {
    const char* suffix = model == lab::memory_model::cc ? "cc" : "dsm";
    const std::array shapes{"chain", "tree", "fastpath-tree", "fastpath-nested"};
    say(fmt::format("remote references against {} ({})", what, suffix));
    std::vector<json> points(shapes.size() * values.size());
    lab::share_out(lab::all_processors(), points.size(), [&](std::size_t i, bool) {
      if (interrupted_) return;
      const catalog::choice algorithm =
          lab::find_algorithm(fmt::format("am97-{}-{}", shapes[i / values.size()], suffix));
      const int x = values[i % values.size()];
      const bool by_N = std::string_view(what) == "N", by_k = std::string_view(what) == "k";
      const int N = by_N ? x : by_k ? 32 : 12, k = by_k ? x : 2, contention = by_N || by_k ? 0 : x;
      const lab::rmr_measurement m = lab::sample_rmr(algorithm, N, k, {model, true}, contention,
                                                     static_cast<std::uint64_t>(effort_.sampled_steps));
      points[i] = lab::to_json(m, algorithm, model, "");
      points[i]["x"] = x;
    });
    return {{"model", suffix}, {"against", what}, {"fixed", fixed}, {"points", std::move(points)}};
  }

  const report_effort& effort_;
  const std::atomic<bool>& interrupted_;
  const std::function<void(const std::string&)>& report_;
  json example_;
};

}  // namespace

report_effort default_effort() {
  return {.name = "default",
          .check_seconds = 2,
          .check_N = 3,
          .rmr_seconds = 0.3,
          .sampled_steps = 100'000,
          .space_N = 5,
          .space_seconds = 0.5,
          .operations_divisor = 4,
          .simulated_repetitions = 1,
          .scale = {64, 256, 1024},
          .scale_herlihy = 256,
          .native_repetitions = 3,
          .native_seconds = 0.1};
}

report_effort quick_effort() {
  return {.name = "quick",
          .check_seconds = 0.2,
          .check_N = 2,
          .rmr_seconds = 0.02,
          .sampled_steps = 2'000,
          .space_N = 3,
          .space_seconds = 0.1,
          .operations_divisor = 100,
          .simulated_repetitions = 1,
          .scale = {16, 64},
          .scale_herlihy = 64,
          .native_repetitions = 1,
          .native_seconds = 0.02};
}

report_data gather(const report_effort& effort, json bench, const std::atomic<bool>& interrupted,
                   const std::function<void(const std::string&)>& report) {
  const auto begin = std::chrono::steady_clock::now();
  gatherer g(effort, interrupted, report);
  report_data data;
  data.all["effort"] = effort.name;
  data.all["machine"] = this_machine();
  data.all["catalogue"] = g.catalogue();
  data.all["rmr"] = g.rmr();
  data.all["space"] = g.space();
  data.all["scale"] = g.scale();
  data.all["figures"] = g.figures();
  data.all["bench"] = std::move(bench);
  data.all["made"] = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::chrono::system_clock::now()));
  data.all["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  data.example = g.example();
  return data;
}

}  // namespace kgate::tool
