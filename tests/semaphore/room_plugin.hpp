// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

/// One that was opened for itself (room_plugin.cpp). It stays until the program ends.
struct plugin {
  explicit plugin(const char* path) : handle(::dlopen(path, RTLD_NOW | RTLD_LOCAL)) {}
  template <class F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(::dlsym(handle, name));
  }
  void* handle;
};
