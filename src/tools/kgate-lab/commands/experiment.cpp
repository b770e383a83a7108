// SPDX-License-Identifier: Apache-2.0
// kgate-lab experiment: figures 10 and 11 of Anderson & Moir, on this machine or on a simulated one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "lab/experiments/native_queue.hpp"
#include "lab/experiments/queue_observations.hpp"
#include "lab/experiments/simulated_queue.hpp"
#include "lab/experiments/this_machine.hpp"
#include "tools/kgate-lab/arguments.hpp"
#include "tools/kgate-lab/commands/commands.hpp"
#include "tools/kgate-lab/interrupt.hpp"
#include "tools/kgate-lab/output/provenance.hpp"
#include "tools/kgate-lab/output/terminal.hpp"
#include "tools/kgate-lab/output/text.hpp"

namespace kgate::tool {

namespace {

using given = std::optional<std::string>;

constexpr int processes_most = 16'384;
constexpr int processors_most = 4'096;

struct command_options {
  std::string name;
  given operations, processes, processors, repetitions, quantum, seed, time_max;
  bool native = false;
  bool simulated = false;
  bool scale = false;
  bool json = false;
};

lab::queue_figure figure_of(const std::string& name) {
  for (const lab::queue_figure f : {lab::queue_figure::fig10, lab::queue_figure::fig11})
    if (name == lab::setting_of(f).name) return f;
  throw usage_error(fmt::format("unknown experiment '{}'; allowed are fig10, fig11", one_line(name)));
}

std::vector<int> counts(const std::string& option, const std::string& text, int max) {
  std::set<int> all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    all.insert(parse_number(option, text.substr(at, end - at), 1, max));
    at = end + 1;
  }
  return {all.begin(), all.end()};
}

/// What both kinds of run are asked.
struct common {
  long operations = 0;
  std::vector<int> processes;
  std::optional<int> repetitions;
};

common common_of(const command_options& a) {
  common c;
  if (a.operations) c.operations = parse_number("--operations", *a.operations, 1, 100'000'000);
  if (a.processes) c.processes = counts("--processes", *a.processes, processes_most);
  if (a.repetitions) c.repetitions = parse_number("--repetitions", *a.repetitions, 1, 1000);
  return c;
}

/// Of a simulation.
seed_used seed_of(const command_options& a) {
  if (!a.simulated) return std::nullopt;
  if (!a.seed) return lab::simulated_queue_request{}.seed;
  return static_cast<std::uint64_t>(parse_number("--seed", *a.seed, 0, 1'000'000'000));
}

std::string made_by(const command_options& a) {
  lab::run_limits limits;
  limits.threads = 0;
  if (a.time_max) limits.seconds_max = parse_duration("--time-max", *a.time_max);
  return made_by_text(limits, seed_of(a));
}

/// Says how far a run is.
class reporter {
 public:
  std::function<void(const std::string&, int, int)> callback() {
    if (!line_.wanted()) return {};
    return [this](const std::string& curve, int done, int all) {
      line_.show(fmt::format("{} of {}: {}", done, all, curve));
    };
  }
  void clear() { line_.clear(); }

 private:
  progress_line line_;
};

lab::queue_curves native(const command_options& a, const common& c) {
  for (const auto& [option, value] :
       {std::pair{"--processors", &a.processors}, {"--quantum", &a.quantum}, {"--seed", &a.seed}})
    if (*value) throw usage_error(fmt::format("{} needs --simulated: here they are what they are", option));
  lab::native_queue_request request;
  request.figure = figure_of(a.name);
  request.operations = c.operations > 0 ? c.operations : lab::native_operations(request.figure);
  request.processes = c.processes;
  request.repetitions = c.repetitions.value_or(request.repetitions);
  if (a.time_max) request.seconds_max = parse_duration("--time-max", *a.time_max);
  request.interrupted = &catch_interrupts();
  reporter now;
  request.report = now.callback();
  return lab::run_native_queue(request);
}

lab::simulated_queue_request simulation(const command_options& a, const common& c) {
  if (a.time_max) throw usage_error("--time-max needs --native: a simulation does all operations");
  lab::simulated_queue_request request = lab::paper_request(figure_of(a.name));
  request.operations = c.operations;
  if (!c.processes.empty()) request.processes = c.processes;
  request.repetitions = c.repetitions.value_or(1);
  if (a.processors) {
    request.processors = parse_number("--processors", *a.processors, 1, processors_most);
    if (c.processes.empty()) request.processes = {request.processors, 2 * request.processors, 4 * request.processors};
  }
  if (a.quantum) {
    const double seconds = parse_duration("--quantum", *a.quantum);
    if (seconds < 1e-6 || seconds > 1000) throw usage_error("--quantum needs a time from 0.001ms to 1000s");
    request.costs = lab::with_quantum(request.costs, static_cast<lab::nanoseconds>(seconds * 1e9));
  }
  request.seed = *seed_of(a);
  request.interrupted = &catch_interrupts();
  return request;
}

/// Rows are process counts, columns curves; the median of the repetitions.
std::string table_of(const lab::queue_curves& all) {
  std::set<int> processes;
  for (const lab::queue_curve& c : all.curves)
    for (const lab::queue_point& p : c.points) processes.insert(p.processes);
  table cells;
  std::vector<std::string> head{"P"};
  for (const lab::queue_curve& c : all.curves) head.push_back(c.id);
  cells.add(head);
  for (const int P : processes) {
    std::vector<std::string> row{fmt::format("{}", P)};
    for (const lab::queue_curve& c : all.curves) {
      const auto seconds = lab::median_seconds(c, P);
      row.push_back(seconds ? fmt::format("{:.3f}", *seconds) : "-");
    }
    cells.add(row);
  }
  return cells.text("  ");
}

std::string observations_of(const lab::queue_curves& all) {
  std::string text = "\nThe paper's observations:\n";
  for (const lab::queue_observation& o : lab::observe(all)) {
    const colour c = o.holds == lab::answer::yes  ? colour::green
                     : o.holds == lab::answer::no ? colour::red
                                                  : colour::yellow;
    text += fmt::format("  {}  {}\n", coloured(fmt::format("{:<7}", lab::to_string(o.holds)), c),
                        wrapped(fmt::format("{}: {}", o.claim, o.evidence), 11, 79));
  }
  return text;
}

exit_code ended() { return catch_interrupts().load() ? exit_code::undecided : exit_code::holds; }

exit_code one(const command_options& a) {
  const common c = common_of(a);
  const lab::queue_setting setting = lab::setting_of(figure_of(a.name));
  lab::queue_curves curves;
  nlohmann::json machine;
  if (a.simulated) {
    lab::simulated_queue_request request = simulation(a, c);
    reporter now;
    request.report = now.callback();
    curves = lab::run_simulated_queue(request);
    machine = lab::to_json(request.costs);
  } else {
    curves = native(a, c);
    machine = lab::this_machine();
  }
  const std::string kind = a.simulated ? "simulated" : "native";
  if (a.json) {
    nlohmann::json j = lab::to_json(curves);
    j["kind"] = kind;
    j["machine"] = std::move(machine);
    j["made_by"] = provenance();
    if (a.simulated) j["seed"] = *seed_of(a);
    j["observations"] = lab::to_json(lab::observe(curves));
    print(j.dump(2) + "\n");
  } else {
    print(fmt::format("{}  {}, {}, {} operations in all: seconds by process count\n{}{}",
                      coloured(setting.name, colour::bold), kind,
                      count_text(static_cast<unsigned>(curves.processors), "processor", "processors"),
                      grouped(static_cast<std::uint64_t>(curves.curves.empty() || curves.curves[0].points.empty()
                                                             ? 0
                                                             : curves.curves[0].points[0].operations)),
                      table_of(curves), observations_of(curves)) +
          made_by(a));
  }
  return ended();
}

exit_code scale(const command_options& a) {
  if (!a.simulated) throw usage_error("--scale needs --simulated");
  if (a.processes || a.processors) throw usage_error("--scale chooses the processors and processes itself");
  const common c = common_of(a);
  if (a.operations) throw usage_error("--scale makes four operations for each process");
  lab::simulated_queue_request base = simulation(a, c);
  reporter now;
  base.report = now.callback();
  const std::vector<lab::scale_point> points = lab::run_queue_scale(base, lab::scale_processors);
  if (a.json) {
    nlohmann::json j{
        {"experiment", a.name}, {"kind", "simulated"}, {"machine", lab::to_json(lab::scaled_costs(base.costs))}};
    j["scale"] = lab::to_json(points);
    j["made_by"] = provenance();
    j["seed"] = *seed_of(a);
    print(j.dump(2) + "\n");
    return ended();
  }
  table cells;
  cells.add({"processors", "processes", "curve", "us an operation", "remote references an operation"});
  for (const lab::scale_point& p : points)
    cells.add({fmt::format("{}", p.processors), fmt::format("{}", p.processes), p.id,
               fmt::format("{:.1f}", p.microseconds), fmt::format("{:.0f}", p.remote)});
  print(
      fmt::format("{}  simulated, two processes a processor, four operations each\n", coloured(a.name, colour::bold)) +
      cells.text("  ") + made_by(a));
  return ended();
}

exit_code run(const command_options& a) {
  figure_of(a.name);
  if (a.native && a.simulated) throw usage_error("--native and --simulated exclude each other");
  return a.scale ? scale(a) : one(a);
}

}  // namespace

command add_experiment(CLI::App& tool) {
  auto it = std::make_shared<command_options>();
  CLI::App* o = tool.add_subcommand("experiment", "Repeat the papers' measurements, here or simulated");
  const auto option = [&](const char* name, given& value, const char* type, const char* text) {
    o->add_option(name, value, text)->type_name(type);
  };
  o->add_option("NAME", it->name, "fig10 (fast paths of figure 3) or fig11 (figure 8)")->type_name("")->required();
  o->add_flag("--native", it->native, "Threads on this machine; the default");
  o->add_flag("--simulated", it->simulated, "The paper's machine in virtual time");
  option("--operations", it->operations, "M",
         "Queue operations in all; default the paper's 50,000\nor 20,000, on this machine a hundredfold");
  option("--processes", it->processes, "P,Q", "How many share them; default 1 to 8 (simulated: 4)\nfor each processor");
  option("--processors", it->processors, "C", "Simulated ones; default 10 (fig10) or 40 (fig11)");
  option("--repetitions", it->repetitions, "R", "Of each point; default 3, simulated 1");
  option("--quantum", it->quantum, "D", "Simulated time slice; default 100ms");
  option("--seed", it->seed, "S", "Of a simulation, which it determines; default 1");
  option("--time-max", it->time_max, "D", "Of each native measurement; default 1s");
  o->add_flag("--scale", it->scale, "Simulate 64 to 4096 processors instead");
  o->add_flag("--json", it->json, "All raw points, for programs");
  o->footer(
      "A fixed number of priority-queue operations is divided among P processes that\n"
      "share fewer processors: MCS lock, Herlihy's wait-free object for two large N,\n"
      "and k-assignment in front of Herlihy's object for k = 1, 2, 4, 8, 16.\n"
      "With the paper's number of operations a figure takes minutes. Ctrl-C ends it\n"
      "with the points so far and exit code 3.\n"
      "\n"
      "Examples:\n"
      "  kgate-lab experiment fig10 --operations 2000 --time-max 50ms\n"
      "  kgate-lab experiment fig11 --simulated --operations 400 --quantum 2ms\n"
      "  kgate-lab experiment fig10 --simulated --operations 500 --quantum 1ms --json\n");
  return {o, [it] { return run(*it); }};
}

}  // namespace kgate::tool
