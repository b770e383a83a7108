// SPDX-License-Identifier: Apache-2.0
// Reads a command line by the table (table.cpp).
#include <algorithm>
#include <array>
#include <bitset>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "gate/location.hpp"
#include "tools/common/numbers.hpp"
#include "tools/kgate/spec.hpp"

namespace kgate::tool {

namespace {

using enum option_id;

bool parse_number(const char* text, int low, int high, int& out, int base = 10) {
  const std::optional<long long> value = parse_whole_number(text, base);
  if (!value || *value < low || *value > high) return false;
  out = static_cast<int>(*value);
  return true;
}

bool parse_time(const char* text, double& out) {
  out = parse_seconds(text).value_or(-1);
  return out >= 0;
}

bool is_number(std::string_view text) { return text.find_first_not_of("0123456789") == std::string_view::npos; }

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> these) {
  return std::find(these.begin(), these.end(), text) != these.end();
}

/// How many letters have to be changed, added, left out or swapped to make one word of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

/// One reading of a command line.
class reader {
 public:
  reader(int argc, char** argv, request& out, std::string& problem)
      : argc_(argc), argv_(argv), out_(out), problem_(problem) {}

  bool read() {
    if (argc_ < 2) return fail("no command given");
    if (!read_first(argv_[1])) return false;
    if (out_.help || out_.version) return true;
    return read_options() && (out_.help || (settle_gates() && check()));
  }

 private:
  bool fail(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  const command_row* find_command(std::string_view given) {
    const std::span<const command_row> rows = command_rows();
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const command_row& row) { return given == row.name; });
    if (found != rows.end()) return &*found;
    std::vector<std::string_view> words;
    for (const command_row& row : rows) words.emplace_back(row.name);
    fail("there is no command '" + std::string(given) + "'" + suggestion(given, words, "kgate "));
    return nullptr;
  }

  bool read_first(std::string_view first) {
    if (first == "--version" || first == "-V" || first == "version") {
      out_.version = true;
      return argc_ == 2 || fail("kgate --version takes no operand '" + std::string(argv_[2]) + "'");
    }
    if (is_one_of(first, {"-h", "--help", "help"})) {
      out_.help = true;
      out_.help_long = first != "-h";
      if (argc_ == 2) return true;
      out_.command = find_command(argv_[2]);
      if (out_.command == nullptr || argc_ == 3) return out_.command != nullptr;
      return fail("kgate " + std::string(first) + " " + argv_[2] + " takes no operand '" + argv_[3] + "'");
    }
    out_.command = find_command(first);
    return out_.command != nullptr;
  }

  const option_row* find_option(std::string_view word, char letter) const {
    for (const option_use& use : out_.command->options) {
      const option_row& row = row_of(use.id);
      if (letter != 0 ? row.letter == letter : row.word == word) return &row;
    }
    return nullptr;
  }

  bool unknown_option(std::string_view word, char letter) {
    const std::string start = std::string("kgate ") + out_.command->name + " has no option '";
    if (letter != 0) return fail(start + "-" + letter + "'");
    std::vector<std::string_view> words;
    for (const option_use& use : out_.command->options) words.emplace_back(row_of(use.id).word);
    return fail(start + "--" + std::string(word) + "'" + suggestion(word, words, "--"));
  }

  bool read_options() {
    for (at_ = 2; at_ < argc_; ++at_) {
      char* const word = argv_[at_];
      if (word[0] != '-' || word[1] == '\0') break;
      if (std::strcmp(word, "--") == 0) {
        ++at_;
        break;
      }
      if (word[1] == '-' ? !read_long(word + 2) : !read_letters(word + 1)) return false;
    }
    for (; at_ < argc_; ++at_) out_.words.push_back(argv_[at_]);
    return true;
  }

