// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// Which threads own a block of an object outside its names (named_object.hpp, N3).

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kgate/detail/cache_line.hpp"
#include "kgate/detail/contracts.hpp"
#include "kgate/objects/in_progress.hpp"
#include "kgate/objects/thread_identity.hpp"

namespace kgate::detail {

/// `Count` builders (a power of two). A thread gets one when it asks for the first time, if the one that falls to it is
/// free, and has it for ever; after its end a later thread of its process has it. Contains no pointers.
template <std::size_t Count>
class builders {
  static_assert((Count & (Count - 1)) == 0);

  struct alignas(cache_line) entry {
    std::atomic<std::uint64_t> owner{thread_identity::none};
    bool busy = false;  // only the owner uses it
  };

 public:
  /// The builder of this thread, in use for as long as this lives; empty if it has none. The program stops if it is in
  /// use.
  class lease {
   public:
    [[gnu::always_inline]] explicit lease(builders& all) noexcept {
      const std::uint64_t me = thread_identity::mine();
      if (me == thread_identity::none) [[unlikely]]
        return;
      const std::size_t index = (thread_identity::number_of(me) + (me >> 32)) % Count;
      entry& one = all.entries_[index];
      if (one.owner.load(std::memory_order_relaxed) != me && !claim(one, me)) return;
      KGATE_EXPECTS(!one.busy, nested_apply);
      one.busy = true;
      entry_ = &one;
      index_ = index;
    }
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    ~lease() {
      if (entry_ != nullptr) entry_->busy = false;
    }
    explicit operator bool() const noexcept { return entry_ != nullptr; }
    std::size_t index() const noexcept { return index_; }

   private:
    [[gnu::noinline]] static bool claim(entry& one, std::uint64_t me) noexcept {
      std::uint64_t free = thread_identity::none;
      return one.owner.load(std::memory_order_relaxed) == free &&
             one.owner.compare_exchange_strong(free, me, std::memory_order_seq_cst);
    }

    entry* entry_ = nullptr;
    std::size_t index_ = 0;
  };

 private:
  entry entries_[Count];
};

}  // namespace kgate::detail
