// SPDX-License-Identifier: Apache-2.0
#include "lab/schedules/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <utility>

namespace kgate::lab::schedules {

namespace {
constexpr std::size_t stack_size = std::size_t{64} * 1024;
}

fiber::fiber(std::function<void(fiber&)> body)
    : body_(std::move(body)),
      stack_(mmap(nullptr, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
  if (stack_ == MAP_FAILED) throw std::bad_alloc();
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack_;
  inside_.uc_stack.ss_size = stack_size;
  inside_.uc_link = &outside_;
  // makecontext passes ints only: the address travels in two halves.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&inside_, reinterpret_cast<void (*)()>(&fiber::enter), 2, static_cast<unsigned>(self >> 32),
              static_cast<unsigned>(self & 0xFFFFFFFF));
}

fiber::~fiber() {
  if (started_) {
    unwind_ = true;
    swapcontext(&outside_, &inside_);
  }
  munmap(stack_, stack_size);
}

void fiber::resume() {
  started_ = true;
  swapcontext(&outside_, &inside_);
}

void fiber::leave() {
  swapcontext(&inside_, &outside_);
  if (unwind_) throw unwinding{};
}

void fiber::enter(unsigned high, unsigned low) {
  reinterpret_cast<fiber*>(static_cast<std::uintptr_t>(high) << 32 | low)->run();
}

void fiber::run() {
  try {
    body_(*this);
  } catch (const unwinding&) {
  }
  started_ = false;
}

}  // namespace kgate::lab::schedules
