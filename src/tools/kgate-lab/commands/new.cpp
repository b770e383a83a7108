// SPDX-License-Identifier: Apache-2.0
// kgate-lab new: writes an algorithm to start from.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <string_view>
#include <utility>

#include "tools/kgate-lab/commands/commands.hpp"
#include "tools/kgate-lab/embedded_sources.hpp"
#include "tools/kgate-lab/output/terminal.hpp"
#include "tools/kgate-lab/output/text.hpp"

namespace kgate::tool {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

constexpr std::string_view keywords[] = {
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "typeof",       "union",
    "unsigned",    "using",    "virtual",    "void",      "volatile",  "wchar_t",      "while",
    "xor",         "xor_eq"};

/// What the text to start from declares in its class, and needs there by that name.
constexpr std::string_view names_of_the_text[] = {"Process", "Private", "State", "promises",         "symmetric",
                                                  "acquire", "release", "k_",    "broken_invariant", "free_"};

/// Of standard headers, at global scope: what is neither a function of the program's nor ends in _t.
constexpr std::string_view names_of_headers[] = {
    "std",        "kgate",       "main",           "abi",           "errno",        "assert",
    "tm",         "timespec",    "timeval",        "lconv",         "itimerspec",   "itimerval",
    "timex",      "sched_param", "sched_priority", "random_data",   "drand48_data", "alloca",
    "offsetof",   "strdupa",     "strndupa",       "timeradd",      "timerclear",   "timercmp",
    "timerisset", "timersub",    "atexit",         "at_quick_exit", "crypt",        "linux",
    "unix"};

/// "SYS_read", "pthread_yield", "htobe16": families of macros and functions.
bool is_of_a_family(const std::string& name) {
  static const std::regex families("[A-Z]+_.*|pthread_.*|[bl]e[0-9]+toh|hto[bl]e[0-9]+|.*_t");
  return std::regex_match(name, families);
}

/// Why C++ does not allow a class of the text to start from to bear this name; empty if it does.
std::string refusal(const std::string& name) {
  const auto among = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  if (among(keywords)) return "is a word of C++";
  if (name.starts_with('_') || name.find("__") != std::string::npos) return "is reserved for the compiler";
  if (std::none_of(name.begin(), name.end(), [](unsigned char c) { return std::islower(c) != 0; }))
    return "has capitals only, as macros and the machine M do";
  if (among(names_of_the_text)) return "means something else in the text";
  // A class template may not share its name with a function: all those of the C library are in this program.
  if (among(names_of_headers) || is_of_a_family(name) || dlsym(RTLD_DEFAULT, name.c_str()) != nullptr)
    return "is declared by standard headers";
  return "";
}

std::string checked_word(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  const bool letters =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (name.empty() || !letters || std::isdigit(static_cast<unsigned char>(name.front())) != 0)
    throw usage_error(
        fmt::format("'{}' names no C++ class: use letters, digits and '_', as in mine.hpp", one_line(name)));
  return name;
}

/// The name of the class in a file of this name, and why it is not that of the file.
std::pair<std::string, std::string> class_for(const std::string& stem) {
  const std::string name = checked_word(stem);
  const std::string why = refusal(name);
  if (why.empty()) return {name, ""};
  std::string other = name.substr(std::min(name.find_first_not_of('_'), name.size()));
  for (std::size_t at = 0; (at = other.find("__")) != std::string::npos;) other.erase(at, 1);
  other += other.ends_with('_') || other.empty() ? "text" : "_text";
  return {other, fmt::format("its class is {}, for {} {}; ", other, name, why)};
}

std::pair<std::string, std::string> chosen_class(const std::string& chosen) {
  const std::string name = checked_word(chosen);
  if (const std::string why = refusal(name); !why.empty())
    throw usage_error(fmt::format("the class cannot be called {}, which {}", name, why));
  return {name, ""};
}

exit_code run(const std::string& path, const std::string& chosen) {
  const auto strange = [](unsigned char c) { return std::iscntrl(c) != 0 || c == '"' || c == '\\'; };
  if (std::any_of(path.begin(), path.end(), strange))
    throw usage_error(
        fmt::format("'{}' cannot be the name of a header: it has a control character, '\"' or '\\'", one_line(path)));
  if (!path.ends_with(".hpp")) throw usage_error(fmt::format("new writes a header, as in mine.hpp, not '{}'", path));
  const auto [name, remark] =
      chosen.empty() ? class_for(std::filesystem::path(path).stem().string()) : chosen_class(chosen);
  if (std::filesystem::exists(path)) throw usage_error(fmt::format("{} exists already", path));
  std::string text(text_template());
  text.erase(0, text.find('\n') + 1);  // the licence of this project's files
  replace_all(text, "CLASS", name);
  replace_all(text, "FILE.hpp", path);
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  print(fmt::format("{} is written; {}'kgate-lab check {} -N 3 -k 2' explores it\n", path, remark, path));
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
