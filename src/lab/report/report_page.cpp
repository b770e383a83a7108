// SPDX-License-Identifier: Apache-2.0
#include "lab/report/report_page.hpp"

#include <nlohmann/json.hpp>

#include "lab/report/page.hpp"
#include "lab/report/report_plots.hpp"

namespace kgate::lab::report {

std::string report_page(const nlohmann::json& data) {
  std::string carried = "<template id=\"plots\">\n";
  for (const plot& p : report_plots(data)) carried += draw(p);
  carried += "</template>\n" + data_element("report-data", data);
  return page("kgate-lab: the papers, measured", report_template, carried);
}

}  // namespace kgate::lab::report
