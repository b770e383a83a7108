// SPDX-License-Identifier: Apache-2.0
// kgate._cluster: gates between machines. A module of its own, because it alone needs ZooKeeper's library.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

// After Python's own, which sets what the system's headers show.
#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kgate/cluster.hpp"

namespace {

using kgate::cluster_gate;

extern PyTypeObject permit_type, stop_type;

/// What becomes of an exception: (kind, text), from which Python makes its own.
struct failure {
  std::string kind, text;
};

const char* kind_of(kgate::gate_errc code) {
  using kgate::gate_errc;
  switch (code) {
    case gate_errc::bad_name:
      return "BadName";
    case gate_errc::bad_slots:
      return "BadSlots";
    case gate_errc::not_found:
      return "NotFound";
    case gate_errc::no_permission:
      return "NoPermission";
    case gate_errc::wrong_slots:
      return "WrongSlots";
    case gate_errc::in_use:
      return "InUse";
    case gate_errc::removed:
      return "Removed";
    case gate_errc::cancelled:
      return "Cancelled";
    case gate_errc::forked:
      return "Forked";
    default:
      return "Error";
  }
}

/// work() without the interpreter lock, or what it threw.
template <class Work>
std::optional<failure> without_lock(Work&& work) {
  std::optional<failure> wrong;
  Py_BEGIN_ALLOW_THREADS;
  try {
    work();
  } catch (const kgate::session_lost& e) {
    wrong = failure{"Lost", e.what()};
  } catch (const kgate::ensemble_unreachable& e) {
    wrong = failure{"Unreachable", e.what()};
  } catch (const kgate::gate_error& e) {
    wrong = failure{kind_of(e.code()), e.what()};
  } catch (const std::exception& e) {
    wrong = failure{"Error", e.what()};
  }
  Py_END_ALLOW_THREADS;
  return wrong;
}

PyObject* raise(const failure& what) {
  PyObject* module = PyImport_ImportModule("kgate");
  PyObject* type = module == nullptr ? nullptr : PyObject_GetAttrString(module, what.kind.c_str());
  if (type != nullptr) PyErr_SetString(type, what.text.c_str());
  Py_XDECREF(type);
  Py_XDECREF(module);
  return nullptr;
}

struct gate_object {
  PyObject ob_base;
  cluster_gate* gate;
};
struct permit_object {
  PyObject ob_base;
  cluster_gate::permit* permit;
};
struct stop_object {
  PyObject ob_base;
  std::stop_source* source;
};

int gate_init(PyObject* self, PyObject* arguments, PyObject*) {
  const char *address, *name, *command;
  int slots;
  if (!PyArg_ParseTuple(arguments, "ssiz", &address, &name, &slots, &command)) return -1;
  std::unique_ptr<cluster_gate> made;
  const auto wrong = without_lock([&] {
    kgate::cluster_options options;
    if (command != nullptr) options.command = command;
    made = std::make_unique<cluster_gate>(address, name, slots, options);
  });
  if (wrong) {
    raise(*wrong);
    return -1;
  }
  delete std::exchange(reinterpret_cast<gate_object*>(self)->gate, made.release());
  return 0;
}
void gate_dealloc(PyObject* self) {
  cluster_gate* gate = reinterpret_cast<gate_object*>(self)->gate;
  without_lock([&] { delete gate; });
  Py_TYPE(self)->tp_free(self);
}
cluster_gate* gate_of(PyObject* self) {
  cluster_gate* gate = reinterpret_cast<gate_object*>(self)->gate;
  if (gate == nullptr) PyErr_SetString(PyExc_ValueError, "the gate was never opened");
  return gate;
}

/// enter(weight, seconds or None, stop): a permit, or None if it gave up.
PyObject* gate_enter(PyObject* self, PyObject* arguments) {
  int weight;
  double seconds;
  PyObject* stop;
  if (!PyArg_ParseTuple(arguments, "idO!", &weight, &seconds, &stop_type, &stop)) return nullptr;
  cluster_gate* gate = gate_of(self);
  if (gate == nullptr) return nullptr;
  std::optional<cluster_gate::permit> got;
  const std::stop_token token = reinterpret_cast<stop_object*>(stop)->source->get_token();
  const auto wrong = without_lock([&] {
    using clock = std::chrono::steady_clock;
    if (seconds <= 0)
      got = gate->try_enter(weight);
    else if (seconds > 1e9)
      got = gate->enter(token, weight);
    else
      got = gate->enter_until(
          token, clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds)),
          weight);
  });
  if (wrong) return raise(*wrong);
  if (!got) Py_RETURN_NONE;
  PyObject* made = PyType_GenericAlloc(&permit_type, 0);
  if (made == nullptr) return nullptr;
  reinterpret_cast<permit_object*>(made)->permit = new (std::nothrow) cluster_gate::permit(std::move(*got));
  return made;
}
PyObject* gate_slots(PyObject* self, PyObject*) {
  cluster_gate* gate = gate_of(self);
  int slots = 0;
  if (gate == nullptr) return nullptr;
  const auto wrong = without_lock([&] { slots = gate->slots(); });
  return wrong ? raise(*wrong) : PyLong_FromLong(slots);
}
PyObject* gate_resize(PyObject* self, PyObject* argument) {
  cluster_gate* gate = gate_of(self);
  const long slots = PyLong_AsLong(argument);
  if (gate == nullptr || (slots == -1 && PyErr_Occurred() != nullptr)) return nullptr;
  const auto wrong = without_lock([&] { gate->resize(slots > std::numeric_limits<int>::max() ? 0 : int(slots)); });
  if (wrong) return raise(*wrong);
  Py_RETURN_NONE;
}
PyObject* gate_remove(PyObject* self, PyObject* argument) {
  cluster_gate* gate = gate_of(self);
  const int forced = PyObject_IsTrue(argument);
  bool removed = false;
  if (gate == nullptr || forced < 0) return nullptr;
  const auto wrong = without_lock([&] { removed = gate->remove(forced != 0); });
  return wrong ? raise(*wrong) : PyBool_FromLong(removed ? 1 : 0);
}

