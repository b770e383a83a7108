// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The shared memory of a scheduled run: its variables by name, and which process holds a copy of which in its cache.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kgate/detail/machine.hpp"
#include "lab/rmr/cost_model.hpp"

namespace kgate::lab::schedules {

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
  memory(int processes, cost_model rules);

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
  int access(const cell& c, process_id p, access_kind kind);
  copy& copy_of(const cell& c, process_id p) { return copies_[c.index() * processes_ + p.value]; }

  cost_model rules_;
  std::size_t processes_;
  std::vector<const cell*> cells_;
  std::vector<copy> copies_;  ///< per variable, what each process has of it
};

}  // namespace kgate::lab::schedules
