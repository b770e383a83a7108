// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the command line may be: one table, from which it is parsed and from which help, man pages and completions are
/// made.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kgate::tool {

enum class option_id : unsigned char {
  name,
  slots,
  weight,
  timeout,
  try_once,
  dir,
  mode,
  group,
  overtake,
  quiet,
  json,
  force,
  once,
  sort,
  help
};

struct option_row {
  option_id id;
  char letter;  ///< 0: none
  const char* word;
  const char* argument;  ///< nullptr: none
  const char* help;
};

struct example_row {
  const char* line;
  const char* says;
};

struct command_row {
  const char* name;
  const char* operands;  ///< after the options, for the synopsis
  const char* summary;   ///< one line
  const char* text;      ///< paragraphs, separated by an empty line
  std::span<const option_id> options;
  std::span<const example_row> examples;
};

struct exit_row {
  int code;
  const char* says;
};

std::span<const option_row> option_rows();
std::span<const command_row> command_rows();
std::span<const exit_row> exit_rows();
const option_row& row_of(option_id id);

/// A command line that was understood.
struct request {
  const command_row* command = nullptr;
  bool help = false;
  bool help_long = false;
  std::string name;
  int slots = 0;
  int weight = 1;
  double timeout_s = -1;
  bool try_once = false;
  std::string dir;
  int mode = -1;
  std::string group;
  int overtake = 0;
  bool quiet = false;
  bool json = false;
  bool force = false;
  bool once = false;
  std::string sort;
  std::vector<char*> words;  ///< what follows the options
};

/// Fills in `out`, or says what is wrong.
bool parse(int argc, char** argv, request& out, std::string& problem);

std::string help_text(const command_row* command, bool in_full);
std::string manual_page(const command_row& command);
std::string manual_overview();
/// For "bash", "zsh" or "fish".
std::string completion(std::string_view shell);

}  // namespace kgate::tool
