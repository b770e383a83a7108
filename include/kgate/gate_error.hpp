// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "kgate/detail/cxx20.hpp"

namespace kgate {

/// Why a gate could not be opened or used.
enum class gate_errc {
  none,
  bad_name,        ///< a name must be 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or digit
  bad_slots,       ///< k must be 1 to 4095, a weight 1 to k
  not_found,       ///< no such gate, and no size given to create it with
  no_permission,   ///< the file or directory may not be used by this user
  wrong_slots,     ///< the gate exists with another k
  not_a_gate,      ///< magic, version or checksum do not fit
  damaged,         ///< the header is right, the rest contradicts itself or has been cut off
  bad_filesystem,  ///< a file system whose mappings or locks are not shared by its users
  in_use,          ///< not while there are holders or waiters
  too_many,        ///< more participants than a gate can have
  removed,         ///< the gate was removed while it was used
  forked,          ///< the object belongs to the process that forked this one, which must open the gate itself
  system,          ///< the system refused; the message has its words
  cancelled,       ///< the waiter was taken out of the queue (kgate cancel)
  bad_options      ///< gate_options that no gate can have; nothing was created
};

/// What a failed call reports: a code to act on and a sentence for people, which names what to do next.
struct gate_failure {
  gate_errc code = gate_errc::none;
  std::string text;

  explicit operator bool() const noexcept { return code != gate_errc::none; }
};

class gate_error : public std::runtime_error {
 public:
  explicit gate_error(const gate_failure& failure) : std::runtime_error(failure.text), code_(failure.code) {}
  gate_errc code() const noexcept { return code_; }

 private:
  gate_errc code_;
};

}  // namespace kgate
