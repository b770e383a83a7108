// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What users write after options, turned into values. Everything here throws usage_error with one line that says what
/// is allowed.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/row.hpp"
#include "lab/checker/model/mutation.hpp"
#include "lab/checker/trace/trace.hpp"

namespace kgate::tool {

/// A whole number in min..max.
int parse_number(std::string_view option, const std::string& text, int min, int max);
/// Bytes: 500M, 2G, 65536.
std::uint64_t parse_size(std::string_view option, const std::string& text);
/// What --memory-max says; if nothing, three quarters of the memory.
std::uint64_t parse_memory_max(const std::optional<std::string>& text);
/// Seconds: 30s, 5m, 1h, 250ms, 2.5.
double parse_duration(std::string_view option, const std::string& text);

/// The algorithm with this id.
catalog::choice parse_algorithm(const std::string& id);

/// An algorithm for N processes of which k may be inside, allowed by the catalogue and small enough for the checker.
struct instance {
  catalog::choice algorithm;
  int N = 0;
  int k = 0;
};
instance parse_instance(const std::string& algorithm, const std::string& N, const std::string& k);
/// The same for numbers that come from a file.
instance checked_instance(const std::string& algorithm, long long N, long long k);

/// Whether the registers are safe: "safe", or "sc".
bool parse_memory(const std::string& text);

/// Whether what a text does "for all" is done in any order: "any", or "ascending".
bool parse_order(const std::string& text);

/// The program that a check or a trace speaks of; what `name` does not say is taken from `options`.
std::unique_ptr<lab::program> make_program(const instance& of, const lab::program_name& name,
                                           lab::program_options options = {});

/// The property as check() names it.
std::string parse_property(const std::string& text);

/// Refuses distinct-names of an algorithm that gives none.
void require_names(const catalog::choice& algorithm, std::string_view property);

/// An error to make on purpose, at a label of the algorithm's text.
lab::mutation parse_mutation(const catalog::choice& algorithm, const std::string& text);
/// The same for one that comes from a file.
void check_mutation(const catalog::choice& algorithm, const lab::mutation& wrong);

}  // namespace kgate::tool
