// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate/json.hpp"

#include "tools/kgate/tool.hpp"

namespace kgate::tool {

void print_json(const json_value& document) { print(document.dump() + "\n"); }

}  // namespace kgate::tool
