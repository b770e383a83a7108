// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the members and permits of one kgate::gate have in common.

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "gate/core.hpp"
#include "gate/process_memory.hpp"
#include "gate/suspended_waiters.hpp"
#include "kgate/gate.hpp"

namespace kgate {

/// A few memberships that are not in use are kept, since joining costs system calls.
struct gate::shared {
  /// What members remember of W; a forked child finds it cleared.
  detail::gates::process_memory memory{detail::gates::members_max};
  detail::gates::core core;
  std::string name;
  std::string command;
  std::string arguments;  ///< with which the tool finds this gate
  std::mutex mutex;
  std::vector<detail::gates::membership> spare;
  std::unordered_map<unsigned, std::size_t> cell_by_number;
  detail::gates::suspended_waiters suspended{core};  ///< the last one: its threads use all the others

  shared() = default;
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;
  ~shared() {
    if (memory.is_ours()) return;
    core.disown();
    suspended.abandon();
  }

  /// A child made by fork has its parent's objects, and must not act in its parent's name.
  void expect_ours() const {
    if (!memory.is_ours())
      throw gate_error({gate_errc::forked,
                        "gate '" + name + "' was opened by the process that forked this one; open it again here"});
  }
  detail::gates::membership take() {
    expect_ours();
    const std::lock_guard guard(mutex);
    detail::gates::membership mine;
    if (!spare.empty()) {
      mine = spare.back();
      spare.pop_back();
    } else if (const gate_failure failure = core.join(command, mine)) {
      throw gate_error(failure);
    }
    return mine;
  }
  /// Where member `number` keeps what it made of W. In the order in which this process first used its numbers: with
  /// few of them that is one page.
  std::uint64_t* guess_of(unsigned number) {
    const std::lock_guard guard(mutex);
    return memory.cell(cell_by_number.emplace(number, cell_by_number.size()).first->second);
  }
  void give_back(const detail::gates::membership& mine) noexcept {
    const std::lock_guard guard(mutex);
    if (spare.size() < spare.capacity())
      spare.push_back(mine);
    else
      core.part(mine);
  }
  /// A sentence that tells what to run, with where this gate is.
  std::string with_arguments(std::string text) const {
    const std::string plain = "-n " + name;
    for (std::size_t at = 0; (at = text.find(plain, at)) != std::string::npos; at += arguments.size())
      text.replace(at, plain.size(), arguments);
    return text;
  }
  [[noreturn]] void damaged() const {
    throw gate_error({gate_errc::damaged, "gate '" + name + "' is damaged; run `kgate doctor " + arguments + "`"});
  }
  int slots() const {
    expect_ours();
    const int there = core.slots();
    if (there == 0) damaged();
    return there;
  }
};

}  // namespace kgate
