// SPDX-License-Identifier: Apache-2.0
// Waits that block no thread: what an event loop watches.
#include "native/native.h"

typedef struct {
  PyObject_HEAD PyObject* of;  // the gate or semaphore
  wait_place place;            // its wait is null once it has ended
  pid_t process;
} wait_object;

PyObject* make_wait(PyObject* of, const wait_place* place) {
  wait_object* self = PyObject_New(wait_object, &wait_type);
  if (self == NULL) {
    kgate_wait_destroy(place->wait);
    place->given_up(of, place->member, place);
    return NULL;
  }
  Py_INCREF(of);
  self->of = of;
  self->place = *place;
  self->process = this_process;
  return (PyObject*)self;
}

/// Gives the place in the queue back, or what was granted meanwhile. In a forked child it is the parent's.
static void wait_give_up(wait_object* self) {
  kgate_wait* wait = self->place.wait;
  self->place.wait = NULL;
  if (wait == NULL || self->process != this_process) return;
  kgate_wait_destroy(wait);
  self->place.given_up(self->of, self->place.member, &self->place);
}
static void wait_dealloc(wait_object* self) {
  wait_give_up(self);
  Py_DECREF(self->of);
  PyObject_Free(self);
}
static int wait_valid(const wait_object* self) {
  if (self->place.wait != NULL && self->process == this_process) return 1;
  PyErr_SetString(PyExc_ValueError, "the wait is over");
  return 0;
}
static PyObject* wait_fileno(wait_object* self, PyObject* Py_UNUSED(nothing)) {
  return wait_valid(self) ? PyLong_FromLong(kgate_wait_descriptor(self->place.wait)) : NULL;
}
static PyObject* wait_finish(wait_object* self, PyObject* Py_UNUSED(nothing)) {
  if (!wait_valid(self)) return NULL;
  const int result = kgate_wait_finish(self->place.wait);
  if (result == KGATE_WAITING) {
    PyErr_SetString(PyExc_BlockingIOError, "the wait has not ended");
    return NULL;
  }
  self->place.wait = NULL;
  return self->place.ended(self->of, self->place.member, result, &self->place);
}
static PyObject* wait_cancel(wait_object* self, PyObject* Py_UNUSED(nothing)) {
  wait_give_up(self);
  Py_RETURN_NONE;
}
static PyMethodDef wait_methods[] = {
    {"fileno", (PyCFunction)wait_fileno, METH_NOARGS, "fileno(): readable when finish() has something to do"},
    {"finish", (PyCFunction)wait_finish, METH_NOARGS, "finish(): what was waited for; BlockingIOError before the end"},
    {"cancel", (PyCFunction)wait_cancel, METH_NOARGS, "cancel(): gives the place in the queue back"},
    {NULL, NULL, 0, NULL}};
PyTypeObject wait_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "kgate._native.Wait",
                          .tp_basicsize = sizeof(wait_object),
                          .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                          .tp_dealloc = (destructor)wait_dealloc,
                          .tp_methods = wait_methods,
                          .tp_doc = "A place in a queue that blocks no thread."};
