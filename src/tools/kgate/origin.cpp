// SPDX-License-Identifier: Apache-2.0
// A static program of glibc asks at its start where its file is, for libraries that it might load from there. This one
// loads none, and the answer is dear: the kernel makes entries of the new process below /proc, and takes them away at
// its end. The linker puts this answer in place (--wrap, see CMakeLists.txt); where the C library has no such question
// nothing is replaced. tests/cli/kgate/liveness_test.py holds that it is not asked.

extern "C" {
const char* __wrap__dl_get_origin();  // NOLINT(*-identifier,*-identifier-naming): the linker's name

/// Unknown, as glibc says it.
const char* __wrap__dl_get_origin() {  // NOLINT(*-identifier,*-identifier-naming)
  return reinterpret_cast<const char*>(-1);
}
}
