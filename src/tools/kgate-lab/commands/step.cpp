// SPDX-License-Identifier: Apache-2.0
// kgate-lab step: the user chooses which process steps, in a terminal or in a page.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "lab/checker/explore/explorer.hpp"
#include "lab/checker/explore/memory_limit.hpp"
#include "lab/checker/properties/outlook.hpp"
#include "lab/checker/trace/trace.hpp"
#include "lab/report/page.hpp"
#include "tools/kgate-lab/arguments.hpp"
#include "tools/kgate-lab/commands/commands.hpp"
#include "tools/kgate-lab/interrupt.hpp"
#include "tools/kgate-lab/output/catalog_text.hpp"
#include "tools/kgate-lab/output/output_file.hpp"
#include "tools/kgate-lab/output/page_file.hpp"
#include "tools/kgate-lab/output/provenance.hpp"
#include "tools/kgate-lab/output/terminal.hpp"
#include "tools/kgate-lab/output/text.hpp"
#include "tools/kgate-lab/system_memory.hpp"
#include "tools/kgate-lab/watched_program.hpp"

namespace kgate::tool {

namespace {

constexpr int passages_max = 1000;
constexpr std::size_t steps_max = 100'000;  ///< of a run made by hand; each can be taken back
constexpr double seconds_default = 20;
/// A page carries them all, with what can break for every set of crashed processes.
constexpr std::uint64_t page_states_max = 20'000;
constexpr int page_processes_max = 5;

using given = std::optional<std::string>;

struct command_options {
  std::string algorithm, N, k;
  given passages, memory, time_max, memory_max, html;
  std::vector<std::string> mutations;
};

lab::program_name program_of(const command_options& a, const instance& of) {
  lab::program_name name{of.algorithm.id(), of.N, of.k, of.algorithm.base->bounded_variables ? 0 : 1, {}, false};
  name.safe_registers = a.memory ? parse_memory(*a.memory) : of.algorithm.base->needs == catalog::registers::safe;
  if (a.passages) name.passages = parse_number("--passages", *a.passages, 1, passages_max);
  for (const std::string& text : a.mutations) name.wrong.push_back(parse_mutation(of.algorithm, text));
  return name;
}

/// All states, and what can still break from each.
class explored_future {
 public:
  explored_future(lab::program& p, const lab::run_limits& limits)
      : watch_(limits), explored_(explore_all(p, limits)), why_(explored_.why) {
    if (!explored_.complete) return;
    graph_ = std::make_unique<lab::state_graph>(explored_, watch_, limits);
    if (graph_->complete())
      outlook_ = std::make_unique<lab::outlook>(explored_, *graph_, watch_);
    else
      why_ = watch_.why();
  }

  bool known() const { return outlook_ != nullptr; }
  const std::string& why() const { return why_; }
  lab::exploration& explored() { return explored_; }
  const lab::state_graph& graph() const { return *graph_; }
  lab::outlook& outlook() const { return *outlook_; }
  lab::state_id start() const { return explored_.levels.at(0).at(0).begin; }

 private:
  static lab::exploration explore_all(lab::program& p, const lab::run_limits& limits) {
    lab::explore_options all;
    all.find_exclusion = all.find_names = false;
    return lab::explore(p, all, limits);
  }

  lab::watch watch_;
  lab::exploration explored_;
  std::string why_;
  std::unique_ptr<lab::state_graph> graph_;
  std::unique_ptr<lab::outlook> outlook_;
};

lab::trace trace_of(const lab::program_name& of, const std::string& property, const std::vector<int>& schedule,
                    const std::vector<int>& crashed) {
  lab::trace t;
  t.of = of;
  t.property = property;
  t.what = fmt::format("{} is violated, in a run made by hand", property);
  t.schedule = schedule;
  t.crashed = crashed;
  return t;
}

constexpr std::string_view help_text =
    "  0             process 0 steps; 0,1x3,2: a whole schedule; 0?2: its other choice 2\n"
    "  crash 0       process 0 never steps again\n"
    "  undo, undo 3  takes back the last step, or three\n"
    "  reset         back to the initial state\n"
    "  show          where everybody stands\n"
    "  run           the steps so far\n"
    "  save FILE     writes the run as a trace for replay; save FILE PROPERTY says what it is to show\n"
    "  quit\n";

/// A run that the user makes in a terminal, line by line.
class session {
 public:
  session(const instance& of, const lab::program_name& name, lab::program& program, explored_future* future)
      : name_(name), program_(program), walker_(program), future_(future) {
    for (const embedded_source& source : sources_of(of.algorithm))
      for (const labelled_statement& one : statements_of(source.text)) statements_.try_emplace(one.label, one.text);
  }

