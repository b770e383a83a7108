// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "lab/checker/properties/check.hpp"

namespace kgate::lab {

nlohmann::json to_json(const check_result& r, program& p) {
  nlohmann::json j{{"algorithm", r.request.of.algorithm},
                   {"N", r.request.of.N},
                   {"k", r.request.of.k},
                   {"passages", r.request.of.passages},
                   {"memory", r.request.of.safe_registers ? "safe" : "sc"},
                   {"forall", r.request.of.any_order ? "any" : "ascending"},
                   {"crashes", r.request.crashes},
                   {"symmetry", r.request.symmetry},
                   {"threads", r.request.limits.threads},
                   {"states", r.states},
                   {"transitions", r.transitions},
                   {"seconds", r.seconds},
                   {"explore_seconds", r.explore_seconds},
                   {"bytes_per_state", r.bytes_per_state},
                   {"complete", r.complete}};
  const auto count = [](const audit_count& c) { return nlohmann::json{{"made", c.made}, {"all", c.all}}; };
  j["audit"] = {{"seed", r.request.seed},          {"steps_again", count(r.audit.steps_again)},
                {"merged", count(r.audit.merged)}, {"loops", count(r.audit.loops)},
                {"walks", r.audit.walks},          {"steps", r.audit.steps},
                {"passages", r.audit.passages},    {"accesses", r.audit.accesses},
                {"seconds", r.audit.seconds},      {"share", r.seconds > 0 ? r.audit.seconds / r.seconds : 0}};
  j["coverage"] = to_json(r.reached);
  if (r.request.contention > 0) j["contention"] = r.request.contention;
  if (r.request.symmetry) j["orbit_states"] = r.orbit_states;
  if (!r.why.empty()) j["why"] = r.why;
  auto& wrong = j["mutations"] = nlohmann::json::array();
  for (const mutation& m : r.request.of.wrong) wrong.push_back(m.text());
  auto& properties = j["properties"] = nlohmann::json::array();
  for (const property_result& one : r.properties) {
    nlohmann::json q{{"name", one.name}, {"verdict", verdict_id(one)}};
    if (one.within_passages > 0) q["within_passages"] = one.within_passages;
    if (one.within_contention > 0) q["within_contention"] = one.within_contention;
    if (!one.why.empty()) q["why"] = one.why;
    for (const auto& [name, value] : one.figures) q[name] = value;
    if (one.counterexample) {
      q["length"] = one.counterexample->schedule.size();
      q["replay"] = one.counterexample->replay_command();
      q["trace"] = to_json(*one.counterexample, p);
    }
    properties.push_back(std::move(q));
  }
  return j;
}

}  // namespace kgate::lab
