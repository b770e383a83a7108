// SPDX-License-Identifier: Apache-2.0
#include <kgate/gate.hpp>

int main() {
  try {
    kgate::gate("no/name");
  } catch (const kgate::gate_error& error) {
    return error.code() == kgate::gate_errc::bad_name ? 0 : 1;
  }
  return 1;
}
