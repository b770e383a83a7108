// SPDX-License-Identifier: Apache-2.0
#include "lab/schedules/fiber.hpp"

#include <sys/mman.h>

#include <boost/context/fiber.hpp>
#include <boost/context/stack_context.hpp>
#include <memory>
#include <new>
#include <utility>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace kgate::lab::schedules {

namespace {

/// AddressSanitizer must know on which stack the program is. Elsewhere these are nothing.
void about_to_switch([[maybe_unused]] void** kept, [[maybe_unused]] const stack_range& to) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(kept, to.low, to.size);
#endif
}
void have_switched([[maybe_unused]] void* kept, [[maybe_unused]] stack_range* from) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(kept, from != nullptr ? &from->low : nullptr,
                                  from != nullptr ? &from->size : nullptr);
#endif
}

/// Of a stack that was here before: frames that were left for good still count as theirs.
void forget_frames([[maybe_unused]] void* low, [[maybe_unused]] std::size_t size) {
#ifdef __SANITIZE_ADDRESS__
  __asan_unpoison_memory_region(low, size);
#endif
}

/// Stacks that take memory only where they are touched. They begin at different distances from the end of their pages:
/// thousands of stacks at equal ones would share a few sets of the processor's caches, and every switch would miss.
struct lazy_stacks {
  static constexpr std::size_t size = std::size_t{96} * 1024;
  static constexpr std::size_t least = std::size_t{64} * 1024;

  stack_range* made_at;

  boost::context::stack_context allocate() const {
    void* low = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (low == MAP_FAILED) throw std::bad_alloc();
    forget_frames(low, size);
    static thread_local std::size_t unused = 0;
    unused = (unused + 512 + 64) % (size - least);
    boost::context::stack_context made;
    made.size = size - unused;
    made.sp = static_cast<char*>(low) + made.size;
    *made_at = {low, made.size};
    return made;
  }
  void deallocate(boost::context::stack_context& stack) const noexcept {
    munmap(static_cast<char*>(stack.sp) - stack.size, size);
  }
};

}  // namespace

struct fiber::contexts {
  boost::context::fiber inside, outside;
};

fiber::fiber(std::function<void(fiber&)> body) : body_(std::move(body)), contexts_(std::make_unique<contexts>()) {
  contexts_->inside =
      boost::context::fiber(std::allocator_arg, lazy_stacks{&inner_}, [this](boost::context::fiber&& caller) {
        have_switched(nullptr, &outer_);
        contexts_->outside = std::move(caller);
        try {
          body_(*this);
        } catch (const unwinding&) {
        }
        started_ = false;
        about_to_switch(nullptr, outer_);
        return std::move(contexts_->outside);
      });
}

fiber::~fiber() {
  if (!started_) return;
  unwind_ = true;
  resume();
}

void fiber::resume() {
  started_ = true;
  void* kept = nullptr;
  about_to_switch(&kept, inner_);
  contexts_->inside = std::move(contexts_->inside).resume();
  have_switched(kept, nullptr);
}

void fiber::leave() {
  void* kept = nullptr;
  about_to_switch(&kept, outer_);
  contexts_->outside = std::move(contexts_->outside).resume();
  have_switched(kept, &outer_);
  if (unwind_) throw unwinding{};
}

}  // namespace kgate::lab::schedules
