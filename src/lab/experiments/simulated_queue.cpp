// SPDX-License-Identifier: Apache-2.0
#include "lab/experiments/simulated_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "kgate/algorithms/am97_fastpath.hpp"
#include "kgate/algorithms/am97_figure3.hpp"
#include "kgate/algorithms/am97_figure8.hpp"
#include "kgate/algorithms/am97_names.hpp"
#include "kgate/algorithms/mcs_lock.hpp"
#include "kgate/detail/contracts.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/objects/assigned.hpp"
#include "kgate/objects/herlihy93.hpp"
#include "kgate/objects/priority_queue.hpp"
#include "lab/checker/explore/parallel_for.hpp"
#include "lab/experiments/queue_workload.hpp"
#include "lab/multiprocessor/machine.hpp"

namespace kgate::lab {

namespace {

using machine = timed_machine;
template <int capacity>
using queue_of = priority_queue<std::int64_t, capacity>;
using queue = queue_of<queue_capacity>;
using Process = machine::Process;

class shared_queue {
 public:
  shared_queue() = default;
  shared_queue(const shared_queue&) = delete;
  shared_queue& operator=(const shared_queue&) = delete;
  virtual ~shared_queue() = default;
  virtual void apply(Process& p, const queue::operation& op) = 0;
};

/// The queue in shared memory, for one process at a time: an operation reads and writes the words that a heap looks at.
/// Each answer is compared with that of the real queue.
template <class M, class Queue>
class heap_in_place {
 public:
  heap_in_place(multiprocessor& on, int /*processes*/, const Queue& initial)
      : real_(initial), words_(in_words<Queue>::size, [&, first = in_words<Queue>(initial)](std::size_t i) {
          return typename M::template Data<std::uint64_t>(on, {.name = "S", .instance = static_cast<int>(i)},
                                                          first.get(i));
        }) {}

  typename Queue::result apply(Process& p, int /*name*/, const typename Queue::operation& op) {
    const bool inserts = op.what == Queue::insert(0).what;
    const auto count = static_cast<std::size_t>(words_[std::size_t{0}].read(p));
    typename Queue::result mine{};
    if (inserts && count + 1 < words_.size()) {
      mine = {1, op.value};
      insert(p, count, op.value);
    } else if (!inserts && count > 0) {
      mine = {1, at(p, 0)};
      delete_min(p, count - 1);
    }
    const typename Queue::result expected = real_.apply(op);
    KGATE_EXPECTS(mine.done == expected.done && mine.value == expected.value,
                  "the simulated queue answers as the real one");
    return mine;
  }

 private:
  std::int64_t at(Process& p, std::size_t i) { return static_cast<std::int64_t>(words_[i + 1].read(p)); }
  void put(Process& p, std::size_t i, std::int64_t value) { words_[i + 1].write(p, static_cast<std::uint64_t>(value)); }

  void insert(Process& p, std::size_t i, std::int64_t value) {
    words_[std::size_t{0}].write(p, i + 1);
    for (; i > 0; i = (i - 1) / 2) {
      const std::int64_t parent = at(p, (i - 1) / 2);
      if (value >= parent) break;
      put(p, i, parent);
    }
    put(p, i, value);
  }

  void delete_min(Process& p, std::size_t left) {
    const std::int64_t last = at(p, left);
    words_[std::size_t{0}].write(p, left);
    std::size_t i = 0;
    for (std::size_t child; (child = 2 * i + 1) < left; i = child) {
      std::int64_t least = at(p, child);
      if (child + 1 < left)
        if (const std::int64_t right = at(p, child + 1); right < least) least = right, ++child;
      if (least >= last) break;
      put(p, i, least);
    }
    put(p, i, last);
  }

  Queue real_;
  fixed_array<typename M::template Data<std::uint64_t>> words_;  ///< how many there are, and the heap
};

class locked_queue final : public shared_queue {
 public:
  locked_queue(multiprocessor& on, int P) : lock_(on, P, 1), object_(on, 1, half_full<queue>(queue_capacity)) {}
  void apply(Process& p, const queue::operation& op) override {
    nothing_private mine;
    lock_.acquire(p, mine);
    object_.apply(p, 0, op);
    lock_.release(p, mine);
  }

