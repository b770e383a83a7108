// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is compared: gates in both orders, a process-shared sem_t, a System V semaphore, and bare futexes in strict
/// order.

#include <memory>
#include <string>
#include <vector>

namespace gates_bench {

/// What one member does.
class passage {
 public:
  virtual ~passage() = default;
  virtual void enter() = 0;
  virtual void leave() = 0;
};

class contender {
 public:
  virtual ~contender() = default;
  virtual std::string name() const = 0;
  /// Called by each process that takes part, once.
  virtual void open() {}
  /// Called by each member, in its own thread.
  virtual std::unique_ptr<passage> join() = 0;
};

/// Fresh ones, for k permits; gates are made in `directory`.
std::vector<std::unique_ptr<contender>> contenders(const std::string& directory, int k);

}  // namespace gates_bench
