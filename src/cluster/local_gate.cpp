// SPDX-License-Identifier: Apache-2.0
#include "cluster/local_gate.hpp"

#include "gate/shared.hpp"

namespace kgate::detail::cluster {

std::uint64_t local_gate::id_of(gate& local) { return local.opened().core.file().id(); }

bool local_gate::is_in_place(gate& local) { return local.opened().core.is_in_place(); }

}  // namespace kgate::detail::cluster
