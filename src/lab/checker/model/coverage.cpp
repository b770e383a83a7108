// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/model/coverage.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kgate::lab {

namespace {

constexpr std::size_t values_listed_max = 32;

/// What a variable could hold, by its type; nothing if that is not known.
std::vector<std::string> possible_values(const shared_variable& v, int N) {
  if (v.names_process) {
    std::vector<std::string> all;
    for (int p = -1; p < N; ++p) all.push_back(to_bytes(p < 0 ? nobody : pid(p)));
    return all;
  }
  const bool truth = v.values.bytes(0).size() == 1 && v.print(std::string(1, '\0')) == "false";
  return truth ? std::vector<std::string>{to_bytes(false), to_bytes(true)} : std::vector<std::string>{};
}

void add_values(const shared_variable& v, int N, coverage& all) {
  std::vector<std::string> taken;
  for (code c = 0; c < v.values.size(); ++c) taken.push_back(v.text(c));
  for (const std::string& bytes : possible_values(v, N))
    if (const std::string text = v.print(bytes); std::find(taken.begin(), taken.end(), text) == taken.end())
      all.values_missed.push_back(v.name + " is never " + text);
  if (taken.size() <= values_listed_max) all.values[v.name] = std::move(taken);
}

}  // namespace

coverage coverage_of(const program& p) {
  coverage all;
  for (int v = 0; v < p.variables(); ++v) add_values(p.variable(v), p.N(), all);
  for (int q = 0; q < p.N(); ++q)
    p.for_each_step(q, [&](local_id s, code, const transition& t) {
      const local_state& here = p.local(q, s);
      if (here.op == operation::none || here.done) return;
      label_coverage& at = all.labels[here.label];
      const std::string operation = to_string(here.op);
      at.operation = at.operation.empty() || at.operation == operation ? operation : "several";
      at.blocked = at.blocked || t.blocked;
      if (t.blocked) return;
      (t.writes ? at.wrote : at.only_read) = true;
      const local_state& then = p.local(q, t.next);
      const std::string next = then.where == region::remainder ? "" : then.label;
      const auto position = std::lower_bound(at.next.begin(), at.next.end(), next);
      if (position == at.next.end() || *position != next) at.next.insert(position, next);
    });
  for (int i = 0; i < p.variables(); ++i) {
    const shared_variable& v = p.variable(i);
    all.variables[v.name] = v.values.size();
    if (v.modes.empty()) continue;
    auto& taken = all.modes[v.name];
    for (const std::string& name : v.modes) taken.emplace_back(name, 0);
    for (code c = 0; c < v.values.size(); ++c) ++taken[static_cast<std::size_t>(v.mode(v.values.bytes(c)))].second;
  }
  return all;
}

std::vector<std::string> coverage::branches_missed() const {
  std::vector<std::string> missed;
  for (const auto& [label, at] : labels) {
    if (at.operation == to_string(operation::compare_and_swap)) {
      if (!at.wrote) missed.push_back(label + " never succeeds");
      if (!at.only_read) missed.push_back(label + " never fails");
    }
    if (at.operation == to_string(operation::await) && !at.blocked) missed.push_back(label + " never waits");
  }
  return missed;
}

nlohmann::json to_json(const coverage& c) {
  nlohmann::json j{{"labels", nlohmann::json::object()},
                   {"branches_missed", c.branches_missed()},
                   {"values", c.values},
                   {"values_missed", c.values_missed},
                   {"variables", nlohmann::json::object()}};
  for (const auto& [label, at] : c.labels)
    j["labels"][label] = {{"operation", at.operation},
                          {"writes", at.wrote},
                          {"only_reads", at.only_read},
                          {"waits", at.blocked},
                          {"next", at.next}};
  for (const auto& [name, values] : c.variables) j["variables"][name] = values;
  for (const auto& [name, taken] : c.modes)
    for (const auto& [mode, values] : taken) j["modes"][name][mode] = values;
  return j;
}

}  // namespace kgate::lab
