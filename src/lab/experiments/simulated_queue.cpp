// SPDX-License-Identifier: Apache-2.0
#include "lab/experiments/simulated_queue.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "kgate/algorithms/am97_fastpath.hpp"
#include "kgate/algorithms/am97_figure3.hpp"
#include "kgate/algorithms/am97_figure8.hpp"
#include "kgate/algorithms/am97_names.hpp"
#include "kgate/algorithms/mcs_lock.hpp"
#include "kgate/objects/assigned.hpp"
#include "kgate/objects/in_place.hpp"
#include "kgate/objects/priority_queue.hpp"
#include "lab/experiments/queue_workload.hpp"
#include "lab/multiprocessor/machine.hpp"

namespace kgate::lab {

namespace {

using machine = timed_machine;
using queue = priority_queue<std::int64_t, queue_places>;
using Process = machine::Process;

class shared_queue {
 public:
  shared_queue() = default;
  shared_queue(const shared_queue&) = delete;
  shared_queue& operator=(const shared_queue&) = delete;
  virtual ~shared_queue() = default;
  virtual void apply(Process& p, const queue::operation& op) = 0;
};

class locked_queue final : public shared_queue {
 public:
  locked_queue(multiprocessor& on, int P) : lock_(on, P, 1), object_(on, 1, half_full<queue>()) {}
  void apply(Process& p, const queue::operation& op) override {
    nothing_private mine;
    lock_.acquire(p, mine);
    object_.apply(p, 0, op);
    lock_.release(p, mine);
  }

 private:
  mcs_lock<machine> lock_;
  in_place<machine, queue> object_;
};

class herlihy_queue final : public shared_queue {
 public:
  herlihy_queue(multiprocessor& on, int N) : object_(on, N, half_full<queue>()) {}
  void apply(Process& p, const queue::operation& op) override { object_.apply(p, p.number(), op); }

 private:
  herlihy93<machine, queue> object_;
};

template <template <class> class Block, class Object>
class assigned_queue final : public shared_queue {
 public:
  assigned_queue(multiprocessor& on, int P, int k) : object_(on, P, k, half_full<queue>()) {}
  void apply(Process& p, const queue::operation& op) override { object_.apply(p, op); }

