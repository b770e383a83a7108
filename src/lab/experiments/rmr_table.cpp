// SPDX-License-Identifier: Apache-2.0
#include "lab/experiments/rmr_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/models/arenas.hpp"
#include "lab/models/models.hpp"
#include "lab/rmr/worst_case.hpp"
#include "lab/schedules/adversary.hpp"

namespace kgate::lab {

namespace {

/// The claim a measurement is held against.
catalog::rmr_count bound_for(const catalog::choice& algorithm, memory_model model, int N, int k, int contention) {
  const auto claim = catalog::rmr_claimed(algorithm, claimed_model(model), N, k, contention > 0 ? contention : N);
  return claim ? claim->count : catalog::unbounded;
}

/// "theorem 3, corollary 1": the first for the algorithm, the second for it with names.
std::string source_of(const catalog::choice& algorithm) {
  const std::string_view both = algorithm.base->theorem;
  const auto comma = both.find(", ");
  if (comma == std::string_view::npos) return std::string(both);
  return std::string(algorithm.with_names ? both.substr(comma + 2) : both.substr(0, comma));
}

struct size {
  int N, k;
};
constexpr size exhaustive_sizes[] = {{2, 1}, {3, 2}, {3, 1}, {4, 2}, {4, 1}};
constexpr size sampled_sizes[] = {{8, 2}, {16, 4}, {32, 4}, {64, 4}};

class table_maker {
 public:
  explicit table_maker(const rmr_table_options& options) : options_(options) {}

  std::vector<rmr_claim_row> make() {
    for (const catalog::row* row : algorithm_rows()) {
      if (!row->theorem.starts_with("theorem")) continue;
      add({row, false});
      if (row->theorem.find("corollary") != std::string_view::npos) add({row, true});
    }
    return std::move(rows_);
  }

 private:
  void add(const catalog::choice& algorithm) {
    for (const catalog::rmr_bound& bound : algorithm.base->bounds) {
      if (bound.at == nullptr || bound.at(8, 2, 2) == catalog::unbounded) continue;
      rmr_claim_row row;
      row.source = source_of(algorithm);
      row.algorithm = algorithm;
      row.model = bound.model == catalog::rmr_model::dsm ? memory_model::dsm : memory_model::cc;
      row.when = bound.when;
      row.formula = catalog::claim_of(bound, algorithm.with_names, 8, 2, 2).formula;
      for (const int c : contentions(bound.when)) measure(row, c);
      rows_.push_back(std::move(row));
    }
  }

  static std::vector<int> contentions(catalog::bound_case when) {
    switch (when) {
      case catalog::bound_case::always:
        return {0};
      case catalog::bound_case::alone:
        return {1};
      case catalog::bound_case::contention:
        return {1, 2, 3};
    }
    return {};
  }

  bool stopped() const { return options_.interrupted != nullptr && options_.interrupted->load(); }

  void measure(rmr_claim_row& row, int contention) {
    const cost_model cost{row.model, true};
    for (const size s : exhaustive_sizes) {
      if (stopped() || contention > s.N) continue;
      say(row, s, contention, "all schedules");
      run_limits limits;
      limits.memory_max = options_.states_bytes_max;
      limits.seconds_max = options_.seconds_max;
      limits.interrupted = options_.interrupted;
      row.measured.push_back(measure_rmr(row.algorithm, s.N, s.k, cost, contention, 0, limits));
    }
    for (const size s : sampled_sizes) {
      if (stopped() || s.N > options_.sampled_N_max) continue;
      say(row, s, contention, "adversarial schedules");
      row.measured.push_back(sample_rmr(row.algorithm, s.N, s.k, cost, contention, options_.sampled_steps));
    }
  }

  void say(const rmr_claim_row& row, size s, int contention, const char* how) const {
    if (!options_.report) return;
    options_.report(fmt::format("{}: {} N={} k={}{}, {}", row.source, row.algorithm.id(), s.N, s.k,
                                contention > 0 ? fmt::format(" c={}", contention) : "", how));
  }

