// SPDX-License-Identifier: Apache-2.0
#include "gate/truncation.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <mutex>

#include "gate/layout.hpp"
#include "kgate/detail/waiting/futex.hpp"

namespace kgate::detail::gates {

namespace {

constexpr std::size_t mappings_max = 1024;
constexpr std::uintptr_t writable_flag = 1;
std::array<std::atomic<std::uintptr_t>, mappings_max> mappings{};  // where they start, and the flag; 0: no mapping
struct sigaction before {};                                        // what happened to a SIGBUS without us
std::atomic<bool> guards{false};
std::atomic<int> ringing{0};  // the process that rings all bells; a child may have its parent's

/// The start of the mapping with this address; 0 if there is none.
std::uintptr_t mapping_with(std::uintptr_t address) {
  for (const auto& one : mappings) {
    const std::uintptr_t start = one.load() & ~writable_flag;
    if (start != 0 && address >= start && address - start < sizeof(file_layout)) return start;
  }
  return 0;
}

/// All of it, so that nothing of a gate that is half there is believed. Only what may be done in a signal handler: mmap
/// is a system call and nothing else.
bool put_empty_pages(std::uintptr_t start) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  const int error = errno;
  void* const there = reinterpret_cast<void*>(start);
  const bool done = mmap(there, sizeof(file_layout), PROT_READ | PROT_WRITE, flags, -1, 0) == there;
  errno = error;
  return done;
}

void on_bus_error(int number, siginfo_t* info, void* context) {
  const std::uintptr_t start = mapping_with(reinterpret_cast<std::uintptr_t>(info->si_addr));
  if (info->si_code == BUS_ADRERR && start != 0 && put_empty_pages(start)) return;
  if ((before.sa_flags & SA_SIGINFO) != 0)
    before.sa_sigaction(number, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(number);
  else
    sigaction(SIGBUS, &before, nullptr);  // the instruction is tried again, and the process ends as it would have
}

/// A sleeper looks again, and then sleeps no longer than one that may be left alone with its own words.
void ring_all(file_layout& map) {
  const std::uint32_t used = std::min<std::uint32_t>(map.members_used.load(), members_max);
  for (std::uint32_t i = 0; i < used; ++i) {
    auto& bell = map.lines[i].bell;
    if ((bell.fetch_or(bell_rung) & bell_asleep) != 0) futex_wake(bell, INT_MAX, futex_scope::machine);
  }
}

}  // namespace

void guard_mappings() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction ours {};
    ours.sa_sigaction = on_bus_error;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGBUS, nullptr, &before);
    sigaction(SIGBUS, &ours, nullptr);
    guards.store(true);
    ringing.store(getpid());
    for (const auto& one : mappings)
      if (const std::uintptr_t start = one.load(); (start & writable_flag) != 0)
        ring_all(*reinterpret_cast<file_layout*>(start & ~writable_flag));
    ringing.store(0);
  });
}

bool guards_mappings() noexcept { return guards.load(); }

void remember_mapping(const void* start, bool writable) noexcept {
  const std::uintptr_t its = reinterpret_cast<std::uintptr_t>(start) | (writable ? writable_flag : 0);
  for (auto& one : mappings) {
    std::uintptr_t none = 0;
    if (one.compare_exchange_strong(none, its)) return;
  }
}

void forget_mapping(const void* start) noexcept {
  for (auto& one : mappings) {
    std::uintptr_t its = one.load();
    if ((its & ~writable_flag) == reinterpret_cast<std::uintptr_t>(start) && one.compare_exchange_strong(its, 0)) break;
  }
  while (ringing.load() != 0 && ringing.load() == getpid()) sched_yield();  // in it, maybe
}

}  // namespace kgate::detail::gates
