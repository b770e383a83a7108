// SPDX-License-Identifier: Apache-2.0
// Gates and their permits.
#include <stdio.h>
#include <string.h>

#include "native/native.h"

/// An open gate, and how many use it. Counted with the interpreter lock: a thread that uses it may go on without.
typedef struct {
  kgate_gate* gate;
  size_t users;
} open_gate;

/// A gate of this process. Members that are not in use are kept for the next enter. In a forked child it opens itself
/// anew.
typedef struct {
  PyObject_HEAD open_gate* open;
  pid_t process;
  PyObject *name, *directory, *command;
  unsigned mode, overtakings;
  int group;
  unsigned opened;  // how often: members of an earlier opening are not used again
  kgate_member** spare;
  size_t spare_count, spare_room;
} gate_object;

typedef struct {
  PyObject_HEAD gate_object* gate;
  kgate_member* member;  // null when released
  pid_t process;
  unsigned opened;
  int slot;  // -1: not requested yet
  int weight;
} permit_object;

static void open_gate_release(open_gate* open) {
  if (open == NULL || --open->users > 0) return;
  kgate_gate_close(open->gate);
  PyMem_Free(open);
}

/// Opens the gate that the fields describe. Null with an exception.
static open_gate* opened_gate(const gate_object* self, int slots) {
  kgate_gate_options options = KGATE_GATE_OPTIONS_INIT;
  const char* name = PyUnicode_AsUTF8(self->name);
  if (name == NULL) return NULL;
  if (self->directory != Py_None && (options.directory = PyUnicode_AsUTF8(self->directory)) == NULL) return NULL;
  if (self->command != Py_None && (options.command = PyUnicode_AsUTF8(self->command)) == NULL) return NULL;
  options.mode = self->mode;
  options.group = self->group;
  options.overtakings = self->overtakings;
  kgate_gate* gate = NULL;
  int result;
  Py_BEGIN_ALLOW_THREADS result = kgate_gate_open(&gate, name, slots, &options);
  Py_END_ALLOW_THREADS if (result != KGATE_OK) return (open_gate*)raise_error(result);
  open_gate* open = PyMem_Malloc(sizeof *open);
  if (open == NULL) {
    kgate_gate_close(gate);
    return (open_gate*)PyErr_NoMemory();
  }
  *open = (open_gate){gate, 1};
  return open;
}

static void gate_forget(gate_object* self) {
  for (size_t i = 0; i < self->spare_count; ++i) kgate_part(self->spare[i]);
  self->spare_count = 0;
  open_gate* open = self->open;
  self->open = NULL;
  open_gate_release(open);
}

static int gate_use(gate_object* self, open_gate* open) {
  if (open == NULL) return 0;
  gate_forget(self);
  self->open = open;
  self->process = this_process;
  ++self->opened;
  return 1;
}

/// The gate, opened by this process. What a fork left behind is closed, which does nothing to the parent.
static int gate_ready(gate_object* self) {
  if (self->open != NULL && self->process == this_process) return 1;
  if (self->open == NULL && self->name == NULL) {
    PyErr_SetString(PyExc_ValueError, "the gate was never opened");
    return 0;
  }
  return gate_use(self, opened_gate(self, 0));
}

/// The arguments have been checked in Python (kgate.Gate).
static int gate_init(gate_object* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"name", "slots", "directory", "mode", "group", "overtake", "command", NULL};
  gate_object wanted = {.directory = Py_None, .command = Py_None, .mode = 0600, .group = -1};
  int slots = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "U|i$OIiIO", names, &wanted.name, &slots, &wanted.directory,
                                   &wanted.mode, &wanted.group, &wanted.overtakings, &wanted.command))
    return -1;
  if (!gate_use(self, opened_gate(&wanted, slots))) return -1;
  Py_INCREF(wanted.name);
  Py_INCREF(wanted.directory);
  Py_INCREF(wanted.command);
  Py_XSETREF(self->name, wanted.name);
  Py_XSETREF(self->directory, wanted.directory);
  Py_XSETREF(self->command, wanted.command);
  self->mode = wanted.mode;
  self->group = wanted.group;
  self->overtakings = wanted.overtakings;
  return 0;
}

static void gate_dealloc(gate_object* self) {
  gate_forget(self);
  PyMem_Free(self->spare);
  Py_XDECREF(self->name);
  Py_XDECREF(self->directory);
  Py_XDECREF(self->command);
  Py_TYPE(self)->tp_free((PyObject*)self);
}

