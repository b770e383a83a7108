// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One run of a program, step by step, with everything named: for traces, replays, random search and the audit.

#include <optional>
#include <string>
#include <vector>

#include "lab/checker/model/program.hpp"

namespace kgate::lab {

/// An entry of a schedule: a process, and which of its steps if it has several (it reads a safe register during a
/// write).
inline constexpr int scheduled_choices_from = 256;
constexpr int scheduled(int p, int choice) { return p + choice * scheduled_choices_from; }
constexpr int scheduled_process(int entry) { return entry % scheduled_choices_from; }
constexpr int scheduled_choice(int entry) { return entry / scheduled_choices_from; }
/// What stands for the choice of a step by which a process dies.
inline constexpr int death_choice = 1000;

struct step_record {
  int process = 0;
  std::string label;
  operation op = operation::none;
  std::string variable;
  std::string observed;
  std::optional<std::string> written;
  region before = region::remainder;
  region after = region::remainder;
};

class walker {
 public:
  explicit walker(program& p)
      : program_(p), values_(static_cast<std::size_t>(p.variables()), 0), locals_(static_cast<std::size_t>(p.N()), 0) {}

  struct position {
    std::vector<code> values;
    std::vector<local_id> locals;
    friend bool operator==(const position&, const position&) = default;
  };
  position here() const { return {values_, locals_}; }
  void go(const position& to) {
    values_ = to.values;
    locals_ = to.locals;
  }

  const local_state& local(int p) const { return program_.local(p, locals_[p]); }
  code value(int v) const { return values_[v]; }
  bool can_move(int p, int choice = 0);
  /// Whether p may die here.
  bool may_die(int p) const;
  /// How many steps p has here, if it can move; its death is not counted.
  int choices(int p) const;
  bool outside(int p) const { return local(p).where != region::remainder; }
  /// Makes p's next step, which must be possible.
  step_record step(int p, int choice = 0);

  program& source() { return program_; }
  const program& source() const { return program_; }

 private:
  step_record die(int p);
  bool reads_during_write(int p) const;
  code seen(int p, int choice = 0) const;

  program& program_;
  std::vector<code> values_;
  std::vector<local_id> locals_;
};

/// Where a walker stands, as invariants and formulas see it.
class walked_state final : public state_view {
 public:
  explicit walked_state(const walker& w) : walker_(w) {}
  const std::string& value(int v) const override { return walker_.source().variable(v).values.bytes(walker_.value(v)); }
  region where(int p) const override { return walker_.local(p).where; }
  int name(int p) const override { return walker_.local(p).name; }
  std::string_view label(int p) const override { return walker_.local(p).label; }
  bool waiting(int p) const override { return walker_.local(p).waiting; }

 private:
  const walker& walker_;
};

/// Why entry i of a schedule is impossible where w stands; empty if it is not.
std::string cannot_step(int entry, walker& w, std::size_t i);

const char* to_string(region r);

}  // namespace kgate::lab
