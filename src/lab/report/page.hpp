// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Self-contained pages: they open from a file, without a network. A policy inside them forbids any request and any
/// script but the template's own.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "lab/report/assets.hpp"

namespace kgate::lab::report {

/// Text made safe between tags and in quoted attributes.
std::string escaped(std::string_view text);

/// An element that carries JSON for the page's script: nothing in it is executed or can end the element.
std::string data_element(std::string_view id, const nlohmann::json& j);

/// A whole document: the template, with `carried`, which is markup, between its body and its script.
std::string page(std::string_view title, const page_template& from, std::string_view carried);

/// The trace viewer, showing this trace if it is an object; else it asks for a file.
std::string viewer_page(const nlohmann::json& trace);

/// A page in which the reader chooses the process that steps; `steps` are all states of an algorithm, in the form that
/// stepper.js reads.
std::string stepper_page(const nlohmann::json& steps);

}  // namespace kgate::lab::report