 private:
  assigned<machine, Object, am97::names<machine, am97::fastpath_nested<machine, Block>>, queue> object_;
};

template <template <class> class Block>
std::unique_ptr<shared_queue> make_assigned(multiprocessor& on, int P, int k) {
  if (k == 1) return std::make_unique<assigned_queue<Block, in_place<machine, queue>>>(on, P, k);
  return std::make_unique<assigned_queue<Block, herlihy93<machine, queue>>>(on, P, k);
}

std::unique_ptr<shared_queue> make(multiprocessor& on, const simulated_run& run) {
  if (run.what.k > 0)
    return run.figure == queue_figure::fig10 ? make_assigned<am97::figure3>(on, run.processes, run.what.k)
                                             : make_assigned<am97::figure8>(on, run.processes, run.what.k);
  if (run.what.herlihy > 0) return std::make_unique<herlihy_queue>(on, run.what.herlihy);
  return std::make_unique<locked_queue>(on, run.processes);
}

}  // namespace

std::string queue_contender::id() const {
  return k > 0 ? fmt::format("k-{}", k) : herlihy > 0 ? fmt::format("herlihy-{}", herlihy) : "mcs";
}

std::string queue_contender::name(const char* block) const {
  return k > 0         ? fmt::format("k = {}, {}", k, block)
         : herlihy > 0 ? fmt::format("Herlihy, N = {}", herlihy)
                       : "MCS lock";
}

std::vector<queue_contender> contenders_of(queue_figure figure) {
  std::vector<queue_contender> all{{}};
  for (const int N : setting_of(figure).herlihy) all.push_back({.herlihy = N});
  for (const int k : queue_resilience) all.push_back({.k = k});
  return all;
}

simulated_outcome simulate_queue(const simulated_run& run) {
  multiprocessor on(run.costs, run.processors, run.processes, run.seed);
  const std::unique_ptr<shared_queue> q = make(on, run);
  on.run([&](int t) {
    Process p(pid(t), on);
    const long share = run.operations / run.processes + (t < run.operations % run.processes ? 1 : 0);
    queue_workload<queue> mine(run.seed * 1'000'003 + static_cast<std::uint64_t>(t));
    for (long i = 0; i < share; ++i) q->apply(p, mine.next());
  });
  const multiprocessor::totals& t = on.so_far();
  const double seconds = static_cast<double>(t.time) * 1e-9;
  return {.seconds = seconds,
          .accesses = t.accesses,
          .remote = t.remote,
          .preemptions = t.preemptions,
          .queued = static_cast<double>(t.queued) * 1e-9 / (seconds * run.processors)};
}

simulated_queue_request paper_request(queue_figure figure) {
  simulated_queue_request request;
  request.figure = figure;
  const bool bus = figure == queue_figure::fig10;
  request.costs = bus ? sequent_like : bbn_like;
  request.processors = bus ? 10 : 40;
  for (const int each : {2, 3, 4, 5, 6, 8}) request.processes.push_back(each * request.processors / 2);
  return request;
}

queue_curves run_simulated_queue(const simulated_queue_request& request) {
  queue_curves result{.figure = request.figure, .processors = request.processors, .curves = {}};
  const queue_setting setting = setting_of(request.figure);
  const long operations = request.operations > 0 ? request.operations : setting.operations;
  const std::vector<queue_contender> all = request.contenders.empty() ? contenders_of(request.figure) : request.contenders;
  const int runs = request.repetitions * static_cast<int>(all.size() * request.processes.size());
  int done = 0;
  for (const queue_contender& what : all) {
    queue_curve curve{.id = what.id(),
                      .name = what.name(setting.block),
                      .k = what.k,
                      .herlihy = what.k > 1 ? what.k : what.herlihy,
                      .points = {}};
    for (const int P : request.processes) {
      if (what.herlihy > 0 && P > what.herlihy) continue;  // more processes than the object was made for
      for (int repetition = 0; repetition < request.repetitions; ++repetition) {
        if (request.interrupted != nullptr && request.interrupted->load()) break;
        if (request.report) request.report(curve.name, done, runs);
        const simulated_outcome out = simulate_queue({.figure = request.figure,
                                                      .what = what,
                                                      .costs = request.costs,
                                                      .processors = request.processors,
                                                      .processes = P,
                                                      .operations = operations,
                                                      .seed = request.seed + static_cast<std::uint64_t>(repetition)});
        curve.points.push_back({.processes = P, .operations = operations, .done = operations, .seconds = out.seconds});
        ++done;
      }
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

machine_costs scaled_costs(machine_costs costs) {
  costs.one_bus = false;
  return with_quantum(costs, costs.quantum / 10);
}

std::vector<scale_point> run_queue_scale(const simulated_queue_request& base, const std::vector<int>& processors) {
  constexpr int herlihy_processors_max = 256;  // its memory grows with the square of the processes
  std::vector<scale_point> points;
  const int all = 5 * static_cast<int>(processors.size());
  int done = 0;
  for (const int C : processors)
    for (const queue_contender& what :
         {queue_contender{}, {.herlihy = 2 * C}, {.k = 1}, {.k = 4}, {.k = 16}}) {
      if (base.interrupted != nullptr && base.interrupted->load()) return points;
      if (base.report) base.report(fmt::format("{}, {} processors", what.id(), C), done, all);
      ++done;
      if (what.herlihy > 0 && C > herlihy_processors_max) continue;
      const simulated_run run{.figure = base.figure,
                              .what = what,
                              .costs = scaled_costs(base.costs),
                              .processors = C,
                              .processes = 2 * C,
                              .operations = 8L * C,
                              .seed = base.seed};
      const simulated_outcome out = simulate_queue(run);
      const auto operations = static_cast<double>(run.operations);
      points.push_back({.id = what.herlihy > 0 ? "herlihy" : what.id(),
                        .processors = C,
                        .processes = run.processes,
                        .microseconds = out.seconds * 1e6 / operations,
                        .remote = static_cast<double>(out.remote) / operations});
    }
  return points;
}

nlohmann::json to_json(const machine_costs& costs) {
  return {{"name", costs.name},
          {"model", to_string(costs.model)},
          {"one_bus", costs.one_bus},
          {"words_per_line", costs.words_per_line},
          {"step_ns", costs.step},
          {"local_ns", costs.local},
          {"remote_ns", costs.remote},
          {"occupied_ns", costs.occupied},
          {"rmw_ns", costs.rmw},
          {"quantum_ns", costs.quantum},
          {"context_switch_ns", costs.context_switch}};
}

nlohmann::json to_json(const std::vector<scale_point>& points) {
  nlohmann::json j = nlohmann::json::array();
  for (const scale_point& p : points)
    j.push_back({{"id", p.id},
                 {"processors", p.processors},
                 {"processes", p.processes},
                 {"microseconds", p.microseconds},
                 {"remote", p.remote}});
  return j;
}

}  // namespace kgate::lab
