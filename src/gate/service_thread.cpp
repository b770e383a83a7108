// SPDX-License-Identifier: Apache-2.0
#include "gate/service_thread.hpp"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace kgate::detail::gates {

namespace {

/// What a new thread of the caller may run on. False if that cannot be found out: then it is what the caller may.
bool processors_of_program(cpu_set_t& all) noexcept {
  cpu_set_t first;
  if (sched_getaffinity(0, sizeof all, &all) != 0 || sched_getaffinity(getpid(), sizeof first, &first) != 0)
    return false;
  CPU_OR(&all, &all, &first);
  return true;
}

int create(pthread_t& thread, void* (*main)(void*), void* argument, bool ordinary) noexcept {
  pthread_attr_t attributes;
  if (const int error = pthread_attr_init(&attributes)) return error;
  int error = 0;
  if (ordinary) {
    const sched_param none{};
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
    pthread_attr_setschedparam(&attributes, &none);
    cpu_set_t all;
    if (processors_of_program(all)) error = pthread_attr_setaffinity_np(&attributes, sizeof all, &all);
  }
  if (error == 0) error = pthread_create(&thread, &attributes, main, argument);
  pthread_attr_destroy(&attributes);
  return error;
}

}  // namespace

int service_thread::start(void* (*main)(void*), void* argument, otherwise policy) noexcept {
  sigset_t all, before;
  sigfillset(&all);
  for (const int own : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&all, own);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int error = create(thread_, main, argument, true);
  if (error != 0 && error != EAGAIN && policy == otherwise::as_the_caller)
    error = create(thread_, main, argument, false);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

void service_thread::join() noexcept {
  const uncancelled until_it_has_ended;
  pthread_join(thread_, nullptr);
}

}  // namespace kgate::detail::gates
