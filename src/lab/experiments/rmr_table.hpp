// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The catalogue's claims about remote memory references beside what is measured: over all schedules where the states
/// can be explored, by adversarial schedules beyond.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "catalog/row.hpp"
#include "lab/checker/explore/explorer.hpp"
#include "lab/checker/model/coverage.hpp"
#include "lab/rmr/cost_model.hpp"

namespace kgate::lab {

struct rmr_measurement {
  int N = 0;
  int k = 0;
  int contention = 0;       ///< 0: not limited
  int passages = 0;         ///< of each process, in a search over all schedules; 0: without limit
  bool exhaustive = false;  ///< over all schedules; else the worst that was found, a lower estimate
  bool unbounded = false;
  int worst = 0;
  catalog::rmr_count bound = catalog::unbounded;
  std::vector<std::string> labels;  ///< of the remote references of a worst passage, if exhaustive
  std::uint64_t states = 0;
  std::optional<coverage> reached;  ///< of a search over all schedules
  std::string why;                  ///< why a search over all schedules was not one

  bool within() const { return bound == catalog::unbounded || (!unbounded && worst <= bound); }
};

/// One claim: a theorem or a corollary in one of its cases.
struct rmr_claim_row {
  std::string source;  ///< "theorem 4", "corollary 2"
  catalog::choice algorithm;
  memory_model model = memory_model::cc;
  catalog::bound_case when = catalog::bound_case::always;
  std::string formula;
  std::vector<rmr_measurement> measured;
};

/// The catalogue speaks of cc and dsm only; the finer models differ in what a writer keeps.
catalog::rmr_model claimed_model(memory_model m);

/// The worst case over all schedules, or, if a limit ends the search, the worst found by schedules. Algorithms with
/// unbounded variables are searched for as many passages as said; for the others 0 means without limit.
rmr_measurement measure_rmr(const catalog::choice& algorithm, int N, int k, const cost_model& cost, int contention,
                            int passages, const run_limits& limits);
/// The same of a program that exists, and without schedules: what was found until the limit.
rmr_measurement measure_rmr(program& p, const catalog::choice& algorithm, const cost_model& cost, int contention,
                            const run_limits& limits);
/// The worst found by adversarial and random schedules.
rmr_measurement sample_rmr(const catalog::choice& algorithm, int N, int k, const cost_model& cost, int contention,
                           std::uint64_t steps);

struct rmr_table_options {
  std::uint64_t states_bytes_max = std::uint64_t{128} << 20;  ///< of one exhaustive search
  double seconds_max = 2;                                     ///< of one exhaustive search
  int sampled_N_max = 64;
  std::uint64_t sampled_steps = 400'000;
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const std::string&)> report;  ///< what is being measured
};

/// All theorems and corollaries of Anderson & Moir.
std::vector<rmr_claim_row> rmr_table(const rmr_table_options& options);

/// "", "alone", "contention c".
const char* case_text(catalog::bound_case when);

nlohmann::json to_json(const std::vector<rmr_claim_row>& rows);
nlohmann::json to_json(const rmr_measurement& m, const catalog::choice& algorithm, memory_model model,
                       const std::string& formula);

}  // namespace kgate::lab
