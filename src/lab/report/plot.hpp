// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Plots as SVG that stands inside a page: drawn by gnuplot, coloured by the page's variables, named for screen
/// readers.

#include <string>
#include <utility>
#include <vector>

namespace kgate::lab::report {

struct plot_series {
  enum class style { line_and_points, line, points };
  std::string name;
  std::vector<std::pair<double, double>> points;
  style drawn = style::line_and_points;
  int colour = 0;  ///< 1..10, of the page's series; 0: by its position
};

struct plot {
  std::string id;  ///< unique in the page
  std::string title;
  std::string says;  ///< what is to be seen, for readers who do not see it
  std::string x, y;  ///< labels of the axes
  bool log_x = false;
  bool log_y = false;
  std::vector<plot_series> series;
};

/// Whether gnuplot can be run.
bool can_draw();

/// An svg element. Throws std::runtime_error if gnuplot fails.
std::string draw(const plot& p);

}  // namespace kgate::lab::report
