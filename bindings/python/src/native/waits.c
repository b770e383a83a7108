// SPDX-License-Identifier: Apache-2.0
// Waits that block no thread: what an event loop watches.
#include "native/native.h"

typedef struct {
  PyObject_HEAD PyObject* of;  // the gate or semaphore
  queued_wait queued;          // its wait is null once it has ended
  pid_t process;
} wait_object;

PyObject* make_wait(PyObject* of, const queued_wait* queued) {
  wait_object* self = PyObject_New(wait_object, &wait_type);
  if (self == NULL) {
    kgate_wait_destroy(queued->wait);
    queued->given_up(of, queued->member, queued);
    return NULL;
  }
  Py_INCREF(of);
  self->of = of;
  self->queued = *queued;
  self->process = this_process;
  return (PyObject*)self;
}

/// Leaves the queue, and hands back what was granted meanwhile. In a forked child it is the parent's.
static void wait_give_up(wait_object* self) {
  kgate_wait* wait = self->queued.wait;
  self->queued.wait = NULL;
  if (wait == NULL || self->process != this_process) return;
  kgate_wait_destroy(wait);
  self->queued.given_up(self->of, self->queued.member, &self->queued);
}
static void wait_dealloc(wait_object* self) {
  wait_give_up(self);
  Py_DECREF(self->of);
  PyObject_Free(self);
}
static int wait_valid(const wait_object* self) {
  if (self->queued.wait != NULL && self->process == this_process) return 1;
  PyErr_SetString(PyExc_ValueError, "the wait is over");
  return 0;
}
static PyObject* wait_fileno(wait_object* self, PyObject* Py_UNUSED(nothing)) {
  return wait_valid(self) ? PyLong_FromLong(kgate_wait_descriptor(self->queued.wait)) : NULL;
}
static PyObject* wait_finish(wait_object* self, PyObject* Py_UNUSED(nothing)) {
  if (!wait_valid(self)) return NULL;
  const int result = kgate_wait_finish(self->queued.wait);
  if (result == KGATE_WAITING) {
    PyErr_SetString(PyExc_BlockingIOError, "the wait has not ended");
    return NULL;
  }
  self->queued.wait = NULL;
  return self->queued.ended(self->of, self->queued.member, result, &self->queued);
}
static PyObject* wait_cancel(wait_object* self, PyObject* Py_UNUSED(nothing)) {
  wait_give_up(self);
  Py_RETURN_NONE;
}
static PyMethodDef wait_methods[] = {
    {"fileno", (PyCFunction)wait_fileno, METH_NOARGS, "fileno(): readable when finish() has something to do"},
    {"finish", (PyCFunction)wait_finish, METH_NOARGS, "finish(): what was waited for; BlockingIOError before the end"},
    {"cancel", (PyCFunction)wait_cancel, METH_NOARGS, "cancel(): leaves the queue"},
    {NULL, NULL, 0, NULL}};
PyTypeObject wait_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "kgate._native.Wait",
                          .tp_basicsize = sizeof(wait_object),
                          .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                          .tp_dealloc = (destructor)wait_dealloc,
                          .tp_methods = wait_methods,
                          .tp_doc = "A position in a queue that blocks no thread."};
