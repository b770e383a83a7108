// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate/json.hpp"

#include "tools/kgate/tool.hpp"

namespace kgate::tool {

void print_json(const json_value& document) { print(document.dump() + "\n"); }

void print(const request& options, const json_value& document, const std::string& text) {
  if (options.json)
    print_json(document);
  else
    print(text);
}

}  // namespace kgate::tool
