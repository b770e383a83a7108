// SPDX-License-Identifier: Apache-2.0
#include "lab/report/report_data.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>

#include "lab/checker/explore/parallel_for.hpp"
#include "lab/checker/properties/check.hpp"
#include "lab/experiments/native_queue.hpp"
#include "lab/experiments/queue_observations.hpp"
#include "lab/experiments/rmr_table.hpp"
#include "lab/experiments/simulated_queue.hpp"
#include "lab/experiments/space.hpp"
#include "lab/experiments/this_machine.hpp"
#include "lab/models/models.hpp"
#include "lab/models/promises.hpp"

namespace kgate::lab::report {

namespace {

using nlohmann::json;

/// The medians of a curve's repetitions, in order of the number of processes.
json medians(const queue_curve& curve) {
  std::set<int> counts;
  for (const queue_point& p : curve.points) counts.insert(p.processes);
  json all = json::array();
  for (const int P : counts)
    if (const auto seconds = median_seconds(curve, P)) all.push_back({{"processes", P}, {"seconds", *seconds}});
  return all;
}

/// The curves as JSON, each with its medians.
json with_medians(const queue_curves& curves) {
  json j = to_json(curves);
  for (std::size_t i = 0; i < curves.curves.size(); ++i) j["curves"][i]["medians"] = medians(curves.curves[i]);
  for (std::size_t i = 0; i < curves.large.size(); ++i)
    j["large_queue"]["curves"][i]["medians"] = medians(curves.large[i]);
  return j;
}

class gatherer {
 public:
  gatherer(const report_effort& effort, const std::atomic<bool>& interrupted,
           const std::function<void(const std::string&)>& report)
      : effort_(effort), interrupted_(interrupted), report_(report) {}

  json catalogue() {
    json all = json::array();
    const auto rows = algorithm_rows();
    for (std::size_t i = 0; i < rows.size() && !interrupted_; ++i) {
      say(fmt::format("checking {} ({} of {})", rows[i]->id, i + 1, rows.size()));
      all.push_back(verdicts(catalog::choice{rows[i], false}));
    }
    return all;
  }

  json rmr() {
    rmr_table_options options;
    options.seconds_max = effort_.rmr_seconds;
    options.sampled_steps = static_cast<std::uint64_t>(effort_.sampled_steps);
    options.interrupted = &interrupted_;
    options.report = [this](const std::string& what) { say("remote references: " + what); };
    json series = json::array();
    for (const memory_model model : {memory_model::cc, memory_model::dsm}) {
      series.push_back(against(model, "N", "k = 2", {3, 4, 6, 8, 12, 16, 24, 32, 48, 64}));
      series.push_back(against(model, "k", "N = 32", {1, 2, 4, 8, 16}));
      series.push_back(against(model, "contention", "N = 12, k = 2", {1, 2, 3, 4, 6, 8, 10, 12}));
    }
    return {{"claims", to_json(rmr_table(options))}, {"series", std::move(series)}};
  }

  json space() {
    run_limits limits;
    limits.memory_max = std::uint64_t{1} << 30;
    limits.seconds_max = effort_.space_seconds;
    limits.interrupted = &interrupted_;
    json all = json::array();
    for (const std::string_view algorithm : space_algorithms())
      for (int k = 1; k <= 2; ++k)
        for (int N = k + 1; N <= effort_.space_N && !interrupted_; ++N) {
          say(fmt::format("space of {} for N = {}, k = {}", algorithm, N, k));
          all.push_back(to_json(measure_space(std::string(algorithm), N, k, limits)));
        }
    return all;
  }

  json figures() {
    constexpr queue_figure both[] = {queue_figure::fig10, queue_figure::fig11};
    json result;
    queue_curves simulated[2];
    for (int i = 0; i < 2; ++i) simulated[i] = simulate(both[i], result[setting_of(both[i]).name]["simulated"]);
    for (int i = 0; i < 2; ++i) {
      json& here = result[setting_of(both[i]).name];
      here["simulated"]["observations"] = to_json(observe(simulated[i], &simulated[1 - i]));
      here["native"] = measure(both[i]);
    }
    return result;
  }

  json scale() {
    json result;
    for (const queue_figure figure : {queue_figure::fig10, queue_figure::fig11}) {
      simulated_queue_request base = paper_request(figure);
      base.interrupted = &interrupted_;
      base.report = [&](const std::string& what, int, int) { say("more processors, simulated: " + what); };
      result[setting_of(figure).name] = to_json(run_queue_scale(base, effort_.scale, effort_.scale_herlihy));
    }
    return result;
  }

  const json& example() const { return example_; }

 private:
  void say(const std::string& what) const {
    if (report_) report_(what);
  }

