// SPDX-License-Identifier: Apache-2.0
#include "lab/schedules/fiber.hpp"

#include <sys/mman.h>

#include <boost/context/stack_context.hpp>
#include <memory>
#include <new>
#include <utility>

namespace kgate::lab::schedules {

namespace {

/// Stacks that take memory only where they are touched.
struct lazy_stacks {
  static constexpr std::size_t size = std::size_t{64} * 1024;

  boost::context::stack_context allocate() const {
    void* low = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (low == MAP_FAILED) throw std::bad_alloc();
    boost::context::stack_context made;
    made.size = size;
    made.sp = static_cast<char*>(low) + size;
    return made;
  }
  void deallocate(boost::context::stack_context& stack) const noexcept {
    munmap(static_cast<char*>(stack.sp) - stack.size, stack.size);
  }
};

}  // namespace

fiber::fiber(std::function<void(fiber&)> body)
    : body_(std::move(body)), inside_(std::allocator_arg, lazy_stacks{}, [this](boost::context::fiber&& caller) {
        outside_ = std::move(caller);
        try {
          if (!unwind_) body_(*this);
        } catch (const unwinding&) {
        }
        started_ = false;
        return std::move(outside_);
      }) {}

fiber::~fiber() {
  if (started_) {
    unwind_ = true;
    inside_ = std::move(inside_).resume();
  }
}

void fiber::resume() {
  started_ = true;
  inside_ = std::move(inside_).resume();
}

void fiber::leave() {
  outside_ = std::move(outside_).resume();
  if (unwind_) throw unwinding{};
}

}  // namespace kgate::lab::schedules
