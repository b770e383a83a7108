// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When is an access to shared memory remote? One text of the rules, for the exhaustive search and the simulated
/// machines.
///
///   cc            caches, write-through: a write goes to memory and leaves no copy with the writer (Anderson & Moir's
///   count)
///   cc-copy       the same, but the writer keeps a copy
///   cc-writeback  caches, write-back: a write takes the line into the writer's cache alone; further writes there are
///   local
///   dsm           no caches: an access is remote unless the variable is in the memory of the process that makes it
///
/// A read-modify-write counts as a write. A failed compare-and-swap: with a smart cache it writes nothing and disturbs
/// no process's copy; with an ordinary one it acts as a write (Choi 2011, 1.1.4).

#include <optional>
#include <string_view>

#include "kgate/detail/process.hpp"

namespace kgate::lab {

enum class memory_model : unsigned char { cc, cc_copy, cc_writeback, dsm };

constexpr std::string_view to_string(memory_model m) {
  switch (m) {
    case memory_model::cc:
      return "cc";
    case memory_model::cc_copy:
      return "cc-copy";
    case memory_model::cc_writeback:
      return "cc-writeback";
    case memory_model::dsm:
      return "dsm";
  }
  return "?";
}

inline constexpr memory_model memory_models[] = {memory_model::cc, memory_model::cc_copy, memory_model::cc_writeback,
                                                 memory_model::dsm};

constexpr std::optional<memory_model> parse_memory_model(std::string_view text) {
  for (const memory_model m : memory_models)
    if (to_string(m) == text) return m;
  return std::nullopt;
}

/// What one process has of one variable in its cache.
enum class copy : unsigned char { none, shared, exclusive };

enum class access_kind : unsigned char { read, write, failed_swap };

struct cost_model {
  memory_model model = memory_model::cc;
  bool smart_cache = true;

  bool caches() const { return model != memory_model::dsm; }

  /// What the access acts as.
  access_kind effective(access_kind a) const {
    if (a != access_kind::failed_swap) return a;
    return smart_cache && model == memory_model::cc_writeback ? access_kind::read
           : smart_cache                                      ? access_kind::failed_swap
                                                              : access_kind::write;
  }
  /// Is an access by process `p` remote, given its copy?
  bool remote(copy mine, access_kind a, process_id p, process_id home) const {
    if (!caches()) return home != p;
    switch (effective(a)) {
      case access_kind::read:
        return mine == copy::none;
      case access_kind::write:
        return mine != copy::exclusive;
      case access_kind::failed_swap:
        return true;  // write-through: the comparison is made at the memory
    }
    return true;
  }
  /// The accessor's copy afterwards.
  copy after_own(copy mine, access_kind a) const {
    if (!caches()) return copy::none;
    switch (effective(a)) {
      case access_kind::read:
        return mine == copy::exclusive ? mine : copy::shared;
      case access_kind::write:
        return model == memory_model::cc_writeback ? copy::exclusive
               : model == memory_model::cc_copy    ? copy::shared
                                                   : copy::none;
      case access_kind::failed_swap:
        return mine;
    }
    return copy::none;
  }
  /// The copy of every other process afterwards.
  copy after_other(copy mine, access_kind a) const {
    switch (effective(a)) {
      case access_kind::read:
        return mine == copy::exclusive ? copy::shared : mine;
      case access_kind::write:
        return copy::none;
      case access_kind::failed_swap:
        return mine;
    }
    return mine;
  }
};

}  // namespace kgate::lab
