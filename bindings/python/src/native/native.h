// SPDX-License-Identifier: Apache-2.0
// What the files of the compiled module share.
#ifndef KGATE_PYTHON_NATIVE_H
#define KGATE_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

// After Python's own, which sets what the system's headers show.
#include <stdint.h>
#include <structmember.h>
#include <sys/types.h>

#include "kgate/kgate.h"

extern PyObject* error_type;  ///< kgate.Error; its subclasses are chosen by code in Python
extern pid_t this_process;    ///< kept by the hook that runs in a forked child

extern PyTypeObject gate_type, permit_type, semaphore_type, wait_type;

/// Raises the exception for a code, unless one is raised already. Null.
PyObject* raise_code(int code, const char* text);
/// The same with the last error of this thread.
PyObject* raise_error(int code);
/// The index that an object is, as far as it fits: what is beyond is the largest or smallest there is. 0 with an
/// exception if it is none.
int clipped_index(PyObject* number, Py_ssize_t* index);
/// A time limit in seconds as nanoseconds: None is no limit, what is negative is now, what is too long is no limit. 0
/// with an exception if it is none.
int time_limit(PyObject* seconds, int64_t* nanoseconds);

/// One wait: at a gate or at a semaphore.
typedef struct {
  kgate_member* member;
  kgate_semaphore* semaphore;
  Py_ssize_t weight;
  int64_t nanoseconds;
  kgate_stop* stop;
  int result;
  char text[512];  ///< kgate_last_error() of the thread that waited
  int ended;       ///< an eventfd, written to when the thread that waits has ended
} wait_request;

/// Waits without the interpreter lock. Signals are handled in the main thread alone, so there a thread of its own waits
/// for it, and a handler that raises ends the wait. -1 with an exception set, or the result.
int wait_interruptibly(wait_request* w);
/// Raises what a wait that took nothing deserves. Null.
PyObject* raise_wait_error(const wait_request* w);

/// A position in a queue that blocks no thread, and what becomes of it.
typedef struct queued_wait {
  kgate_wait* wait;
  kgate_member* member;  ///< of a gate's queue
  Py_ssize_t weight;
  unsigned opened;
  /// The wait has ended with this result: what was got, or null with an exception.
  PyObject* (*ended)(PyObject* of, kgate_member* member, int result, const struct queued_wait* queued);
  /// The wait was given up, and has taken nothing.
  void (*given_up)(PyObject* of, kgate_member* member, const struct queued_wait* queued);
} queued_wait;

/// A kgate._native.Wait at the gate or semaphore `of`. Null with an exception, the wait given up.
PyObject* make_wait(PyObject* of, const queued_wait* queued);

#endif
