// SPDX-License-Identifier: Apache-2.0
// Semaphores for the threads of one process.
#include <stdio.h>

#include "native/native.h"

typedef struct {
  PyObject_HEAD kgate_semaphore* semaphore;
  Py_ssize_t out;  // permits taken: changed with the interpreter lock
} semaphore_object;

static int semaphore_init(semaphore_object* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"permits", NULL};
  PyObject* permits;
  Py_ssize_t k;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O", names, &permits) || !clipped_index(permits, &k)) return -1;
  if (self->semaphore != NULL) {
    PyErr_SetString(PyExc_TypeError, "a semaphore is made once");
    return -1;
  }
  const int result = kgate_semaphore_create(&self->semaphore, k);
  if (result == KGATE_INVALID)
    PyErr_SetString(PyExc_ValueError, kgate_last_error());
  else if (result != KGATE_OK)
    raise_error(result);
  return result == KGATE_OK ? 0 : -1;
}
static void semaphore_dealloc(semaphore_object* self) {
  kgate_semaphore_destroy(self->semaphore);
  Py_TYPE(self)->tp_free((PyObject*)self);
}
static int semaphore_ready(semaphore_object* self) {
  if (self->semaphore != NULL) return 1;
  PyErr_SetString(PyExc_ValueError, "the semaphore was never made");
  return 0;
}
/// Whether it is a number of permits to ask for; else an exception.
static int permits_fit(Py_ssize_t permits) {
  if (permits >= 1 && permits <= INT32_MAX) return 1;
  if (permits < 1)
    PyErr_SetString(PyExc_ValueError, "permits must be at least 1");
  else
    raise_code(KGATE_TOO_HEAVY, "semaphore: more permits asked for than any has");
  return 0;
}
static PyObject* semaphore_acquire_within(semaphore_object* self, Py_ssize_t permits, int64_t limit) {
  if (!semaphore_ready(self) || !permits_fit(permits)) return NULL;
  wait_request w = {.semaphore = self->semaphore, .weight = permits, .nanoseconds = limit};
  w.result = kgate_acquire_within(self->semaphore, permits, 0, NULL);
  if (w.result == KGATE_TIMED_OUT && limit != 0) {
    Py_INCREF(self);  // not destroyed while a thread waits
    w.result = wait_interruptibly(&w);
    if (w.result == KGATE_OK) self->out += permits;
    Py_DECREF(self);
  } else if (w.result == KGATE_OK) {
    self->out += permits;
  } else {
    snprintf(w.text, sizeof w.text, "%s", kgate_last_error());
  }
  if (w.result == KGATE_OK) Py_RETURN_TRUE;
  if (w.result == KGATE_TIMED_OUT) Py_RETURN_FALSE;
  return raise_wait_error(&w);
}
static PyObject* semaphore_acquire(semaphore_object* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"blocking", "timeout", "permits", NULL};
  int blocking = 1;
  PyObject *timeout = Py_None, *requested = NULL;
  Py_ssize_t permits = 1;
  int64_t limit;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|pO$O", names, &blocking, &timeout, &requested) ||
      !time_limit(timeout, &limit) || (requested != NULL && !clipped_index(requested, &permits)))
    return NULL;
  if (!blocking && timeout != Py_None) {
    PyErr_SetString(PyExc_ValueError, "can't specify timeout for non-blocking acquire");
    return NULL;
  }
  return semaphore_acquire_within(self, permits, blocking ? limit : 0);
}
/// How a wait ended: True, or null with an exception.
static PyObject* semaphore_ended(PyObject* of, kgate_member* Py_UNUSED(member), int result, const queued_wait* queued) {
  if (result != KGATE_OK) return raise_error(result);
  ((semaphore_object*)of)->out += queued->weight;
  Py_RETURN_TRUE;
}
static void semaphore_given_up(PyObject* Py_UNUSED(of), kgate_member* Py_UNUSED(member),
                               const queued_wait* Py_UNUSED(queued)) {}
