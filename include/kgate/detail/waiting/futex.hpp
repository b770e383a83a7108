// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <ctime>

namespace kgate::detail {

/// The number of the system call for the timespec of this program: 32-bit programs have one for each size of time_t.
#if defined(SYS_futex_time64)
inline constexpr long futex_call = sizeof(std::time_t) > sizeof(long) ? SYS_futex_time64 : SYS_futex;
#else
inline constexpr long futex_call = SYS_futex;
#endif

/// Whose threads meet at a word: those of one process, or all that map it.
enum class futex_scope : int { process = FUTEX_PRIVATE_FLAG, machine = 0 };

/// The system call; what it returns, or minus the error. Inline where that is known: for a process that was just
/// switched to each page that it touches is a miss, and the C library's wrapper is three of them.
inline long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
                  const std::timespec* timeout) noexcept {
  auto* const address = reinterpret_cast<std::uint32_t*>(&word);
#if defined(__x86_64__) && defined(__LP64__)
  long result = futex_call;
  asm volatile("movq %[timeout], %%r10\n\tsyscall"
               : "+a"(result)
               : "D"(address), "S"(long{operation}), "d"(std::uint64_t{value}), [timeout] "r"(timeout)
               : "rcx", "r10", "r11", "memory");
  return result;
#else
  const long result = ::syscall(futex_call, address, operation, value, timeout, nullptr, 0);
  return result < 0 ? -static_cast<long>(errno) : result;
#endif
}

/// Sleeps while `word` holds `expected`. Returns after a wake-up, at once if the value differs, after a signal, and
/// after `timeout` if one is given; the caller looks again in every case. False if the time was over.
inline bool futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, const std::timespec* timeout = nullptr,
                       futex_scope scope = futex_scope::process) noexcept {
  return futex(word, FUTEX_WAIT | static_cast<int>(scope), expected, timeout) != -ETIMEDOUT;
}

/// Wakes up to `count` sleepers; how many there were.
inline long futex_wake(std::atomic<std::uint32_t>& word, int count = INT_MAX,
                       futex_scope scope = futex_scope::process) noexcept {
  return futex(word, FUTEX_WAKE | static_cast<int>(scope), static_cast<std::uint32_t>(count), nullptr);
}

/// One of several words to sleep on; the kernel's struct futex_waitv, which older headers lack.
struct futex_waiter {
  std::uint64_t expected;
  std::uint64_t address;
  std::uint32_t flags;
  std::uint32_t reserved;
};

inline constexpr std::size_t futex_waiters_max = 128;

inline futex_waiter make_futex_waiter(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                                      futex_scope scope = futex_scope::process) noexcept {
  constexpr std::uint32_t size_u32 = 2, private_flag = 128;
  return {expected, reinterpret_cast<std::uintptr_t>(&word),
          scope == futex_scope::process ? size_u32 | private_flag : size_u32, 0};
}

/// A point of the monotonic clock; the kernel's struct __kernel_timespec.
struct futex_deadline {
  std::int64_t seconds;
  std::int64_t nanoseconds;
};

/// Sleeps until one of the words is woken or differs, or until the deadline. False if this kernel (before 5.16), or
/// what watches over its system calls, cannot.
inline bool futex_wait_any(futex_waiter* waiters, std::size_t count,
                           const futex_deadline* deadline = nullptr) noexcept {
  constexpr long futex_waitv_number = 449;
  const long result =
      ::syscall(futex_waitv_number, waiters, static_cast<unsigned>(count), 0U, deadline, CLOCK_MONOTONIC);
  return result >= 0 || (errno != ENOSYS && errno != EPERM);
}

}  // namespace kgate::detail
