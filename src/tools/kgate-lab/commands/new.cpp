// SPDX-License-Identifier: Apache-2.0
// kgate-lab new: writes an algorithm to start from.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "tools/kgate-lab/commands/commands.hpp"
#include "tools/kgate-lab/embedded_sources.hpp"
#include "tools/kgate-lab/output/terminal.hpp"

namespace kgate::tool {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// The name of the class in a file of this name.
std::string class_for(const std::string& stem) {
  std::string name = stem;
  std::replace(name.begin(), name.end(), '-', '_');
  const bool letters =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (name.empty() || !letters || std::isdigit(static_cast<unsigned char>(name.front())) != 0)
    throw usage_error(fmt::format("'{}' names no C++ class: use letters, digits and '_', as in mine.hpp", stem));
  return name;
}

exit_code run(const std::string& path, const std::string& chosen) {
  if (!path.ends_with(".hpp")) throw usage_error(fmt::format("new writes a header, as in mine.hpp, not '{}'", path));
  const std::string name = class_for(chosen.empty() ? std::filesystem::path(path).stem().string() : chosen);
  if (std::filesystem::exists(path)) throw usage_error(fmt::format("{} exists already", path));
  std::string text(text_template());
  text.erase(0, text.find('\n') + 1);  // the licence of this project's files
  replace_all(text, "CLASS", name);
  replace_all(text, "FILE.hpp", path);
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  print(fmt::format("{} is written; 'kgate-lab check {} -N 3 -k 2' explores it\n", path, path));
  return exit_code::holds;
}

}  // namespace

command add_new(CLI::App& tool) {
  auto path = std::make_shared<std::string>();
  auto name = std::make_shared<std::string>();
  CLI::App* options = tool.add_subcommand("new", "Write an algorithm of your own to start from");
  options->add_option("FILE", *path, "The header to write")->required();
  options->add_option("--class", *name, "The name of its class; default that of the file")->type_name("NAME");
  options->footer(
      "Wherever an algorithm's id is asked for, FILE.hpp may be given instead: it is\n"
      "compiled and explored like those of the catalogue.\n"
      "\n"
      "Examples:\n"
      "  kgate-lab new mine.hpp\n"
      "  kgate-lab check mine.hpp -N 3 -k 2\n");
  return {options, [path, name] { return run(*path, *name); }};
}

}  // namespace kgate::tool
