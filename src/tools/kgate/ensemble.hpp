// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/kgate/tool.hpp"

namespace kgate::tool {

/// Becomes kgate-cluster, the program for gates between machines, which alone needs ZooKeeper's library. Returns, with
/// an exit code, only if there is none.
int become_cluster_program(char** argv, const request& options);

}  // namespace kgate::tool