  bool read_long(const char* body) {
    const char* const equals = std::strchr(body, '=');
    const std::string_view word(body, equals != nullptr ? static_cast<std::size_t>(equals - body) : std::strlen(body));
    const option_row* const row = find_option(word, 0);
    if (row == nullptr) return unknown_option(word, 0);
    if (row->id == help) out_.help_long = true;
    if (row->argument == nullptr)
      return equals == nullptr ? take(*row, "") : fail(std::string("--") + row->word + " takes no argument");
    return equals != nullptr ? take(*row, equals + 1) : take_next(*row);
  }

  bool read_letters(const char* body) {
    for (; *body != '\0'; ++body) {
      const option_row* const row = find_option({}, *body);
      if (row == nullptr) return unknown_option({}, *body);
      if (row->argument != nullptr) return body[1] != '\0' ? take(*row, body + 1) : take_next(*row);
      if (!take(*row, "")) return false;
    }
    return true;
  }

  bool take_next(const option_row& row) {
    if (at_ + 1 == argc_) return fail(std::string("--") + row.word + " wants an argument: " + row.argument);
    return take(row, argv_[++at_]);
  }

  /// The gate that -k and -w belong to: the one named last, or the one named first that is yet to come.
  gate_request& current() { return out_.gates.empty() ? before_names_ : out_.gates.back(); }

  bool take(const option_row& row, const char* argument) {
    const auto bad = [&](const char* expected) {
      return fail(std::string("--") + row.word + " wants " + expected + ", not '" + argument + "'");
    };
    const bool per_gate = out_.command->names == name_rule::several && (row.id == slots || row.id == weight);
    const bool again = per_gate ? (row.id == slots ? current().slots : current().weight) != 0
                                : seen_[static_cast<std::size_t>(row.id)];
    const bool repeatable = row.id == help || (row.id == name && out_.command->names == name_rule::several);
    if (again && !repeatable) return fail(std::string("--") + row.word + " is given twice");
    seen_.set(static_cast<std::size_t>(row.id));
    return take_value(row, argument) || (problem_.empty() && bad(expected_of(row.id)));
  }

  static const char* expected_of(option_id id) {
    switch (id) {
      case name:
        return "1 to 64 of A-Z a-z 0-9 . _ - that begin with a letter or digit";
     case slots:
      case weight:
        return "a number from 1 to 4095";
      case timeout:
      case time_limit:
      case grace:
        return "a time such as 90, 1.5s, 500ms, 10m, 1h30m";
      case timeout_code:
        return "a number from 0 to 255";
      case style:
        return "pipe or fifo";
      case fd:
        return "the number of a descriptor from 3 on";
      case pid:
        return "the number of a process";
      case dir:
        return "a directory";
      case mode:
        return "an octal mode, up to 0777, that lets the owner read and write, such as 0660";
      case group:
        return "a group, by its name or by its number from 0 to 4294967294";
      case overtake:
        return "a number from 0 to 1000000";
      case on:
        return "the address of an ensemble, zk://HOST[:PORT],...[/PATH]";
      case on_loss:
        return "term, kill or ignore";
      default:
        return "slot, time, user or command";
    }
  }

  bool take_value(const option_row& row, const char* argument) {
    switch (row.id) {
      case name:
        if (!detail::gates::valid_name(argument)) return false;
        if (std::any_of(out_.gates.begin(), out_.gates.end(),
                        [&](const gate_request& g) { return g.name == argument; }))
          return fail(std::string("gate '") + argument + "' is named twice");
        out_.gates.push_back({argument, 0, 0});
        return true;
     case slots:
        return parse_number(argument, 1, 4095, current().slots);
      case weight:
        return parse_number(argument, 1, 4095, current().weight);
      case timeout:
        return parse_time(argument, out_.timeout_s);
      case timeout_code:
        return parse_number(argument, 0, 255, out_.timeout_code);
      case time_limit:
        return parse_time(argument, out_.time_limit_s);
      case grace:
        return parse_time(argument, out_.grace_s);
      case style:
        out_.style = argument;
        return is_one_of(out_.style, {"pipe", "fifo"});
      case fd:
        return parse_number(argument, 3, 1 << 20, out_.fd);
      case pid:
        return parse_number(argument, 1, 1 << 30, out_.pid);
      case dir:
        out_.dir = argument;
        return !out_.dir.empty();
      case mode:
        return parse_number(argument, 0, 0777, out_.mode, 8) &&
               detail::gates::valid_mode(static_cast<unsigned>(out_.mode));
      case group:
        out_.group = argument;
        return !out_.group.empty() && (!is_number(out_.group) || parse_id(out_.group));
      case overtake:
        return parse_number(argument, 0, 1'000'000, out_.overtake);
      case on:
        out_.on = argument;
        return out_.on.starts_with("zk://");
      case on_loss:
        out_.on_loss = argument;
        return is_one_of(out_.on_loss, {"term", "kill", "ignore"});
      case sort:
        out_.sort = argument;
        return is_one_of(out_.sort, {"slot", "time", "user", "command"});
      default:
        return set_flag(row.id);
    }
  }