static kgate_member* gate_member(gate_object* self) {
  if (self->spare_count > 0) return self->spare[--self->spare_count];
  kgate_member* member = NULL;
  const int result = kgate_gate_join(self->open->gate, &member);
  if (result == KGATE_OK) return member;
  raise_error(result);
  return NULL;
}
static void gate_keep(gate_object* self, kgate_member* member) {
  if (self->spare_count == self->spare_room) {
    const size_t room = self->spare_room == 0 ? 4 : 2 * self->spare_room;
    kgate_member** spare = room > 64 ? NULL : PyMem_Realloc(self->spare, room * sizeof *spare);
    if (spare == NULL) {
      kgate_part(member);
      return;
    }
    self->spare = spare;
    self->spare_room = room;
  }
  self->spare[self->spare_count++] = member;
}

/// The permit of a member that is inside. If there is no memory for one, the member parts.
static PyObject* gate_permit(gate_object* self, kgate_member* member, unsigned opened, int weight) {
  permit_object* permit = PyObject_GC_New(permit_object, &permit_type);
  if (permit == NULL) {
    kgate_part(member);
    return NULL;
  }
  Py_INCREF(self);
  permit->gate = self;
  permit->member = member;
  permit->process = this_process;
  permit->opened = opened;
  permit->slot = -1;
  permit->weight = weight;
  PyObject_GC_Track(permit);
  return (PyObject*)permit;
}
/// A member that is not inside: for the next enter, if the gate is still the one it has joined.
static void gate_return(gate_object* self, kgate_member* member, unsigned opened) {
  if (self->open != NULL && self->process == this_process && self->opened == opened)
    gate_keep(self, member);
  else
    kgate_part(member);
}

/// The weight of a request; 0 with an exception if it is none.
static int checked_weight(Py_ssize_t weight) {
  if (weight >= 1 && weight <= INT32_MAX) return (int)weight;
  if (weight < 1)
    PyErr_SetString(PyExc_ValueError, "weight must be at least 1");
  else
    raise_code(KGATE_BAD_SLOTS, "the weight is above that of any gate, which has at most 4095 slots");
  return 0;
}

/// How a wait at a gate ended: a permit, or null with an exception.
static PyObject* gate_ended(PyObject* of, kgate_member* member, int result, const queued_wait* queued) {
  gate_object* self = (gate_object*)of;
  if (result == KGATE_OK) return gate_permit(self, member, queued->opened, (int)queued->weight);
  raise_error(result);
  gate_return(self, member, queued->opened);
  return NULL;
}
static void gate_given_up(PyObject* of, kgate_member* member, const queued_wait* queued) {
  gate_return((gate_object*)of, member, queued->opened);
}
/// A permit if it is to be had at once, else a Wait: a position in the queue that blocks no thread.
static PyObject* gate_begin(gate_object* self, PyObject* argument) {
  Py_ssize_t requested;
  if (!clipped_index(argument, &requested)) return NULL;
  const int weight = checked_weight(requested);
  if (weight == 0 || !gate_ready(self)) return NULL;
  queued_wait queued = {.weight = weight, .opened = self->opened, .ended = gate_ended, .given_up = gate_given_up};
  queued.member = gate_member(self);
  if (queued.member == NULL) return NULL;
  const int result = kgate_enter_attend(queued.member, weight, KGATE_FOREVER, NULL, &queued.wait);
  return result == KGATE_WAITING ? make_wait((PyObject*)self, &queued)
                                 : gate_ended((PyObject*)self, queued.member, result, &queued);
}

/// Enters within a limit. A permit; None if `quietly` and not in time; null with an exception.
static PyObject* gate_enter_within(gate_object* self, Py_ssize_t requested, int64_t nanoseconds, int quietly) {
  const int weight = checked_weight(requested);
  if (weight == 0 || !gate_ready(self)) return NULL;
  const unsigned opened = self->opened;
  wait_request w = {.weight = weight, .nanoseconds = nanoseconds};
  w.member = gate_member(self);
  if (w.member == NULL) return NULL;
  w.result = kgate_enter_within(w.member, weight, 0, NULL);
  if (w.result == KGATE_TIMED_OUT && nanoseconds != 0)
    w.result = wait_interruptibly(&w);
  else if (w.result != KGATE_OK)
    snprintf(w.text, sizeof w.text, "%s", kgate_last_error());
  if (w.result != KGATE_OK) {
    if (w.result == KGATE_TIMED_OUT || w.result == -1)
      gate_return(self, w.member, opened);
    else
      kgate_part(w.member);
    if (quietly && w.result == KGATE_TIMED_OUT) Py_RETURN_NONE;
    return raise_wait_error(&w);
  }
  return gate_permit(self, w.member, opened, weight);
}

