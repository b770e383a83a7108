// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The explored states as a file for other tools: Aldebaran's format for bisimulation and model checkers, DOT for
/// drawings of small graphs.

#include <string>

#include "lab/checker/explore/explorer.hpp"

namespace kgate::lab {

enum class graph_format { aldebaran, dot };

/// States are numbered from 0, the initial state, in the order of the search; a step is labelled by its process, the
/// paper's label, what it does and to which variable. DOT shows in each state the values of the variables, and above
/// all the comment; Aldebaran's format has none.
std::string graph_text(exploration& e, graph_format format, const std::string& comment = "");

}  // namespace kgate::lab