  bool set_flag(option_id id) {
    const auto flag = [&]() -> bool* {
      switch (id) {
        case try_once:
          return &out_.try_once;
        case exec:
          return &out_.exec;
        case existing:
          return &out_.existing;
        case show_arguments:
          return &out_.show_arguments;
        case path:
          return &out_.path;
        case all:
          return &out_.all;
        case quiet:
          return &out_.quiet;
        case json:
          return &out_.json;
        case prometheus:
          return &out_.prometheus;
        case force:
          return &out_.force;
        case once:
          return &out_.once;
        case lease:
          return &out_.lease;
        default:
          return &out_.help;
      }
    };
    return *flag() = true;
  }

  /// Brings together names, and the sizes and weights that were given before them.
  bool settle_gates() {
    out_.named = !out_.gates.empty();
    if (!out_.named) out_.gates.push_back({"default", 0, 0});
    for (int gate_request::*const number : {&gate_request::slots, &gate_request::weight}) {
      const int given = before_names_.*number;
      const char* const word = number == &gate_request::slots ? "--slots" : "--weight";
      if (given == 0) continue;
      if (out_.gates.size() > 1)
        return fail(std::string(word) + " stands before several gates; put it behind the one it is for");
      if (out_.gates.front().*number != 0) return fail(std::string(word) + " is given twice");
      out_.gates.front().*number = given;
    }
    for (const gate_request& one : out_.gates)
      if (one.slots != 0 && one.weight > one.slots)
        return fail("--weight " + std::to_string(one.weight) + " is more than the --slots " +
                    std::to_string(one.slots) + " of gate '" + one.name + "'");
    return true;
  }