  exit_code run() {
    const bool prompts = isatty(STDIN_FILENO) != 0;
    print(fmt::format("{}  N={} k={}: choose who steps; 'help' tells more\n", coloured(name_.algorithm, colour::bold),
                      name_.N, name_.k));
    if (future_ != nullptr && !future_->known())
      print(fmt::format("note: what can still break is not known: {}\n", future_->why()));
    print(state_text());
    std::string line;
    for (;;) {
      if (prompts) print("> ");
      if (!std::getline(std::cin, line)) break;
      if (!obey(line)) return exit_code::holds;
    }
    if (prompts) print("\n");
    return exit_code::holds;
  }

 private:
  /// What was done: an entry of a schedule, or the crash of a process.
  struct deed {
    int entry = -1;
    int crashed = -1;
    lab::walker::position before;
    lab::state_id state = lab::no_state;
    std::string text;
  };

  /// False if the user wants to end.
  bool obey(const std::string& line) {
    std::istringstream in(line);
    std::string word, rest;
    in >> word;
    std::getline(in >> std::ws, rest);
    try {
      if (word == "quit" || word == "q" || word == "exit") return false;
      if (word.empty()) return true;
      if (word == "help" || word == "h" || word == "?")
        print(help_text);
      else if (word == "show" || word == "s")
        print(state_text());
      else if (word == "run")
        print(run_text());
      else if (word == "reset")
        take_back(done_.size());
      else if (word == "undo" || word == "u")
        take_back(rest.empty() ? 1 : static_cast<std::size_t>(parse_number("undo", rest, 1, 1'000'000)));
      else if (word == "crash")
        crash(parse_number("crash", rest, 0, name_.N - 1));
      else if (word == "save")
        save(rest);
      else
        make(line);
    } catch (const usage_error& e) {
      print(fmt::format("{}\n", one_line(e.what())));
    } catch (const failure& e) {
      print(fmt::format("{}\n", one_line(e.what())));
    }
    return true;
  }

  void make(const std::string& line) {
    std::vector<int> entries;
    try {
      entries = lab::parse_schedule(line);
    } catch (const std::invalid_argument&) {
      throw usage_error(fmt::format("'{}' is no command: 0 lets process 0 step, 'help' shows the others", line));
    }
    if (done_.size() + entries.size() > steps_max)
      throw usage_error(fmt::format("a run has at most {} steps here", grouped(steps_max)));
    for (const int entry : entries) {
      const int p = lab::scheduled_process(entry);
      if (p >= name_.N) throw usage_error(fmt::format("there is no process {}: N = {}", p, name_.N));
      if (is_crashed(p)) throw usage_error(fmt::format("process {} has crashed", p));
      if (const std::string why = lab::cannot_step(entry, walker_, done_.size()); !why.empty())
        throw usage_error(why.substr(why.find(": ") + 2));
      step(entry);
    }
    print(state_text());
  }

  void step(int entry) {
    deed one{entry, -1, walker_.here(), state(), ""};
    const lab::state_id from = state();
    const lab::step_record r = walker_.step(lab::scheduled_process(entry), lab::scheduled_choice(entry));
    one.text = fmt::format("p{} {}: {}", r.process, r.label, to_string(r.op));
    if (!r.variable.empty()) one.text += fmt::format(" {}: {}", r.variable, r.observed);
    if (r.written) one.text += fmt::format(" -> {}", *r.written);
    done_.push_back(std::move(one));
    if (future_ != nullptr && future_->known())
      state_ = future_->graph().next(
          from, future_->graph().first(lab::scheduled_process(entry)) + lab::scheduled_choice(entry));
  }

