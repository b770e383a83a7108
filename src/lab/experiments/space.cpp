// SPDX-License-Identifier: Apache-2.0
#include "lab/experiments/space.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <nlohmann/json.hpp>
#include <random>
#include <unordered_set>

#include "lab/checker/model/walker.hpp"
#include "lab/experiments/crowd.hpp"
#include "lab/models/models.hpp"

namespace kgate::lab {

namespace {

constexpr long walk_steps = 100'000;
/// Of all automata together: entries of the explorer's tables, 8 bytes each.
constexpr double table_entries_max = 1.5e8;

double choose(int n, int r) {
  double result = 1;
  for (int i = 1; i <= r; ++i) result *= static_cast<double>(n - r + i) / i;
  return n < r ? 0 : result;
}

/// Lemma 4.3: what doing without a supervisor multiplies the values by; c2 and c3 as in (R7) and (R8).
double elimination_factor(int k, double c2, double c3) {
  const int slots = 3 * k - 1;
  return std::pow(5.0, slots) * std::pow(4.0, slots * slots) * (k + 1) * 4 * c2 * c3;
}

double bounded_upper(int N, int k) {
  const int bucket = std::max(1, k - 1), c1 = k * bucket + 2 * k - 2, colours = k + 3;
  const double v = std::pow(colours, 3) * (N + 1.0) * 2 * (k + 1) * std::pow((k + 1) * 3.0, colours);
  double queues = 0;
  for (int length = 0; length <= k; ++length) queues += std::pow(colours * (bucket + 1.0), length);
  return v * elimination_factor(k, 6.0 * (c1 + 1) * (bucket + 1) * queues, std::max(std::pow(2.0, k), k + 3.0));
}

double fifo_upper(int N, int k) {
  const int members = std::max(1, k - 1), colours = 5 * k + 3, exposed = 4 * k - 1, c1 = 3 * k - 1;
  const double bits = std::ceil(std::log2(N + 1.0));
  double maps = 1;
  for (int m = 1; m <= members; ++m) maps += std::pow(bits, m - 1) * std::pow(2.0, m * (m - 1));
  const double v = colours * (N + 1.0) * (k + 1) * std::pow(colours * members * 3.0 + 1, exposed) *
                   std::pow(maps * 2, colours) * std::pow(10.0, k);
  const double c2 = 5.0 * k * std::pow(colours, 3) * std::pow(colours * (c1 + 1.0) * 2, c1) * std::pow(c1 + 1.0, 4);
  return v * elimination_factor(k, c2, 5.0 * std::pow(colours, 3));
}

void set_bounds(space_cell& cell, const run_limits& limits) {
  const int N = cell.N, k = cell.k;
  if (cell.algorithm == "flbb79-count") {
    cell.upper_formula = "k+1";
    cell.upper = k + 1;
    return;
  }
  cell.lower_formula = "k(N-k)";  // theorems 5.1 and 5.3
  cell.lower = static_cast<double>(k) * (N - k);
  if (cell.algorithm == "flbb79-bank") {
    const space_cell lock = measure_space("mcs", N, 1, limits);
    cell.upper_formula = lock.exhaustive ? "(k+1) * the lock's" : "";
    cell.upper = (k + 1) * static_cast<double>(lock.values);
  } else if (cell.algorithm == "flbb79-bank-buffer") {
    cell.upper_formula = "(k+1)(N+3)";  // theorem 4.1 (b)
    cell.upper = (k + 1.0) * (N + 3);
  } else if (cell.algorithm == "flbb79-bank-numbers") {
    cell.upper_formula = "(k+1) N^2";  // theorem 4.1 (c) has N+7
    cell.upper = (k + 1.0) * N * N;
  } else if (cell.algorithm == "flbb79-tickets") {
    cell.upper_formula = "C(2k-1,k) (k+1)^2 N^2";
    cell.upper = choose(2 * k - 1, k) * (k + 1) * (k + 1) * N * N;
    cell.lower_formula = "k C(N-k-1,2)";  // theorem 5.2
    cell.lower = k * choose(N - k - 1, 2);
  } else if (cell.algorithm == "flbb79-bounded") {
    cell.upper_formula = "d(k) (N+1)";
    cell.upper = bounded_upper(N, k);
  } else if (cell.algorithm == "flbb79-fifo") {
    cell.upper_formula = "d(k) (N+1) log(N)^c(k)";
    cell.upper = fifo_upper(N, k);
  }
}

/// The contents of all shared variables, in one string.
class contents {
 public:
  void add(const walker& run, int variables) {
    std::string all;
    for (int v = 0; v < variables; ++v) append(all, run.value(v));
    seen_.insert(std::move(all));
  }
  void add(exploration& e, int variables) {
    for (const id_range& r : e.used())
      for (state_id s = r.begin; s < r.end; ++s) {
        std::string all;
        for (int v = 0; v < variables; ++v)
          append(all,
                 static_cast<code>(e.table->packing().variable[static_cast<std::size_t>(v)].get(e.store->record(s))));
        seen_.insert(std::move(all));
      }
  }
  std::uint64_t size() const { return seen_.size(); }

