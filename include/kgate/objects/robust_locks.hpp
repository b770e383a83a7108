// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// Locks whose next holder learns if the owner before died holding it.

#include <pthread.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

#include "kgate/detail/contracts.hpp"

namespace kgate::detail {

enum class lock_result : unsigned char {
  busy,        ///< another thread holds it, and lives
  locked,      ///< it was free
  owner_died,  ///< it is ours, and its last owner died holding it; consistent() must be called before it is unlocked
};

/// `Count` locks in memory that processes may share. That an owner died the kernel says (a robust futex), not a process
/// number; one that was stopped lives.
template <std::size_t Count>
class robust_locks {
 public:
  /// @throws std::system_error if the system has no such locks
  template <class Memory>
  robust_locks(Memory&, int /*count*/) {
    pthread_mutexattr_t attributes;
    check(::pthread_mutexattr_init(&attributes));
    ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    int error = 0;
    for (pthread_mutex_t& one : locks_) error = error != 0 ? error : ::pthread_mutex_init(&one, &attributes);
    ::pthread_mutexattr_destroy(&attributes);
    check(error);
  }
  robust_locks(const robust_locks&) = delete;
  robust_locks& operator=(const robust_locks&) = delete;
  ~robust_locks() {
    for (pthread_mutex_t& one : locks_) ::pthread_mutex_destroy(&one);
  }

  template <class Process>
  lock_result try_lock(Process&, int i) noexcept {
    switch (::pthread_mutex_trylock(&locks_[i])) {
      case 0:
        return lock_result::locked;
      case EOWNERDEAD:
        return lock_result::owner_died;
      default:
        return lock_result::busy;
    }
  }
  template <class Process>
  void consistent(Process&, int i) noexcept {
    ::pthread_mutex_consistent(&locks_[i]);
  }
  template <class Process>
  void unlock(Process&, int i) noexcept {
    KGATE_EXPECTS(::pthread_mutex_unlock(&locks_[i]) == 0, "unlock of a lock that another thread holds");
  }

 private:
  static void check(int error) {
    if (error != 0) throw_or_stop<std::system_error>(error, std::generic_category(), "robust lock");
  }

  pthread_mutex_t locks_[Count];
};

}  // namespace kgate::detail