  const rmr_table_options& options_;
  std::vector<rmr_claim_row> rows_;
};

}  // namespace

catalog::rmr_model claimed_model(memory_model m) {
  return m == memory_model::dsm ? catalog::rmr_model::dsm : catalog::rmr_model::cc;
}

rmr_measurement measure_rmr(program& p, const catalog::choice& algorithm, const cost_model& cost, int contention,
                            const run_limits& limits) {
  const rmr_result found = worst_rmr(p, cost, contention, limits);
  rmr_measurement m;
  m.N = p.N();
  m.k = p.k();
  m.contention = contention;
  m.passages = p.options().passages;
  m.exhaustive = found.complete;
  m.unbounded = found.unbounded;
  m.worst = found.worst;
  m.bound = bound_for(algorithm, cost.model, p.N(), p.k(), contention);
  m.labels = found.labels;
  m.states = found.states;
  m.why = found.why;
  m.reached = coverage_of(p);
  return m;
}

rmr_measurement measure_rmr(const catalog::choice& algorithm, int N, int k, const cost_model& cost, int contention,
                            int passages, const run_limits& limits) {
  program_options options;
  options.passages = passages;
  program p(make_model(algorithm, N, k), N, k, options);
  const rmr_measurement found = measure_rmr(p, algorithm, cost, contention, limits);
  if (found.exhaustive) return found;
  rmr_measurement m = sample_rmr(algorithm, N, k, cost, contention, 400'000);
  m.reached = found.reached;
  m.worst = std::max(m.worst, found.worst);
  m.states = found.states;
  m.why = found.why;
  return m;
}

rmr_measurement sample_rmr(const catalog::choice& algorithm, int N, int k, const cost_model& cost, int contention,
                           std::uint64_t steps) {
  constexpr std::uint64_t seeds = 4;
  rmr_measurement m;
  m.N = N;
  m.k = k;
  m.contention = contention;
  m.bound = bound_for(algorithm, cost.model, N, k, contention);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto arena = make_arena(algorithm, N, k, cost);
    if (!arena) break;  // not in the catalogue: what the search over all schedules has found is all there is
    m.worst = std::max(m.worst, schedules::harass(*arena, k, {seed, steps / seeds, contention}).worst);
  }
  return m;
}

std::vector<rmr_claim_row> rmr_table(const rmr_table_options& options) { return table_maker(options).make(); }

const char* case_text(catalog::bound_case when) {
  switch (when) {
    case catalog::bound_case::always:
      return "";
    case catalog::bound_case::alone:
      return "alone";
    case catalog::bound_case::contention:
      return "contention c";
  }
  return "";
}

nlohmann::json to_json(const std::vector<rmr_claim_row>& rows) {
  nlohmann::json all = nlohmann::json::array();
  for (const rmr_claim_row& row : rows) {
    nlohmann::json measured = nlohmann::json::array();
    for (const rmr_measurement& m : row.measured) measured.push_back(to_json(m, row.algorithm, row.model, row.formula));
    all.push_back({{"source", row.source},
                   {"algorithm", row.algorithm.id()},
                   {"model", to_string(row.model)},
                   {"formula", row.formula},
                   {"case", case_text(row.when)},
                   {"measured", std::move(measured)}});
  }
  return all;
}

nlohmann::json to_json(const rmr_measurement& m, const catalog::choice& algorithm, memory_model model,
                       const std::string& formula) {
  nlohmann::json j{{"algorithm", algorithm.id()}, {"N", m.N},           {"k", m.k},
                   {"model", to_string(model)},   {"formula", formula}, {"exhaustive", m.exhaustive}};
  if (m.unbounded)
    j["worst"] = "unbounded";
  else
    j["worst"] = m.worst;
  if (m.bound == catalog::unbounded)
    j["bound"] = "unbounded";
  else
    j["bound"] = m.bound;
  if (m.contention > 0) j["contention"] = m.contention;
  if (m.passages > 0) j["passages"] = m.passages;
  if (!m.labels.empty()) j["labels"] = m.labels;
  if (m.states > 0) j["states"] = m.states;
  if (!m.why.empty()) j["why"] = m.why;
  if (m.reached) j["coverage"] = to_json(*m.reached);
  return j;
}

}  // namespace kgate::lab