  void crash(int p) {
    if (is_crashed(p)) throw usage_error(fmt::format("process {} has crashed already", p));
    done_.push_back({-1, p, walker_.here(), state(), fmt::format("p{} crashes", p)});
    crashed_[static_cast<std::size_t>(p)] = true;
    print(state_text());
  }

  void take_back(std::size_t count) {
    if (done_.empty()) throw usage_error("this is the initial state");
    for (; count > 0 && !done_.empty(); --count) {
      walker_.go(done_.back().before);
      state_ = done_.back().state;
      if (const int p = done_.back().crashed; p >= 0) crashed_[static_cast<std::size_t>(p)] = false;
      done_.pop_back();
    }
    print(state_text());
  }

  void save(const std::string& rest) {
    const std::size_t space = rest.find(' ');
    const std::string path = rest.substr(0, space);
    if (path.empty()) throw usage_error("save needs a FILE, as in: save run.json");
    const std::string property =
        space == std::string::npos ? broken_property() : parse_property(rest.substr(rest.find_last_of(' ') + 1));
    const lab::trace t = trace_of(name_, property, schedule(), crashed());
    output_file file("save", path);
    file.write(trace_json(t, program_, {}, std::nullopt).dump(2) + "\n");
    const std::string wrong = lab::validate(t, program_);
    print(fmt::format("{} is written; it {}\n", path,
                      wrong.empty() ? fmt::format("shows that {} is violated", property)
                                    : fmt::format("does not show that {} is violated: {}", property, wrong)));
  }

  /// What the run can be said to show: what is broken, else k-exclusion.
  std::string broken_property() {
    const auto all = outlook_here();
    for (const auto& [name, is] : all)
      if (is == lab::outlook_of::broken) return name;
    return "k-exclusion";
  }

  std::vector<std::pair<std::string, lab::outlook_of>> outlook_here() {
    if (future_ == nullptr || !future_->known()) return {};
    lab::process_set gone = 0;
    for (const int p : crashed()) gone |= lab::only(p);
    const auto fates = future_->outlook().at(state(), gone);
    std::vector<std::pair<std::string, lab::outlook_of>> all;
    for (std::size_t i = 0; i < fates.size(); ++i) all.emplace_back(future_->outlook().properties()[i], fates[i]);
    return all;
  }

  std::string state_text() {
    std::string text =
        coloured(fmt::format("after {}", count_text(schedule().size(), "step", "steps")), colour::bold) + "\n";
    table processes;
    for (int p = 0; p < name_.N; ++p) {
      const lab::local_state& at = walker_.local(p);
      const bool waits = !at.done && !walker_.can_move(p);
      const std::string region = is_crashed(p) ? "crashed" : at.done ? "done" : lab::to_string(at.where);
      std::string access = at.done ? "" : fmt::format("{}: {}", at.label, to_string(at.op));
      if (!at.done && at.variable >= 0) access += " " + program_.variable(at.variable).name;
      const auto statement = statements_.find(at.label);
      processes.add({fmt::format("p{}", p), region, access, waits ? "waits" : "",
                     at.done || statement == statements_.end() ? "" : statement->second});
    }
    text += processes.text("  ") + "  ";
    for (int v = 0; v < program_.variables(); ++v)
      text += fmt::format("{}{}={}", v == 0 ? "" : " ", program_.variable(v).name,
                          program_.variable(v).text(walker_.value(v)));
    text += "\n";
    for (const auto& [name, is] : outlook_here())
      text += fmt::format("  {:<16}  {}\n", name,
                          coloured(to_string(is), is == lab::outlook_of::broken      ? colour::red
                                                  : is == lab::outlook_of::can_break ? colour::yellow
                                                                                     : colour::green));
    return text;
  }

  std::string run_text() const {
    std::string text;
    int number = 0;
    for (const deed& one : done_)
      text += one.entry < 0 ? fmt::format("        {}\n", one.text) : fmt::format("  {:4}  {}\n", ++number, one.text);
    return text.empty() ? "  nothing yet\n" : text;
  }

