// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/output/coverage_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/kgate-lab/output/catalog_text.hpp"
#include "tools/kgate-lab/output/text.hpp"

namespace kgate::tool {

std::vector<std::string> labels_of_algorithm(const catalog::choice& algorithm) {
  std::vector<std::string> all;
  for (const embedded_source& source : sources_of(algorithm))
    for (const auto& [label, line] : labels_of(source.text))
      if (std::find(all.begin(), all.end(), label) == all.end()) all.push_back(label);
  return all;
}

std::vector<std::string> labels_not_reached(const lab::coverage& reached, std::vector<std::string> labels) {
  std::erase_if(labels, [&](const std::string& label) { return reached.labels.contains(label); });
  return labels;
}

std::string coverage_text(const lab::coverage& reached, const std::vector<std::string>& labels) {
  std::string text = fmt::format("coverage: {} reached", count_text(reached.labels.size(), "label", "labels"));
  if (const auto missed = labels_not_reached(reached, labels); !missed.empty())
    text += fmt::format(", not reached: {}", fmt::join(missed, ", "));
  if (const auto missed = reached.branches_missed(); !missed.empty())
    text += fmt::format("; {}", fmt::join(missed, ", "));
  const auto& never = reached.values_missed;
  const std::size_t shown = std::min<std::size_t>(never.size(), 6);
  if (shown > 0)
    text += fmt::format("; {}", fmt::join(never.begin(), never.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < never.size()) text += fmt::format(" and {} more", never.size() - shown);
  text = wrapped(text, 10, 79) + "\n";
  for (const auto& [variable, taken] : reached.modes) {
    std::vector<std::string> each;
    for (const auto& [mode, values] : taken)
      each.push_back(values == 0 ? fmt::format("{} never", mode)
                                 : fmt::format("{} {}", mode, count_text(values, "value", "values")));
    text += wrapped(fmt::format("modes of {}: {}", variable, fmt::join(each, ", ")), 10, 79) + "\n";
  }
  return text;
}

}  // namespace kgate::tool