  /// One figure on the simulated machine; `data` becomes what the report shows of it, but for the observations.
  queue_curves simulate(queue_figure figure, json& data) {
    const queue_setting setting = setting_of(figure);
    simulated_queue_request request = paper_request(figure);
    request.operations = setting.operations / effort_.operations_divisor;
    request.costs = with_quantum(request.costs, request.costs.quantum / effort_.operations_divisor);
    request.repetitions = effort_.simulated_repetitions;
    request.interrupted = &interrupted_;
    request.report = [&](const std::string& what, int at, int of) {
      say(fmt::format("{} simulated: {} of {} points, {}", setting.name, at, of, what));
    };
    queue_curves curves = run_simulated_queue(request);
    data = with_medians(curves);
    data["title"] = figure == queue_figure::fig10 ? "Figure 10 on a simulated Sequent-like machine"
                                                  : "Figure 11 on a simulated BBN-like machine";
    data["machine"] = to_json(request.costs);
    data["conditions"] = {{"operations", request.operations},
                          {"repetitions", request.repetitions},
                          {"quantum_ms", request.costs.quantum / 1'000'000}};
    return curves;
  }

  /// One figure on this machine, as the report shows it.
  json measure(queue_figure figure) {
    const queue_setting setting = setting_of(figure);
    native_queue_request request;
    request.figure = figure;
    request.operations = native_operations(figure);
    request.repetitions = effort_.native_repetitions;
    request.seconds_max = effort_.native_seconds;
    request.interrupted = &interrupted_;
    request.report = [&](const std::string& curve, int at, int of) {
      say(fmt::format("{} on this machine: {} of {} points, {}", setting.name, at, of, curve));
    };
    const queue_curves curves = run_native_queue(request);
    json data = with_medians(curves);
    data["title"] = figure == queue_figure::fig10 ? "Figure 10 on this machine" : "Figure 11 on this machine";
    data["observations"] = to_json(observe(curves));
    data["conditions"] = {
        {"operations", request.operations}, {"repetitions", request.repetitions}, {"seconds_max", request.seconds_max}};
    return data;
  }

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
               {"promises", fmt::format("{}; {}", fmt::join(lab::promised_properties(algorithm.promise()), ", "),
                                        despite_text(row.promise.despite))}};
    const std::vector<std::pair<int, int>> tried = sizes(row);
    for (const auto& [N, k] : tried) {
      if (open.empty() || interrupted_) break;
      check_request request;
      request.of = {algorithm.id(), N, k, row.bounded_variables ? 0 : 1, {}, row.needs == catalog::registers::safe};
      if (request.of.safe_registers) request.of.passages = 1;
      request.crashes = std::min(catalog::crashes_max(algorithm.promise(), N, k), k - 1);
      request.properties = open;
      request.limits.threads = all_processors();
      request.limits.memory_max = std::uint64_t{1} << 30;
      // There is nothing smaller to fall back to than the last: it gets the time it needs on a busy machine too.
      const bool last = std::pair{N, k} == tried.back();
      request.limits.seconds_max = (last && tried.size() > 1 ? 10 : 1) * effort_.check_seconds;
      request.limits.interrupted = &interrupted_;
      const int passages = request.of.passages;
      program checked(
          make_model(algorithm, N, k, request.of.safe_registers ? safe_registers(N, passages) : register_kind{}), N, k,
          program_options{passages, {}});
      const check_result result = check(checked, request);
      if (!entry.contains("N"))
        entry.update({{"N", N},
                      {"k", k},
                      {"passages", request.of.passages},
                      {"crashes", request.crashes},
                      {"states", result.states},
                      {"complete", result.complete}});
      open.clear();
      for (const property_result& one : result.properties) {
        const auto at = static_cast<std::size_t>(std::find(order.begin(), order.end(), one.name) - order.begin());
        const bool decided = one.is != verdict::undecided;
        if (!decided) open.push_back(one.name);
        if (!decided && !list[at].is_null()) continue;  // the reason at the first size is the one to tell
        list[at] = {{"name", one.name},
                    {"verdict", verdict_id(one)},
                    {"N", N},
                    {"k", k},
                    {"promised", is_promised(algorithm, one.name, N, k, request.crashes)},
                    // Some entries are there for the error that is in them.
                    {"kept_for_errors", row.note.starts_with("for study")}};
        if (!one.why.empty()) list[at]["why"] = one.why;
        if (one.within_passages > 0) list[at]["within_passages"] = one.within_passages;
        if (one.counterexample && example_.is_null()) example_ = to_json(*one.counterexample, checked);
      }
    }
    entry["verdicts"] = std::move(list);
    return entry;
  }

  json against(memory_model model, const char* what, const char* fixed, const std::vector<int>& values) {
    const char* suffix = model == memory_model::cc ? "cc" : "dsm";
    const std::array shapes{"chain", "tree", "fastpath-tree", "fastpath-nested"};
    say(fmt::format("remote references against {} ({})", what, suffix));
    std::vector<json> points(shapes.size() * values.size());
    parallel_for(all_processors(), points.size(), [&](std::size_t i, bool) {
      if (interrupted_) return;
      const catalog::choice algorithm = find_algorithm(fmt::format("am97-{}-{}", shapes[i / values.size()], suffix));
      const int x = values[i % values.size()];
      const bool by_N = std::string_view(what) == "N", by_k = std::string_view(what) == "k";
      const int N = by_N ? x : by_k ? 32 : 12, k = by_k ? x : 2, contention = by_N || by_k ? 0 : x;
      const rmr_measurement m =
          sample_rmr(algorithm, N, k, {model, true}, contention, static_cast<std::uint64_t>(effort_.sampled_steps));
      points[i] = to_json(m, algorithm, model, "");
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

}  // namespace kgate::lab::report