  /// Two gates of one command must not have the same variable.
  bool check_variables() {
    for (std::size_t i = 0; i < out_.gates.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (slot_variable(out_.gates[i].name) == slot_variable(out_.gates[j].name))
          return fail("gates '" + out_.gates[j].name + "' and '" + out_.gates[i].name + "' would both have " +
                      slot_variable(out_.gates[i].name) + "; use `kgate run -n " + out_.gates[j].name +
                      " -- kgate run -n " + out_.gates[i].name + " -- COMMAND`, in this order everywhere");
    return true;
  }

  /// Where gates between machines are: --on, or $KGATE_ON unless a directory was given.
  bool settle_ensemble() {
    const bool has_directory = seen_[static_cast<std::size_t>(dir)];
    if (!out_.on.empty() && has_directory) return fail("--on and --dir contradict each other");
    const char* const usual = std::getenv("KGATE_ON");
    const bool by_descriptor = out_.command->name == std::string_view("release");
    if (out_.on.empty() && !has_directory && usual != nullptr && !by_descriptor) {
      if (*usual == '\0') return fail("KGATE_ON is set and empty; unset it, or let it name an ensemble");
      out_.on = usual;
      if (!out_.on.starts_with("zk://"))
        return fail("KGATE_ON must be the address of an ensemble, zk://HOST[:PORT],...[/PATH], not '" + out_.on + "'");
    }
    if (out_.on.empty()) {
      if (out_.command->name == std::string_view("lease"))
        return fail("kgate lease is for gates between machines: --on ADDRESS");
      for (const option_id far : {on_loss, lease})
        if (seen_[static_cast<std::size_t>(far)])
          return fail(std::string("--") + row_of(far).word + " is for gates between machines: --on");
      return true;
    }
    for (const option_id local : {exec, mode, group, overtake})
      if (seen_[static_cast<std::size_t>(local)])
        return fail(std::string("--") + row_of(local).word + " is for gates of this machine, not for those of --on");
    return true;
  }

  /// How to say what was given as an operand: a process where one can be named, else a gate.
  std::string operand_hint() const {
    if (out_.command->names == name_rule::none) return "";
    const std::string& given = out_.words.front();
    const auto names_process = [](const option_use& use) { return use.id == option_id::pid; };
    if (is_number(given) && std::ranges::any_of(out_.command->options, names_process))
      return "; name a process with -p";
    return "; name a gate with -n";
  }

  bool check() {
    if (!check_variables()) return false;
    const std::string command = out_.command->name;
    const bool wants_command = out_.command->takes == operand_rule::command;
    if (wants_command && out_.words.empty())
      return fail(command + " wants a command, for example: " + out_.command->examples.front().line);
    if (!wants_command && !out_.words.empty())
      return fail("kgate " + command + " takes no operand '" + out_.words.front() + "'" + operand_hint());
    if (out_.command->names == name_rule::required && !out_.named)
      return fail("kgate " + command + " wants the name of a gate: -n NAME");
    if (command == "resize" && out_.slots() == 0)
      return fail("resize wants the new number of slots, for example: kgate resize -n gpu -k 3");
    if (out_.try_once && out_.timeout_s >= 0) return fail("--try and --timeout contradict each other");
    if (out_.exec && out_.time_limit_s >= 0)
      return fail("--exec and --time-limit contradict each other: no process remains that could watch the time");
    if (!settle_ensemble()) return false;
    if (seen_[static_cast<std::size_t>(grace)] && out_.time_limit_s < 0 && out_.on.empty())
      return fail("--grace is for --time-limit and --on only");
    if (command == "hold" && out_.path == (out_.fd >= 0))
      return fail(
          "hold wants either --fd N, or --path for the file to open it on: exec 9<\"$(kgate hold -n gpu --path)\"");
    if (command == "release" && out_.fd < 0) return fail("release wants the descriptor: --fd N");
    if (command == "cancel" && out_.all == (out_.pid != 0)) return fail("cancel wants either --pid PID or --all");
    if (out_.json && out_.prometheus) return fail("--json and --prometheus contradict each other");
    return true;
  }

  int argc_;
  char** argv_;
  request& out_;
  std::string& problem_;
  int at_ = 0;
  gate_request before_names_;
  std::bitset<64> seen_;
};

}  // namespace

std::string suggestion(std::string_view given, const std::vector<std::string_view>& words, const char* before) {
  std::string_view best;
  std::size_t nearest = given.size() < 4 ? 2 : 3;
  for (const std::string_view word : words) {
    if (word == given) continue;  // it has appeared since
    const bool begins = given.size() >= 3 && word.substr(0, given.size()) == given;
    const std::size_t far = begins ? 0 : distance(given, word);
    if (far < nearest && far < given.size()) {
      nearest = far;
      best = word;
    }
  }
  return best.empty() ? std::string() : "; did you mean '" + (before + std::string(best)) + "'?";
}

std::string slot_variable(std::string_view gate) {
  std::string out = "KGATE_SLOT_";
  for (const char c : gate)
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? static_cast<char>(std::toupper(c)) : '_';
  return out;
}

bool parse(int argc, char** argv, request& out, std::string& problem) {
  out.line = {argv, static_cast<std::size_t>(argc)};
  return reader(argc, argv, out, problem).read();
}

}  // namespace kgate::tool