/// weight and timeout, by name only: a number alone could be meant as either.
static int entry_arguments(PyObject* const* values, Py_ssize_t count, PyObject* keywords, const char* function,
                           Py_ssize_t* weight, PyObject** timeout) {
  *weight = 1;
  *timeout = Py_None;
  PyObject* given[2] = {NULL, NULL};
  const Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
  if (count > 0) {
    PyErr_Format(PyExc_TypeError,
                 "%s() takes its arguments by name: timeout=SECONDS to wait no longer, weight=N for N slots at once",
                 function);
    return 0;
  }
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* name = PyTuple_GET_ITEM(keywords, i);
    const int at = PyUnicode_CompareWithASCIIString(name, "weight") == 0    ? 0
                   : PyUnicode_CompareWithASCIIString(name, "timeout") == 0 ? 1
                                                                            : -1;
    if (at < 0) {
      PyErr_Format(PyExc_TypeError, "%s() got an unexpected argument '%U'", function, name);
      return 0;
    }
    given[at] = values[i];
  }
  if (given[1] != NULL) *timeout = given[1];
  return given[0] == NULL || clipped_index(given[0], weight);
}

static PyObject* gate_enter(gate_object* self, PyObject* const* values, Py_ssize_t count, PyObject* keywords) {
  Py_ssize_t weight;
  PyObject* timeout;
  int64_t limit;
  if (!entry_arguments(values, count, keywords, "enter", &weight, &timeout) || !time_limit(timeout, &limit))
    return NULL;
  return gate_enter_within(self, weight, limit, 0);
}
static PyObject* gate_try_enter(gate_object* self, PyObject* const* values, Py_ssize_t count, PyObject* keywords) {
  Py_ssize_t weight;
  PyObject* timeout;
  int64_t limit;
  if (!entry_arguments(values, count, keywords, "try_enter", &weight, &timeout)) return NULL;
  if (timeout == Py_None)
    limit = 0;
  else if (!time_limit(timeout, &limit))
    return NULL;
  return gate_enter_within(self, weight, limit, 1);
}

static PyObject* gate_get_slots(gate_object* self, void* Py_UNUSED(closure)) {
  int slots = 0;
  if (!gate_ready(self)) return NULL;
  const int result = kgate_gate_slots(self->open->gate, &slots);
  return result == KGATE_OK ? PyLong_FromLong(slots) : raise_error(result);
}
static PyObject* gate_resize(gate_object* self, PyObject* argument) {
  Py_ssize_t slots;
  if (!clipped_index(argument, &slots) || !gate_ready(self)) return NULL;
  const int result = kgate_gate_resize(self->open->gate, slots < 0 || slots > INT32_MAX ? 0 : (int)slots);
  if (result != KGATE_OK) return raise_error(result);
  Py_RETURN_NONE;
}
static PyObject* gate_remove(gate_object* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"force", NULL};
  int force = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|$p", names, &force) || !gate_ready(self)) return NULL;
  const int result = kgate_gate_remove(self->open->gate, force);
  if (result != KGATE_OK) return raise_error(result);
  Py_RETURN_NONE;
}

static PyObject* participants(const kgate_participant* all, size_t count) {
  PyObject* list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < count; ++i) {
    const kgate_participant* p = &all[i];
    PyObject* host = PyUnicode_DecodeUTF8(p->host, (Py_ssize_t)strlen(p->host), "replace");
    PyObject* command = PyUnicode_DecodeUTF8(p->command, (Py_ssize_t)strlen(p->command), "replace");
    PyObject* one = host == NULL || command == NULL
                        ? NULL
                        : Py_BuildValue("(iIiiiLOO)", p->process, p->user, p->weight, p->slot, p->position,
                                        (long long)p->since, host, command);
    Py_XDECREF(host);
    Py_XDECREF(command);
    if (one == NULL || PyList_Append(list, one) != 0) Py_CLEAR(list);
    Py_XDECREF(one);
  }
  return list;
}
static PyObject* gate_status(gate_object* self, PyObject* Py_UNUSED(nothing)) {
  kgate_status* status = NULL;
  int result;
  if (!gate_ready(self)) return NULL;
  open_gate* open = self->open;  // another thread may close this object meanwhile
  ++open->users;
  Py_BEGIN_ALLOW_THREADS result = kgate_gate_status(open->gate, &status);
  Py_END_ALLOW_THREADS open_gate_release(open);
  if (result != KGATE_OK) return raise_error(result);
  PyObject* holders = participants(status->holders, status->holder_count);
  PyObject* waiters = holders == NULL ? NULL : participants(status->waiters, status->waiter_count);
  PyObject* made = waiters == NULL ? NULL
                                   : Py_BuildValue("(iiiKOO)", status->slots, status->free, status->over,
                                                   (unsigned long long)status->healed, holders, waiters);
  Py_XDECREF(holders);
  Py_XDECREF(waiters);
  kgate_status_free(status);
  return made;
}
static PyObject* gate_close(gate_object* self, PyObject* Py_UNUSED(nothing)) {
  gate_forget(self);
  Py_RETURN_NONE;
}

