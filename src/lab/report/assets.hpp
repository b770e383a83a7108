// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The templates of the pages: the files in this folder, put into the program when it is built.

#include <string_view>

namespace kgate::lab::report {

/// What is the same in every page of its kind. What all kinds share, page.css and page.js, is part of it.
struct page_template {
  std::string_view styles;
  std::string_view markup;  ///< of the body
  std::string_view script;  ///< fills the markup from the data that the page carries
  std::string_view hash;    ///< of the script: SHA-256 in base64
};

extern const page_template report_template;
extern const page_template stepper_template;
extern const page_template viewer_template;

}  // namespace kgate::lab::report