 private:
  static void append(std::string& to, code c) { to.append(reinterpret_cast<const char*>(&c), sizeof c); }
  std::unordered_set<std::string> seen_;
};

/// A random run as walk_crowd() makes it.
void walk(program& p, contents& seen, const run_limits& limits) {
  watch w(limits);
  std::mt19937 random(1);
  walker run(p);
  for (long i = 0; i < walk_steps; ++i) {
    if (i % 256 == 0 && w.over(0)) return;
    const int who = static_cast<int>(random() % static_cast<unsigned>(p.N()));
    const bool rare = i / 1000 % 2 == 0;
    if (!run.can_move(who) || (rare && !run.outside(who) && random() % 16 != 0)) continue;
    run.step(who);
    seen.add(run, p.variables());
  }
}

/// False if a limit was reached, or would be.
bool explore_contents(program& p, contents& seen, const run_limits& limits) {
  const double entries = static_cast<double>(p.N()) * p.locals(0) * static_cast<double>(p.variable(0).values.size());
  if (entries > table_entries_max) return false;
  explore_options options;
  options.find_exclusion = options.find_names = false;
  exploration e = explore(p, options, limits);
  seen.add(e, p.variables());
  return e.complete;
}

}  // namespace

const std::vector<std::string_view>& space_algorithms() {
  static const std::vector<std::string_view> all{"flbb79-count",        "flbb79-bank",    "flbb79-bank-buffer",
                                                 "flbb79-bank-numbers", "flbb79-tickets", "flbb79-bounded",
                                                 "flbb79-fifo"};
  return all;
}

space_cell measure_space(const std::string& algorithm, int N, int k, const run_limits& limits) {
  const catalog::choice chosen = find_algorithm(algorithm);
  program p(make_model(chosen, N, k), N, k, {});
  return measure_space(p, chosen, limits);
}

space_cell measure_space(program& p, const catalog::choice& algorithm, const run_limits& limits) {
  space_cell cell;
  cell.algorithm = algorithm.id();
  cell.N = p.N();
  cell.k = p.k();
  const auto& known = space_algorithms();
  const bool in_the_paper = std::find(known.begin(), known.end(), cell.algorithm) != known.end();
  // The bank's bounds are made of its lock's counts.
  if (in_the_paper) set_bounds(cell, limits);
  run_limits part = limits;
  part.seconds_max = limits.seconds_max / 4;
  // That processes are alike is checked of the catalogue only.
  const bool one_crowd = in_the_paper && p.variables() == 1 && algorithm.base->symmetric_at(cell.N, cell.k);
  contents seen;
  try {
    if (one_crowd) {
      walk_crowd(p, walk_steps, part);
      cell.exhaustive = explore_crowd(p, limits).complete;
    } else {
      walk(p, seen, part);
      cell.exhaustive = explore_contents(p, seen, limits);
    }
  } catch (const std::bad_alloc&) {
    cell.exhaustive = false;  // what was seen until then counts
  }
  cell.values = one_crowd ? p.variable(0).values.size() : seen.size();
  return cell;
}

nlohmann::json to_json(const space_cell& c) {
  nlohmann::json j{
      {"algorithm", c.algorithm}, {"N", c.N}, {"k", c.k}, {"values", c.values}, {"exhaustive", c.exhaustive}};
  if (!c.lower_formula.empty()) j["lower"] = {{"formula", c.lower_formula}, {"value", c.lower}};
  if (!c.upper_formula.empty()) j["upper"] = {{"formula", c.upper_formula}, {"value", c.upper}};
  return j;
}

}  // namespace kgate::lab
