// SPDX-License-Identifier: Apache-2.0
// Waiting in a way that Python's signals can end, and errors as exceptions.
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "native/native.h"

PyObject* raise_code(int code, const char* text) {
  if (PyErr_Occurred() != NULL) return NULL;
  if (code == KGATE_NO_MEMORY) return PyErr_NoMemory();
  PyObject* made = PyObject_CallMethod(error_type, "_of", "is", code, text);
  if (made != NULL) {
    PyErr_SetObject((PyObject*)Py_TYPE(made), made);
    Py_DECREF(made);
  }
  return NULL;
}
PyObject* raise_error(int code) { return raise_code(code, kgate_last_error()); }

int clipped_index(PyObject* number, Py_ssize_t* index) {
  *index = PyNumber_AsSsize_t(number, NULL);
  return *index != -1 || PyErr_Occurred() == NULL;
}

int time_limit(PyObject* seconds, int64_t* nanoseconds) {
  *nanoseconds = KGATE_FOREVER;
  if (seconds == NULL || seconds == Py_None) return 1;
  double value = PyFloat_AsDouble(seconds);
  if (value == -1.0 && PyErr_Occurred() != NULL) {
    Py_ssize_t whole;
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return 0;
    PyErr_Clear();  // an integer that no float can hold: for ever, or now
    if (!clipped_index(seconds, &whole)) return 0;
    value = whole > 0 ? HUGE_VAL : 0;
  }
  if (isnan(value)) {
    PyErr_SetString(PyExc_ValueError, "timeout is not a number");
    return 0;
  }
  if (value <= 0)
    *nanoseconds = 0;
  else if (value < 9e9)
    *nanoseconds = (int64_t)ceil(value * 1e9);
  return 1;
}

static void wait_for(wait_request* w) {
  w->result = w->member != NULL ? kgate_enter_within(w->member, (int)w->weight, w->nanoseconds, w->stop)
                                : kgate_acquire_within(w->semaphore, w->weight, w->nanoseconds, w->stop);
  if (w->result != KGATE_OK) snprintf(w->text, sizeof w->text, "%s", kgate_last_error());
}
static void* wait_in_thread(void* argument) {
  wait_request* w = argument;
  wait_for(w);
  eventfd_write(w->ended, 1);
  return NULL;
}

/// Handlers of signals run in the first thread alone, also of a forked child. Asking Python for it would run
/// handlers, whose exception would be lost.
static int is_main_thread(void) { return gettid() == this_process; }

/// Until the thread's wait is over; a handler that raises ends it. Signals are blocked but for the sleep itself, so
/// that none comes between the check and the sleep. Whether a handler raised.
static int sleep_until_ended(wait_request* w, const sigset_t* all, const sigset_t* before) {
  struct pollfd ended = {w->ended, POLLIN, 0};
  int raised = 0;
  for (;;) {
    // What came before signals were blocked.
    if (!raised && PyErr_CheckSignals() != 0) {
      raised = 1;
      kgate_stop_request(w->stop);
    }
    int count, why;
    Py_BEGIN_ALLOW_THREADS count = ppoll(&ended, 1, NULL, before);
    why = errno;
    Py_END_ALLOW_THREADS if (count > 0 || (count < 0 && why != EINTR)) return raised;
    pthread_sigmask(SIG_SETMASK, before, NULL);  // handlers may start programs, which inherit the mask
    if (!raised && PyErr_CheckSignals() != 0) {
      raised = 1;
      kgate_stop_request(w->stop);
    }
    pthread_sigmask(SIG_BLOCK, all, NULL);
  }
}

/// The wait in a thread of its own. Whether a handler raised.
static int wait_in_another_thread(wait_request* w) {
  pthread_t thread;
  sigset_t all, before;
  int raised = 0;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const int refused = w->ended < 0 || pthread_create(&thread, NULL, wait_in_thread, w) != 0;
  if (!refused) {
    raised = sleep_until_ended(w, &all, &before);
    Py_BEGIN_ALLOW_THREADS pthread_join(thread, NULL);
    Py_END_ALLOW_THREADS
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (refused) {  // no thread to be had: wait here, where no signal ends it
    Py_BEGIN_ALLOW_THREADS wait_for(w);
    Py_END_ALLOW_THREADS
  }
  return raised;
}

int wait_interruptibly(wait_request* w) {
  if (!is_main_thread()) {
    Py_BEGIN_ALLOW_THREADS wait_for(w);
    Py_END_ALLOW_THREADS return w->result;
  }
  w->result = kgate_stop_create(&w->stop);
  if (w->result != KGATE_OK) return w->result;
  w->ended = eventfd(0, EFD_CLOEXEC);
  const int raised = wait_in_another_thread(w);
  if (w->ended >= 0) close(w->ended);
  kgate_stop_destroy(w->stop);
  w->stop = NULL;
  if (!raised) return w->result;
  if (w->result == KGATE_OK) {  // inside at the last moment: out again, the caller does not know
    if (w->member != NULL)
      kgate_leave(w->member);
    else
      kgate_release(w->semaphore, w->weight);
  }
  return -1;
}

PyObject* raise_wait_error(const wait_request* w) {
  if (w->result != KGATE_TIMED_OUT) return raise_code(w->result, w->text);
  if (PyErr_Occurred() == NULL) PyErr_SetString(PyExc_TimeoutError, w->text);
  return NULL;
}