PyObject* participants(const std::vector<kgate::cluster_participant>& all) {
  PyObject* list = PyList_New(0);
  for (const kgate::cluster_participant& p : all) {
    const long long since = std::chrono::nanoseconds(p.since.time_since_epoch()).count();
    PyObject* one =
        Py_BuildValue("(iNiiiLNN)", p.process, PyUnicode_DecodeUTF8(p.user.c_str(), p.user.size(), "replace"), p.weight,
                      p.slots.empty() ? -1 : p.slots.front(), p.position, since,
                      PyUnicode_DecodeUTF8(p.host.c_str(), p.host.size(), "replace"),
                      PyUnicode_DecodeUTF8(p.command.c_str(), p.command.size(), "replace"));
    if (list == nullptr || one == nullptr || PyList_Append(list, one) != 0) Py_CLEAR(list);
    Py_XDECREF(one);
  }
  return list;
}
PyObject* gate_status(PyObject* self, PyObject*) {
  cluster_gate* gate = gate_of(self);
  kgate::cluster_status status;
  if (gate == nullptr) return nullptr;
  const auto wrong = without_lock([&] { status = gate->status(); });
  if (wrong) return raise(*wrong);
  return Py_BuildValue("(iiiNN)", status.slots, status.free, status.over, participants(status.holders),
                       participants(status.waiters));
}