static PyMethodDef gate_methods[] = {
    {"enter", (PyCFunction)(void (*)(void))gate_enter, METH_FASTCALL | METH_KEYWORDS,
     "enter(*, weight=1, timeout=None): waits in the queue and returns a Permit; TimeoutError if not in time"},
    {"try_enter", (PyCFunction)(void (*)(void))gate_try_enter, METH_FASTCALL | METH_KEYWORDS,
     "try_enter(*, weight=1, timeout=0): a Permit, or None if not in time"},
    {"resize", (PyCFunction)gate_resize, METH_O, "resize(slots): changes how many may be inside"},
    {"remove", (PyCFunction)(void (*)(void))gate_remove, METH_VARARGS | METH_KEYWORDS,
     "remove(*, force=False): removes the gate; InUse if somebody is inside or waits"},
    {"_begin", (PyCFunction)gate_begin, METH_O, NULL},
    {"_status", (PyCFunction)gate_status, METH_NOARGS, NULL},
    {"close", (PyCFunction)gate_close, METH_NOARGS,
     "close(): gives back what this object holds of the gate; the next use opens it again"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef gate_properties[] = {{"slots", (getter)gate_get_slots, NULL, "how many may be inside", NULL},
                                        {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef gate_members[] = {
    {"name", T_OBJECT_EX, offsetof(gate_object, name), READONLY, "the gate's name"},
    {"directory", T_OBJECT, offsetof(gate_object, directory), READONLY, "where it is; None: the user's own"},
    {"_command", T_OBJECT, offsetof(gate_object, command), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
PyTypeObject gate_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "kgate._native.Gate",
                          .tp_basicsize = sizeof(gate_object),
                          .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                          .tp_new = PyType_GenericNew,
                          .tp_init = (initproc)gate_init,
                          .tp_dealloc = (destructor)gate_dealloc,
                          .tp_methods = gate_methods,
                          .tp_getset = gate_properties,
                          .tp_members = gate_members};

/// Leaves, if this process is inside with it. In a forked child the permit is its parent's.
static void permit_leave(permit_object* self) {
  kgate_member* member = self->member;
  self->member = NULL;
  if (member == NULL) return;
  if (self->process != this_process) {
    kgate_part(member);  // does nothing to the parent
    return;
  }
  kgate_leave(member);
  gate_return(self->gate, member, self->opened);
}
static int permit_traverse(permit_object* self, visitproc visit, void* arg) {
  Py_VISIT(self->gate);
  return 0;
}
static void permit_dealloc(permit_object* self) {
  PyObject_GC_UnTrack(self);
  permit_leave(self);
  Py_XDECREF(self->gate);
  PyObject_GC_Del(self);
}
/// Whether it is this process's and not released; else an exception.
static int permit_valid(const permit_object* self) {
  if (self->member != NULL && self->process == this_process) return 1;
  if (self->member == NULL)
    PyErr_SetString(PyExc_ValueError, "the permit was released");
  else
    raise_code(KGATE_FORKED, "the permit is the parent process's");
  return 0;
}
static int permit_number(permit_object* self) {
  if (!permit_valid(self)) return -1;
  if (self->slot < 0) {
    const int result = kgate_slot(self->member, &self->slot);
    if (result != KGATE_OK) raise_error(result);
  }
  return self->slot;
}
static PyObject* permit_slot(permit_object* self, void* Py_UNUSED(closure)) {
  const int slot = permit_number(self);
  return slot < 0 ? NULL : PyLong_FromLong(slot);
}

// As a number a permit is its slot, wherever a number can stand: an index, a key, a part of a sum, a text.
static PyObject* permit_index(permit_object* self) { return permit_slot(self, NULL); }
static PyObject* permit_text(permit_object* self) {
  const int slot = permit_number(self);
  return slot < 0 ? NULL : PyUnicode_FromFormat("%d", slot);
}
static PyObject* permit_format(permit_object* self, PyObject* form) {
  PyObject* number = permit_slot(self, NULL);
  PyObject* made = number == NULL ? NULL : PyObject_Format(number, form);
  Py_XDECREF(number);
  return made;
}
static PyObject* permit_float(permit_object* self) {
  const int slot = permit_number(self);
  return slot < 0 ? NULL : PyFloat_FromDouble(slot);
}
/// A permit is true, also with slot 0: `if permit := gate.try_enter()`.
static int permit_bool(permit_object* Py_UNUSED(self)) { return 1; }

/// The slot if it is known or can be: also of a permit that was released since. Below 0, without an exception, if not.
static int permit_known_slot(permit_object* self) {
  if (self->slot < 0 && self->member != NULL && self->process == this_process &&
      kgate_slot(self->member, &self->slot) != KGATE_OK)
    self->slot = -1;
  return self->slot;
}
/// Whether two are equal is always answered, so that permits can be kept in lists and sets: with numbers by the slot,
/// with permits by which one it is.
static PyObject* permit_compare(permit_object* self, PyObject* other, int how) {
  if (Py_TYPE(other) == &permit_type && (how == Py_EQ || how == Py_NE))
    return PyBool_FromLong(((PyObject*)self == other) == (how == Py_EQ));
  if (!PyLong_Check(other) && !PyFloat_Check(other)) Py_RETURN_NOTIMPLEMENTED;
  const int equality = how == Py_EQ || how == Py_NE;
  if (equality && permit_known_slot(self) < 0) return PyBool_FromLong(how == Py_NE);
  PyObject* number = equality ? PyLong_FromLong(self->slot) : permit_slot(self, NULL);
  PyObject* made = number == NULL ? NULL : PyObject_RichCompare(number, other, how);
  Py_XDECREF(number);
  return made;
}
static Py_hash_t permit_hash(permit_object* self) {
  const int slot = permit_known_slot(self);
  return slot < 0 ? PyBaseObject_Type.tp_hash((PyObject*)self) : slot;  // an int's hash is itself
}

/// One operation on numbers, of which one or both are permits.
static PyObject* permit_operation(PyObject* left, PyObject* right, binaryfunc operation) {
  PyObject* numbers[2] = {left, right};
  for (int i = 0; i < 2; ++i) {
    if (Py_TYPE(numbers[i]) == &permit_type)
      numbers[i] = permit_slot((permit_object*)numbers[i], NULL);
    else
      Py_INCREF(numbers[i]);
  }
  PyObject* made = numbers[0] == NULL || numbers[1] == NULL ? NULL : operation(numbers[0], numbers[1]);
  Py_XDECREF(numbers[0]);
  Py_XDECREF(numbers[1]);
  return made;
}
#define PERMIT_OPERATION(name, operation) \
  static PyObject* permit_##name(PyObject* left, PyObject* right) { return permit_operation(left, right, operation); }
PERMIT_OPERATION(add, PyNumber_Add)
PERMIT_OPERATION(subtract, PyNumber_Subtract)
PERMIT_OPERATION(multiply, PyNumber_Multiply)
PERMIT_OPERATION(floor_divide, PyNumber_FloorDivide)
PERMIT_OPERATION(true_divide, PyNumber_TrueDivide)
PERMIT_OPERATION(remainder, PyNumber_Remainder)
PERMIT_OPERATION(divmod, PyNumber_Divmod)
PERMIT_OPERATION(lshift, PyNumber_Lshift)
PERMIT_OPERATION(rshift, PyNumber_Rshift)
PERMIT_OPERATION(and, PyNumber_And)
PERMIT_OPERATION(or, PyNumber_Or)
PERMIT_OPERATION(xor, PyNumber_Xor)
#undef PERMIT_OPERATION
static PyObject* permit_negative(permit_object* self) {
  const int slot = permit_number(self);
  return slot < 0 ? NULL : PyLong_FromLong(-slot);
}

static PyObject* permit_repr(permit_object* self) {
  return self->member == NULL ? PyUnicode_FromFormat("<kgate.Permit of %R, released>", self->gate->name)
                              : PyUnicode_FromFormat("<kgate.Permit of %R>", self->gate->name);
}
static PyObject* permit_slots(permit_object* self, void* Py_UNUSED(closure)) {
  if (permit_number(self) < 0) return NULL;
  int* numbers = PyMem_Calloc((size_t)self->weight, sizeof *numbers);
  size_t count = 0;
  if (numbers == NULL) return PyErr_NoMemory();
  const int result = kgate_slots_of(self->member, numbers, (size_t)self->weight, &count);
  PyObject* made = result == KGATE_OK ? PyTuple_New((Py_ssize_t)count) : raise_error(result);
  for (size_t i = 0; made != NULL && i < count && i < (size_t)self->weight; ++i)
    PyTuple_SET_ITEM(made, (Py_ssize_t)i, PyLong_FromLong(numbers[i]));
  PyMem_Free(numbers);
  return made;
}
static PyObject* permit_token(permit_object* self, void* Py_UNUSED(closure)) {
  uint64_t token = 0;
  if (permit_number(self) < 0) return NULL;
  const int result = kgate_token(self->member, &token);
  return result == KGATE_OK ? PyLong_FromUnsignedLongLong(token) : raise_error(result);
}
static PyObject* permit_released(permit_object* self, void* Py_UNUSED(closure)) {
  return PyBool_FromLong(self->member == NULL || self->process != this_process);
}
static PyObject* permit_release(permit_object* self, PyObject* Py_UNUSED(nothing)) {
  permit_leave(self);
  Py_RETURN_NONE;
}
static PyObject* permit_enter(PyObject* self, PyObject* Py_UNUSED(nothing)) {
  if (!permit_valid((permit_object*)self)) return NULL;
  Py_INCREF(self);
  return self;
}
static PyObject* permit_exit(permit_object* self, PyObject* const* Py_UNUSED(values), Py_ssize_t Py_UNUSED(count)) {
  permit_leave(self);
  Py_RETURN_NONE;
}
static PyMethodDef permit_methods[] = {
    {"release", (PyCFunction)permit_release, METH_NOARGS, "release(): leaves now; once more is nothing"},
    {"__format__", (PyCFunction)permit_format, METH_O, NULL},
    {"__enter__", permit_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))permit_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef permit_properties[] = {
    {"slot", (getter)permit_slot, NULL, "a number 0..k-1 that nobody else inside has", NULL},
    {"slots", (getter)permit_slots, NULL, "all slots of a permit with a weight", NULL},
    {"token", (getter)permit_token, NULL, "a fencing token: greater than all before it", NULL},
    {"released", (getter)permit_released, NULL, "whether it was given back", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyNumberMethods permit_numbers = {.nb_int = (unaryfunc)permit_index,
                                         .nb_index = (unaryfunc)permit_index,
                                         .nb_float = (unaryfunc)permit_float,
                                         .nb_bool = (inquiry)permit_bool,
                                         .nb_add = permit_add,
                                         .nb_subtract = permit_subtract,
                                         .nb_multiply = permit_multiply,
                                         .nb_floor_divide = permit_floor_divide,
                                         .nb_true_divide = permit_true_divide,
                                         .nb_remainder = permit_remainder,
                                         .nb_divmod = permit_divmod,
                                         .nb_lshift = permit_lshift,
                                         .nb_rshift = permit_rshift,
                                         .nb_and = permit_and,
                                         .nb_or = permit_or,
                                         .nb_xor = permit_xor,
                                         .nb_negative = (unaryfunc)permit_negative,
                                         .nb_positive = (unaryfunc)permit_index,
                                         .nb_absolute = (unaryfunc)permit_index};
PyTypeObject permit_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "kgate.Permit",
                            .tp_basicsize = sizeof(permit_object),
                            .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            .tp_dealloc = (destructor)permit_dealloc,
                            .tp_traverse = (traverseproc)permit_traverse,
                            .tp_repr = (reprfunc)permit_repr,
                            .tp_str = (reprfunc)permit_text,
                            .tp_hash = (hashfunc)permit_hash,
                            .tp_richcompare = (richcmpfunc)permit_compare,
                            .tp_as_number = &permit_numbers,
                            .tp_methods = permit_methods,
                            .tp_getset = permit_properties,
                            .tp_doc =
                                "Being inside a gate; its end leaves. It stands for its slot wherever a "
                                "number can stand."};
