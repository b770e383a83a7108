// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "lab/report/plot.hpp"

namespace kgate::lab::report {

/// The plots of the report. Their ids say where they belong: fig10-native, scale-..., rmr-....
std::vector<plot> report_plots(const nlohmann::json& data);

}  // namespace kgate::lab::report