/// True if the permits are to be had at once, else a Wait.
static PyObject* semaphore_begin(semaphore_object* self, PyObject* argument) {
  Py_ssize_t permits;
  if (!clipped_index(argument, &permits) || !semaphore_ready(self) || !permits_fit(permits)) return NULL;
  queued_wait queued = {.weight = permits, .ended = semaphore_ended, .given_up = semaphore_given_up};
  const int result = kgate_acquire_begin(self->semaphore, permits, KGATE_FOREVER, NULL, &queued.wait);
  return result == KGATE_WAITING ? make_wait((PyObject*)self, &queued)
                                 : semaphore_ended((PyObject*)self, NULL, result, &queued);
}
static PyObject* semaphore_release(semaphore_object* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"n", NULL};
  PyObject* requested = NULL;
  Py_ssize_t permits = 1;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O", names, &requested) || !semaphore_ready(self) ||
      (requested != NULL && !clipped_index(requested, &permits)))
    return NULL;
  if (permits < 1) {
    PyErr_SetString(PyExc_ValueError, "permits must be at least 1");
    return NULL;
  }
  if (permits > self->out) {
    PyErr_SetString(PyExc_ValueError, "more permits released than were taken");
    return NULL;
  }
  self->out -= permits;
  kgate_release(self->semaphore, permits);
  Py_RETURN_NONE;
}
static PyObject* semaphore_enter(semaphore_object* self, PyObject* Py_UNUSED(nothing)) {
  return semaphore_acquire_within(self, 1, KGATE_FOREVER);
}
static PyObject* semaphore_exit(semaphore_object* self, PyObject* const* Py_UNUSED(values),
                                Py_ssize_t Py_UNUSED(count)) {
  if (self->out < 1) {
    PyErr_SetString(PyExc_ValueError, "more permits released than were taken");
    return NULL;
  }
  --self->out;
  kgate_release(self->semaphore, 1);
  Py_RETURN_NONE;
}
static PyObject* semaphore_resize(semaphore_object* self, PyObject* argument) {
  Py_ssize_t k;
  if (!clipped_index(argument, &k) || !semaphore_ready(self)) return NULL;
  const int result = kgate_semaphore_resize(self->semaphore, k);
  if (result == KGATE_INVALID) {
    PyErr_SetString(PyExc_ValueError, kgate_last_error());
    return NULL;
  }
  if (result != KGATE_OK) return raise_error(result);
  Py_RETURN_NONE;
}
static PyObject* semaphore_close(semaphore_object* self, PyObject* Py_UNUSED(nothing)) {
  if (!semaphore_ready(self)) return NULL;
  kgate_semaphore_close(self->semaphore);
  Py_RETURN_NONE;
}
static PyObject* semaphore_permits(semaphore_object* self, void* Py_UNUSED(closure)) {
  return PyLong_FromSsize_t(kgate_semaphore_permits(self->semaphore));
}
static PyObject* semaphore_available(semaphore_object* self, void* Py_UNUSED(closure)) {
  return PyLong_FromSsize_t(kgate_semaphore_available(self->semaphore));
}
static PyObject* semaphore_waiters(semaphore_object* self, void* Py_UNUSED(closure)) {
  return PyLong_FromSsize_t(kgate_semaphore_waiters(self->semaphore));
}
static PyMethodDef semaphore_methods[] = {
    {"acquire", (PyCFunction)(void (*)(void))semaphore_acquire, METH_VARARGS | METH_KEYWORDS,
     "acquire(blocking=True, timeout=None, *, permits=1): True, or False if not in time; Closed or TooHeavy if "
     "refused"},
    {"release", (PyCFunction)(void (*)(void))semaphore_release, METH_VARARGS | METH_KEYWORDS,
     "release(n=1): hands back what was taken"},
    {"resize", (PyCFunction)semaphore_resize, METH_O, "resize(permits): changes how many may be inside"},
    {"close", (PyCFunction)semaphore_close, METH_NOARGS, "close(): refuses everybody who waits or comes; final"},
    {"_begin", (PyCFunction)semaphore_begin, METH_O, NULL},
    {"__enter__", (PyCFunction)semaphore_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))semaphore_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef semaphore_properties[] = {
    {"permits", (getter)semaphore_permits, NULL, "how many may be inside; 0 if closed", NULL},
    {"available", (getter)semaphore_available, NULL, "how many permits are free", NULL},
    {"waiters", (getter)semaphore_waiters, NULL, "how many threads wait", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
PyTypeObject semaphore_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "kgate._native.Semaphore",
                               .tp_basicsize = sizeof(semaphore_object),
                               .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                               .tp_new = PyType_GenericNew,
                               .tp_init = (initproc)semaphore_init,
                               .tp_dealloc = (destructor)semaphore_dealloc,
                               .tp_methods = semaphore_methods,
                               .tp_getset = semaphore_properties,
                               .tp_doc = "At most so many threads at a time, in the order they came."};
