// SPDX-License-Identifier: Apache-2.0
// The compiled part of the Python package: gates and semaphores over kgate.h, with the interpreter lock released while
// waiting.
#include <pthread.h>
#include <unistd.h>

#include "native/native.h"

PyObject* error_type;
pid_t this_process;

static void in_child(void) { this_process = getpid(); }

static PyObject* set_error_type(PyObject* Py_UNUSED(module), PyObject* type) {
  Py_INCREF(type);
  Py_XSETREF(error_type, type);
  Py_RETURN_NONE;
}
static PyObject* guard_against_truncation(PyObject* Py_UNUSED(module), PyObject* Py_UNUSED(nothing)) {
  kgate_guard_against_truncation();
  Py_RETURN_NONE;
}
static PyMethodDef module_methods[] = {
    {"_set_error_type", set_error_type, METH_O, NULL},
    {"guard_against_truncation", guard_against_truncation, METH_NOARGS,
     "For programs that are to outlive a gate whose file somebody cuts off: from now on they get Damaged, where SIGBUS "
     "would end them. It installs a handler for SIGBUS, of the whole process, which hands on what is not about a "
     "gate."},
    {NULL, NULL, 0, NULL}};

/* In two phases, so that each interpreter that imports the module comes by here: of one initialised in one phase a
 * subinterpreter gets a copy unasked, once the main one has it. */
static int exec_module(PyObject* module) {
  static int prepared;
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError, "kgate can be used in the main interpreter only");
    return -1;
  }
  this_process = getpid();
  if (!prepared && pthread_atfork(NULL, NULL, in_child) != 0) {
    PyErr_NoMemory();
    return -1;
  }
  prepared = 1;
  if (PyModule_AddType(module, &gate_type) != 0 || PyModule_AddType(module, &permit_type) != 0 ||
      PyModule_AddType(module, &semaphore_type) != 0 || PyModule_AddType(module, &wait_type) != 0 ||
      PyModule_AddStringConstant(module, "version", kgate_version()) != 0)
    return -1;
  const struct {
    const char* name;
    int code;
  } codes[] = {{"INVALID", KGATE_INVALID},         {"STOPPED", KGATE_STOPPED},
               {"CLOSED", KGATE_CLOSED},           {"TOO_HEAVY", KGATE_TOO_HEAVY},
               {"BAD_NAME", KGATE_BAD_NAME},       {"BAD_SLOTS", KGATE_BAD_SLOTS},
               {"NOT_FOUND", KGATE_NOT_FOUND},     {"NO_PERMISSION", KGATE_NO_PERMISSION},
               {"WRONG_SLOTS", KGATE_WRONG_SLOTS}, {"NOT_A_GATE", KGATE_NOT_A_GATE},
               {"DAMAGED", KGATE_DAMAGED},         {"BAD_FILESYSTEM", KGATE_BAD_FILESYSTEM},
               {"IN_USE", KGATE_IN_USE},           {"TOO_MANY", KGATE_TOO_MANY},
               {"REMOVED", KGATE_REMOVED},         {"FORKED", KGATE_FORKED},
               {"SYSTEM", KGATE_SYSTEM},           {"CANCELLED", KGATE_CANCELLED}};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; ++i)
    if (PyModule_AddIntConstant(module, codes[i].name, codes[i].code) != 0) return -1;
  return 0;
}
static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, exec_module}, {0, NULL}};
static struct PyModuleDef module_definition = {PyModuleDef_HEAD_INIT, .m_name = "kgate._native",
                                               .m_methods = module_methods, .m_slots = module_slots};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&module_definition); }
