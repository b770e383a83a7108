// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a search has reached of a text: a verdict says nothing of statements that no run came to.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lab/checker/model/program.hpp"

namespace kgate::lab {

struct label_coverage {
  std::string operation;  ///< of the accesses at this label; "several" if they differ
  bool wrote = false;     ///< the access changed or could change its variable
  bool only_read = false;
  bool blocked = false;           ///< it had to wait
  std::vector<std::string> next;  ///< labels of the accesses that followed, in order; "" for the end of the passage
};

struct coverage {
  std::map<std::string, std::vector<std::string>> values;  ///< that a variable has taken, if they are few
  std::vector<std::string> values_missed;  ///< "Q.0 is never p2": of variables that hold a truth value or a process
  std::map<std::string, label_coverage> labels;  ///< those at which an access was made
  std::map<std::string, std::size_t> variables;  ///< how many values each has taken
  /// Of variables whose values are of several modes: how many it has taken of each, in the order of the text.
  std::map<std::string, std::vector<std::pair<std::string, std::size_t>>> modes;

  /// Of what a comparison or a wait can come to, what no run came to: "3 never fails", "5 never waits".
  std::vector<std::string> branches_missed() const;
};

/// Of everything explored so far. Not while another thread explores.
coverage coverage_of(const program& p);

nlohmann::json to_json(const coverage& c);

}  // namespace kgate::lab