 private:
  mcs_lock<machine> lock_;
  heap_in_place<machine, queue> object_;
};

class herlihy_queue final : public shared_queue {
 public:
  herlihy_queue(multiprocessor& on, int N) : object_(on, N, half_full<queue>(queue_capacity)) {}
  void apply(Process& p, const queue::operation& op) override { object_.apply(p, p.number(), op); }

 private:
  herlihy93<machine, queue> object_;
};

template <int capacity, template <class, class> class Object, class Exclusion>
class assigned_queue final : public shared_queue {
 public:
  assigned_queue(multiprocessor& on, int P, int k) : object_(on, P, k, half_full<queue_of<capacity>>(capacity)) {}
  void apply(Process& p, const queue::operation& op) override {
    typename queue_of<capacity>::operation same;  // a type of each size of queue, with the same fields
    same.what = static_cast<decltype(same.what)>(op.what);
    same.value = op.value;
    object_.apply(p, same);
  }

 private:
  assigned<machine, Object<machine, queue_of<capacity>>, am97::names<machine, Exclusion>, queue_of<capacity>> object_;
};

template <class M, class T>
using copied = herlihy93<M, T>;

template <template <class> class Block, int capacity>
std::unique_ptr<shared_queue> make_assigned(multiprocessor& on, int P, const queue_contender& what) {
  using nested = am97::fastpath_nested<machine, Block>;
  if (what.k == 1) return std::make_unique<assigned_queue<capacity, heap_in_place, nested>>(on, P, what.k);
  if (what.tree)
    return std::make_unique<assigned_queue<capacity, copied, am97::fastpath_tree<machine, Block>>>(on, P, what.k);
  return std::make_unique<assigned_queue<capacity, copied, nested>>(on, P, what.k);
}

template <template <class> class Block>
std::unique_ptr<shared_queue> make_assigned(multiprocessor& on, const simulated_run& run) {
  return run.large ? make_assigned<Block, large_queue_capacity>(on, run.processes, run.what)
                   : make_assigned<Block, queue_capacity>(on, run.processes, run.what);
}

std::unique_ptr<shared_queue> make(multiprocessor& on, const simulated_run& run) {
  if (run.what.k > 0)
    return run.figure == queue_figure::fig10 ? make_assigned<am97::figure3>(on, run)
                                             : make_assigned<am97::figure8>(on, run);
  if (run.what.herlihy > 0) return std::make_unique<herlihy_queue>(on, run.what.herlihy);
  return std::make_unique<locked_queue>(on, run.processes);
}

}  // namespace

std::string queue_contender::id() const {
  return k > 0         ? fmt::format("{}-{}", tree ? "tree" : "k", k)
         : herlihy > 0 ? fmt::format("herlihy-{}", herlihy)
                       : "mcs";
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
  const long report_every = std::max(1L, run.operations / 100);
  long done = 0;
  on.run([&](int t) {
    Process p(pid(t), on);
    const long share = run.operations / run.processes + (t < run.operations % run.processes ? 1 : 0);
    queue_workload<queue> mine(run.seed * 1'000'003 + static_cast<std::uint64_t>(t));
    for (long i = 0; i < share; ++i) {
      q->apply(p, mine.next());
      if (++done % report_every == 0 && run.go_on && !run.go_on(done)) on.stop();
    }
  });
  const multiprocessor::totals& t = on.so_far();
  const double seconds = static_cast<double>(t.time) * 1e-9;
  return {.complete = done == run.operations,
          .seconds = seconds,
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

namespace {

/// Runs that wait their turn, and how far they are.
class run_list {
 public:
  explicit run_list(const simulated_queue_request& base) : base_(base) {}

  void add(simulated_run run, std::string what) { runs_.push_back({std::move(run), std::move(what), {}}); }

  const simulated_run& of(std::size_t i) const { return runs_[i].run; }

  /// The outcomes in the order of add(); none for those that were not begun or not finished when the user asked to
  /// stop.
  std::vector<std::optional<simulated_outcome>> outcomes() {
    // The last take longest: begun first, they keep no thread waiting at the end.
    parallel_for(all_processors(), runs_.size(),
                 [this](std::size_t i, bool) { carry_out(runs_[runs_.size() - 1 - i]); });
    std::vector<std::optional<simulated_outcome>> all;
    for (const entry& e : runs_) all.push_back(e.outcome);
    return all;
  }

 private:
  struct entry {
    simulated_run run;
    std::string what;
    std::optional<simulated_outcome> outcome;
  };

  bool interrupted() const { return base_.interrupted != nullptr && base_.interrupted->load(); }

  void carry_out(entry& e) {
    if (interrupted()) return;
    say(e, 0);
    e.run.go_on = [&](long done) {
      say(e, done);
      return !interrupted();
    };
    const simulated_outcome out = simulate_queue(e.run);
    if (out.complete) e.outcome = out;
    ++done_;
  }

  void say(const entry& e, long done) {
    if (!base_.report) return;
    const std::lock_guard guard(mutex_);
    base_.report(fmt::format("{}, {}%", e.what, 100 * done / e.run.operations), done_, static_cast<int>(runs_.size()));
  }

  const simulated_queue_request& base_;
  std::vector<entry> runs_;
  std::atomic<int> done_{0};
  std::mutex mutex_;
};

}  // namespace

queue_curves run_simulated_queue(const simulated_queue_request& request) {
  queue_curves result{.figure = request.figure, .processors = request.processors, .curves = {}, .large = {}};
  const queue_setting setting = setting_of(request.figure);
  const long operations = request.operations > 0 ? request.operations : setting.operations;
  const std::vector<queue_contender> all =
      request.contenders.empty() ? contenders_of(request.figure) : request.contenders;
  run_list runs(request);
  struct curve_position {
    std::size_t curve;
    int processes;
  };
  std::vector<curve_position> positions;  // of each run
  for (const bool large : {false, true}) {
    std::vector<queue_curve>& curves = large ? result.large : result.curves;
    for (const queue_contender& what : all) {
      if (large && what.k == 0) continue;
      curves.push_back({.id = what.id(),
                        .name = what.name(setting.block),
                        .k = what.k,
                        .herlihy = what.k > 1 ? what.k : what.herlihy,
                        .points = {}});
      for (const int P : large ? counts_of_large(request.processes) : request.processes) {
        if (what.herlihy > 0 && P > what.herlihy) continue;  // more processes than the object was made for
        for (int repetition = 0; repetition < request.repetitions; ++repetition) {
          runs.add({.figure = request.figure,
                    .what = what,
                    .costs = request.costs,
                    .processors = request.processors,
                    .processes = P,
                    .operations = operations,
                    .seed = request.seed + static_cast<std::uint64_t>(repetition),
                    .large = large},
                   fmt::format("{}, {} processes{}", curves.back().name, P, large ? ", large queue" : ""));
          positions.push_back({curves.size() - 1, P});
        }
      }
    }
  }
  const auto outcomes = runs.outcomes();
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    if (outcomes[i])
      (runs.of(i).large ? result.large : result.curves)[positions[i].curve].points.push_back(
          {.processes = positions[i].processes,
           .operations = operations,
           .done = operations,
           .seconds = outcomes[i]->seconds});
  return result;
}

machine_costs scaled_costs(machine_costs costs) {
  costs.one_bus = false;
  return with_quantum(costs, costs.quantum / 10);
}

std::vector<scale_point> run_queue_scale(const simulated_queue_request& base, const std::vector<int>& processors,
                                         int herlihy_processors_max) {
  run_list runs(base);
  std::vector<scale_point> points;
  for (const int C : processors)
    for (const queue_contender& what :
         {queue_contender{}, {.herlihy = 2 * C}, {.k = 16, .tree = true}, {.k = 1}, {.k = 4}, {.k = 16}}) {
      if (what.herlihy > 0 && C > herlihy_processors_max)
        continue;  // its memory grows with the square of the processes
      points.push_back({.id = what.herlihy > 0 ? "herlihy" : what.id(),
                        .processors = C,
                        .processes = 2 * C,
                        .microseconds = 0,
                        .remote = 0});
      runs.add({.figure = base.figure,
                .what = what,
                .costs = scaled_costs(base.costs),
                .processors = C,
                .processes = 2 * C,
                .operations = 8L * C,
                .seed = base.seed},
               fmt::format("{}, {} processors", what.id(), C));
    }
  const auto outcomes = runs.outcomes();
  std::vector<scale_point> measured;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i]) continue;
    measured.push_back(points[i]);
    const double operations = 4.0 * points[i].processes;
    measured.back().microseconds = outcomes[i]->seconds * 1e6 / operations;
    measured.back().remote = static_cast<double>(outcomes[i]->remote) / operations;
  }
  return measured;
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