  std::vector<int> schedule() const {
    std::vector<int> all;
    for (const deed& one : done_)
      if (one.entry >= 0) all.push_back(one.entry);
    return all;
  }
  std::vector<int> crashed() const {
    std::vector<int> all;
    for (const deed& one : done_)
      if (one.crashed >= 0) all.push_back(one.crashed);
    return all;
  }
  bool is_crashed(int p) const { return crashed_[static_cast<std::size_t>(p)]; }
  lab::state_id state() {
    if (state_ == lab::no_state && future_ != nullptr && future_->known()) state_ = future_->start();
    return state_;
  }

  const lab::program_name& name_;
  lab::program& program_;
  lab::walker walker_;
  explored_future* future_;
  lab::state_id state_ = lab::no_state;
  std::vector<deed> done_;
  std::vector<bool> crashed_ = std::vector<bool>(static_cast<std::size_t>(name_.N), false);
  std::map<std::string, std::string> statements_;
};

/// Everything the page looks up: see stepper.js.
nlohmann::json steps_json(const instance& of, const lab::program_name& name, lab::program& program,
                          explored_future& future) {
  lab::exploration& e = future.explored();
  const lab::state_graph& g = future.graph();
  std::vector<lab::state_id> order;
  std::vector<std::uint32_t> number(e.store->end(), 0);
  for (const auto& level : e.levels)
    for (const lab::id_range& range : level)
      for (lab::state_id s = range.begin; s < range.end; ++s) {
        number[s] = static_cast<std::uint32_t>(order.size());
        order.push_back(s);
      }
  nlohmann::json j{{"algorithm", name.algorithm},
                   {"N", name.N},
                   {"k", name.k},
                   {"passages", name.passages},
                   {"memory", name.safe_registers ? "safe" : "sc"},
                   {"properties", future.outlook().properties()},
                   {"text", texts_json(of.algorithm)}};
  auto& wrong = j["mutations"] = nlohmann::json::array();
  for (const lab::mutation& m : name.wrong) wrong.push_back(m.text());
  auto& variables = j["variables"] = nlohmann::json::array();
  for (int v = 0; v < program.variables(); ++v) {
    auto values = nlohmann::json::array();
    for (lab::code c = 0; c < program.variable(v).values.size(); ++c) values.push_back(program.variable(v).text(c));
    variables.push_back({{"name", program.variable(v).name}, {"values", values}});
  }
  auto& locals = j["locals"] = nlohmann::json::array();
  bool doorways = false;
  for (int p = 0; p < name.N; ++p) {
    auto all = nlohmann::json::array();
    for (lab::local_id s = 0; s < program.locals(p); ++s) {
      const lab::local_state& l = program.local(p, s);
      doorways = doorways || l.waiting;
      all.push_back({{"label", l.label},
                     {"operation", to_string(l.op)},
                     {"variable", l.variable},
                     {"region", lab::to_string(l.where)},
                     {"past_doorway", l.waiting},
                     {"done", l.done}});
    }
    locals.push_back(std::move(all));
  }
  j["doorways"] = doorways;
  auto& states = j["states"] = nlohmann::json::array();
  auto& next = j["next"] = nlohmann::json::array();
  for (const lab::state_id s : order) {
    auto state = nlohmann::json::array();
    for (int v = 0; v < program.variables(); ++v)
      state.push_back(e.table->packing().variable[v].get(e.store->record(s)));
    for (int p = 0; p < name.N; ++p) state.push_back(e.table->packing().local[p].get(e.store->record(s)));
    states.push_back(std::move(state));
    auto ways = nlohmann::json::array();
    for (int p = 0; p < name.N; ++p) {
      auto choices = nlohmann::json::array();
      for (int i = g.first(p); i < g.steps() && g.owner(i) == p && g.next(s, i) != lab::no_state; ++i)
        choices.push_back(number[g.next(s, i)]);
      ways.push_back(std::move(choices));
    }
    next.push_back(std::move(ways));
  }
  // For each set of crashed processes and each property one digit a state.
  auto& fates = j["fates"] = nlohmann::json::array();
  for (lab::process_set crashed = 0; crashed < lab::only(name.N); ++crashed) {
    std::vector<std::string> digits(future.outlook().properties().size(), std::string(order.size(), '0'));
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto at = future.outlook().at(order[i], crashed);
      for (std::size_t each = 0; each < at.size(); ++each)
        digits[each][i] = static_cast<char>('0' + static_cast<int>(at[each]));
    }
    fates.push_back(digits);
  }
  return j;
}

exit_code run(const command_options& a) {
  const instance of = parse_instance(a.algorithm, a.N, a.k);
  const lab::program_name name = program_of(a, of);
  std::optional<page_file> page;
  if (a.html) page.emplace("--html", *a.html);
  if (page && of.N > page_processes_max)
    throw usage_error(fmt::format("a page takes at most {} processes, but N = {}", page_processes_max, of.N));
  lab::run_limits limits;
  limits.memory_max = a.memory_max ? parse_size("--memory-max", *a.memory_max) : system_memory() / 4;
  limits.seconds_max = a.time_max ? parse_duration("--time-max", *a.time_max) : seconds_default;
  limits.interrupted = &catch_interrupts();
  const watched_program made(of, name, 0);
  lab::program& program = *made;
  std::optional<explored_future> future;
  try {
    const lab::memory_limit limit(limits.memory_max);
    future.emplace(program, limits);
    made.require_remembering();
  } catch (const lab::text_error& e) {
    throw usage_error(e.what());
  } catch (const std::bad_alloc&) {
    if (page) throw;
    print("note: what can still break is not known: memory limit reached\n");
  }
  if (!page) return session(of, name, program, future ? &*future : nullptr).run();
  if (!future->known()) {
    std::fputs(
        fmt::format("kgate-lab: a page needs all states, and the search did not end: {}\n", future->why()).c_str(),
        stderr);
    return exit_code::undecided;
  }
  if (future->explored().states > page_states_max)
    throw usage_error(fmt::format("a page takes at most {} states, and {} with N = {} and k = {} has {}",
                                  grouped(page_states_max), name.algorithm, name.N, name.k,
                                  grouped(future->explored().states)));
  page->write(lab::report::stepper_page(steps_json(of, name, program, *future)));
  return exit_code::holds;
}

}  // namespace

