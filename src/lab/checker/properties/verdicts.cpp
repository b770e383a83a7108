// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "lab/checker/properties/check.hpp"

namespace kgate::lab {

const char* to_string(verdict v) {
  switch (v) {
    case verdict::holds:
      return "holds";
    case verdict::violated:
      return "violated";
    case verdict::undecided:
      return "undecided";
  }
  return "?";
}

verdict check_result::overall() const {
  verdict worst = verdict::holds;
  for (const property_result& r : properties) {
    if (r.is == verdict::violated) return verdict::violated;
    if (r.is == verdict::undecided) worst = verdict::undecided;
  }
  return worst;
}

bool check_result::within_limits() const {
  return overall() == verdict::holds &&
         std::any_of(properties.begin(), properties.end(), [](const property_result& r) { return r.within_limits(); });
}

std::string_view verdict_id(const property_result& r) {
  if (r.within_passages > 0) return "holds-within-passages";
  return r.within_contention > 0 ? "holds-within-contention" : to_string(r.is);
}

std::string_view verdict_id(const check_result& r) {
  if (!r.within_limits()) return to_string(r.overall());
  const bool passages = std::any_of(r.properties.begin(), r.properties.end(),
                                    [](const property_result& one) { return one.within_passages > 0; });
  return passages ? "holds-within-passages" : "holds-within-contention";
}

}  // namespace kgate::lab
