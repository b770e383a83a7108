// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "lab/checker/properties/check.hpp"

namespace kgate::lab {

nlohmann::json to_json(const check_result& r, program& p) {
  nlohmann::json j{{"algorithm", r.asked.of.algorithm},
                   {"N", r.asked.of.N},
                   {"k", r.asked.of.k},
                   {"passages", r.asked.of.passages},
                   {"memory", r.asked.of.safe_registers ? "safe" : "sc"},
                   {"crashes", r.asked.crashes},
                   {"symmetry", r.asked.symmetry},
                   {"threads", r.asked.limits.threads},
                   {"states", r.states},
                   {"transitions", r.transitions},
                   {"seconds", r.seconds},
                   {"explore_seconds", r.explore_seconds},
                   {"bytes_per_state", r.bytes_per_state},
                   {"complete", r.complete}};
  j["audit"] = {{"walks", r.audit.walks},
                {"steps", r.audit.steps},
                {"passages", r.audit.passages},
                {"seconds", r.audit.seconds},
                {"share", r.asked.audit_share}};
  j["coverage"] = to_json(r.reached);
  if (r.asked.contention > 0) j["contention"] = r.asked.contention;
  if (r.asked.symmetry) j["orbit_states"] = r.orbit_states;
  if (!r.why.empty()) j["why"] = r.why;
  auto& wrong = j["mutations"] = nlohmann::json::array();
  for (const mutation& m : r.asked.of.wrong) wrong.push_back(m.text());
  auto& properties = j["properties"] = nlohmann::json::array();
  for (const property_result& one : r.properties) {
    nlohmann::json q{{"name", one.name}, {"verdict", verdict_id(one)}};
    if (one.within_passages > 0) q["within_passages"] = one.within_passages;
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
