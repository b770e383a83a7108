// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Memory in which a text could keep something beside its variables: the algorithm's object, what that has on the heap,
/// static variables. No run may change any of it, for the checker does not see what is in there.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kgate::lab {

struct model;

/// The heap blocks that a constructor allocates and keeps, while this lives, in programs whose operator new reports
/// them, as kgate-lab's does. One at a time in a thread.
class construction_heap {
 public:
  construction_heap();
  ~construction_heap();
  construction_heap(const construction_heap&) = delete;
  construction_heap& operator=(const construction_heap&) = delete;

  std::vector<std::string_view> blocks() const { return blocks_; }

  /// What is allocated meanwhile is the machine's, and may change.
  class pause {
   public:
    pause();
    ~pause();
    pause(const pause&) = delete;
    pause& operator=(const pause&) = delete;

   private:
    construction_heap* const outer_;
  };

  /// Called by operator new and delete.
  static void allocated(const void* block, std::size_t bytes);
  static void freed(const void* block) noexcept;

 private:
  std::vector<std::string_view> blocks_;
};

class hidden_state {
 public:
  explicit hidden_state(const model& m);

  /// What has changed since the last call, as a phrase, or nothing. A byte of a static variable may change once, when
  /// it is initialised.
  const char* changed();

 private:
  struct piece {
    std::string_view now;
    std::string before;
  };
  std::vector<piece> owned_, statics_;
  std::vector<std::vector<bool>> initialised_;  // of each static piece, which bytes
};

}  // namespace kgate::lab