command add_step(CLI::App& tool) {
  auto it = std::make_shared<command_options>();
  CLI::App* o = tool.add_subcommand("step", "Step through an algorithm by hand");
  const auto one = [&](const char* name, auto& value, const char* type, const char* text) {
    return o->add_option(name, value, text)->type_name(type);
  };
  one("ALGO", it->algorithm, "", "The algorithm's id, as 'list' shows it, or a FILE.hpp")->required();
  one("-N", it->N, "N", "How many processes there are")->required();
  one("-k", it->k, "K", "How many may be inside")->required();
  one("--passages", it->passages, "M",
      "Passages of each process; default unlimited, or 1\nwhere the variables are unbounded");
  one("--memory", it->memory, "sc|safe", "Atomic registers, or safe ones; default what the\nalgorithm is for");
  o->add_option("--mutate", it->mutations, "Make an error, as for check; may be repeated")
      ->type_name("M")
      ->allow_extra_args(false);
  one("--html", it->html, "FILE", "Write a page in which one chooses; for small sizes");
  one("--time-max", it->time_max, "D", "For finding out what can still break; default 20s");
  one("--memory-max", it->memory_max, "B", "For that too, as in 500M; default 25 % of the memory");
  o->footer(
      "In the terminal: a process number lets it step, 'crash 1', 'undo', 'reset',\n"
      "'save FILE' writes a trace that replay accepts; 'help' lists all. After each\n"
      "step it says which properties are broken, can still break, or cannot.\n"
      "\n"
      "Examples:\n"
      "  kgate-lab step am97-chain-cc -N 3 -k 2\n"
      "  kgate-lab step peterson-k -N 2 -k 1 --html peterson.html\n");
  return {o, [it] { return run(*it); }};
}

}  // namespace kgate::tool
