// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The shared memory of a scheduled run: its variables by name, and who holds a copy of which in its cache.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kgate/core/machine.hpp"

namespace kgate::lab::schedules {

/// What a remote memory reference is.
struct cost_rules {
  enum class model : unsigned char { cc, dsm };
  model machine = model::cc;
  /// A CAS that fails leaves the copies of others alone.
  bool smart_cache = true;
  /// The writer of a variable has a copy of it afterwards (write-back); otherwise it has none (write-through).
  bool writer_keeps_copy = true;
};

/// A variable as the memory sees it.
class cell {
 public:
  cell(variable what, std::size_t index) : what_(what), index_(index) {}
  cell(const cell&) = delete;
  cell& operator=(const cell&) = delete;
  virtual ~cell() = default;

  virtual std::uint64_t bits() const = 0;
  const variable& what() const { return what_; }
  std::size_t index() const { return index_; }

 private:
  variable what_;
  std::size_t index_;
};

class memory {
 public:
  memory(int processes, cost_rules rules);

  std::size_t next_index() const { return cells_.size(); }
  void add(const cell& c);
  const std::vector<const cell*>& cells() const { return cells_; }
  /// The value of the variable with this name and instance; the program stops if there is none.
  std::uint64_t value(std::string_view name, int instance = -1) const;

  /// One read of c by p, one write or read-modify-write, one failed CAS. Each returns what it costs: 0 or 1.
  int read(const cell& c, process_id p);
  int write(const cell& c, process_id p);
  int failed_cas(const cell& c, process_id p);
  /// True if a read of c by p would be remote.
  bool remote(const cell& c, process_id p) const;

 private:
  std::uint64_t& word(const cell& c, process_id p);
  void drop_copies(const cell& c);

  cost_rules rules_;
  std::size_t words_;  ///< per variable: one bit for each process with a copy
  std::vector<const cell*> cells_;
  std::vector<std::uint64_t> copies_;
};

}  // namespace kgate::lab::schedules