void permit_dealloc(PyObject* self) {
  cluster_gate::permit* permit = reinterpret_cast<permit_object*>(self)->permit;
  without_lock([&] { delete permit; });
  Py_TYPE(self)->tp_free(self);
}
/// release(): whether it was still held.
PyObject* permit_release(PyObject* self, PyObject*) {
  cluster_gate::permit* permit = std::exchange(reinterpret_cast<permit_object*>(self)->permit, nullptr);
  bool held = false;
  without_lock([&] {
    if (permit != nullptr) held = permit->release();
    delete permit;
  });
  return PyBool_FromLong(held ? 1 : 0);
}
const cluster_gate::permit* permit_of(PyObject* self) {
  const cluster_gate::permit* permit = reinterpret_cast<permit_object*>(self)->permit;
  if (permit == nullptr) PyErr_SetString(PyExc_ValueError, "the permit was released");
  return permit;
}
PyObject* permit_slots(PyObject* self, void*) {
  const cluster_gate::permit* permit = permit_of(self);
  if (permit == nullptr) return nullptr;
  PyObject* made = PyTuple_New(static_cast<Py_ssize_t>(permit->slots().size()));
  for (std::size_t i = 0; made != nullptr && i < permit->slots().size(); ++i)
    PyTuple_SET_ITEM(made, static_cast<Py_ssize_t>(i), PyLong_FromLong(permit->slots()[i]));
  return made;
}
PyObject* permit_token(PyObject* self, void*) {
  const cluster_gate::permit* permit = permit_of(self);
  return permit == nullptr ? nullptr : PyLong_FromUnsignedLongLong(permit->token());
}
PyObject* permit_lost(PyObject* self, void*) {
  const cluster_gate::permit* permit = reinterpret_cast<permit_object*>(self)->permit;
  return PyBool_FromLong(permit != nullptr && permit->lost().stop_requested() ? 1 : 0);
}
PyObject* permit_fileno(PyObject* self, PyObject*) {
  const cluster_gate::permit* permit = permit_of(self);
  return permit == nullptr ? nullptr : PyLong_FromLong(permit->lost_descriptor());
}

PyObject* stop_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) reinterpret_cast<stop_object*>(self)->source = new std::stop_source;
  return self;
}
void stop_dealloc(PyObject* self) {
  delete reinterpret_cast<stop_object*>(self)->source;
  Py_TYPE(self)->tp_free(self);
}
PyObject* stop_request(PyObject* self, PyObject*) {
  without_lock([&] { reinterpret_cast<stop_object*>(self)->source->request_stop(); });
  Py_RETURN_NONE;
}

PyMethodDef gate_methods[] = {
    {"enter", gate_enter, METH_VARARGS, nullptr},  {"slots", gate_slots, METH_NOARGS, nullptr},
    {"resize", gate_resize, METH_O, nullptr},      {"remove", gate_remove, METH_O, nullptr},
    {"status", gate_status, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyMethodDef permit_methods[] = {{"release", permit_release, METH_NOARGS, nullptr},
                                {"fileno", permit_fileno, METH_NOARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};
PyGetSetDef permit_properties[] = {{"slots", permit_slots, nullptr, nullptr, nullptr},
                                   {"token", permit_token, nullptr, nullptr, nullptr},
                                   {"lost", permit_lost, nullptr, nullptr, nullptr},
                                   {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef stop_methods[] = {{"request", stop_request, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};

PyTypeObject type_named(const char* name, Py_ssize_t size, destructor ends, PyMethodDef* methods) {
  PyTypeObject type{};
  type.ob_base.ob_base.ob_refcnt = 1;
  type.tp_name = name;
  type.tp_basicsize = size;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_dealloc = ends;
  type.tp_methods = methods;
  return type;
}
PyTypeObject gate_type = type_named("kgate._cluster.Gate", sizeof(gate_object), gate_dealloc, gate_methods);
PyTypeObject permit_type = type_named("kgate._cluster.Permit", sizeof(permit_object), permit_dealloc, permit_methods);
PyTypeObject stop_type = type_named("kgate._cluster.Stop", sizeof(stop_object), stop_dealloc, stop_methods);

PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "kgate._cluster", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__cluster() {
  gate_type.tp_init = gate_init;
  gate_type.tp_new = PyType_GenericNew;
  permit_type.tp_getset = permit_properties;
  permit_type.tp_flags |= Py_TPFLAGS_DISALLOW_INSTANTIATION;
  stop_type.tp_new = stop_new;
  PyObject* module = PyModule_Create(&module_definition);
  if (module == nullptr) return nullptr;
  for (PyTypeObject* type : {&gate_type, &permit_type, &stop_type})
    if (PyModule_AddType(module, type) != 0) {
      Py_DECREF(module);
      return nullptr;
    }
  return module;
}
