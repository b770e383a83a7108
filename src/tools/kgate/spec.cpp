// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate/spec.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "tools/common/numbers.hpp"
#include "tools/kgate/exit_codes.hpp"

namespace kgate::tool {

namespace {

using enum option_id;

constexpr std::array options{
    option_row{name, 'n', "name", "NAME", "the gate; 1 to 64 of A-Z a-z 0-9 . _ - (default: \"default\")"},
    option_row{slots, 'k', "slots", "K",
               "how many may be inside, 1 to 4095; an existing gate must have as many (default: as it is, or 1)"},
    option_row{weight, 'w', "weight", "W", "take W slots at once (default: 1)"},
    option_row{timeout, 't', "timeout", "TIME", "give up after TIME: 90, 1.5s, 500ms, 10m, 2h, 1d"},
    option_row{try_once, 0, "try", nullptr, "give up at once if no slot is free"},
    option_row{dir, 'd', "dir", "DIR", "the directory of the gate (default: $KGATE_DIR, or one of your own)"},
    option_row{mode, 0, "mode", "MODE",
               "the mode of a gate that is created, in octal; umask does not narrow it (default: 0600)"},
    option_row{group, 0, "group", "GROUP", "share a gate that is created with this group; makes the mode 0660"},
    option_row{
        overtake, 0, "overtake", "B",
        "of a gate that is created: how many may pass the queue between two who are let in from it (default: 0)"},
    option_row{quiet, 'q', "quiet", nullptr, "do not show the place in the queue while waiting"},
    option_row{json, 0, "json", nullptr, "print JSON"},
    option_row{force, 'f', "force", nullptr, "even if somebody is inside or waits, or the file is not in order"},
    option_row{once, '1', "once", nullptr, "print one view and end"},
    option_row{sort, 0, "sort", "KEY", "order by slot, time, user or command (default: slot)"},
    option_row{help, 'h', "help", nullptr, "short help with -h, the whole with --help"},
};

constexpr std::array run_options{name, slots, weight, timeout, try_once, dir, mode, group, overtake, quiet, help};
constexpr std::array status_options{name, dir, json, help};
constexpr std::array list_options{dir, json, help};
constexpr std::array top_options{name, dir, once, sort, help};
constexpr std::array resize_options{name, slots, dir, json, help};
constexpr std::array remove_options{name, dir, force, json, help};
constexpr std::array doctor_options{name, dir, json, help};

constexpr std::array run_examples{
    example_row{"kgate run -n demo -k 2 -- sh -c 'echo slot $KGATE_SLOT'",
                "one of at most two at a time, with its number"},
    example_row{"kgate run -n gpu -k 4 -- ./train --device cuda:{slot}", "each job its own device"},
    example_row{"kgate run -n backup --timeout 10m -- rsync -a src/ dst/", "at most ten minutes in the queue"},
    example_row{"kgate run -n build --try -- make || echo busy", "now or not at all"},
};
constexpr std::array status_examples{
    example_row{"kgate status -n gpu", "who is inside, who waits"},
    example_row{"kgate status --json | jq '.gates[].waiters | length'", "for scripts"},
};
constexpr std::array list_examples{example_row{"kgate list", "all gates of the directory, a line each"}};
constexpr std::array top_examples{
    example_row{"kgate top -n gpu", "a live view; q ends it"},
    example_row{"kgate top --once", "the same once, for a script or a log"},
};
constexpr std::array resize_examples{example_row{"kgate resize -n gpu -k 3", "from now on three at a time"}};
constexpr std::array remove_examples{
    example_row{"kgate remove -n gpu", "if nobody uses it"},
    example_row{"kgate remove -n gpu --force", "whoever uses it"},
};
constexpr std::array doctor_examples{example_row{"kgate doctor", "examine and mend all gates of the directory"}};

constexpr std::array commands{
    command_row{"run", "[--] COMMAND [ARGUMENT]...", "run a command when a slot is free",
                "Waits until one of the K slots of the gate is free, first come first served, runs COMMAND in it and "
                "gives the slot back "
                "when COMMAND ends. The gate is created if there is none.\n\n"
                "COMMAND gets KGATE_NAME, KGATE_SLOT (0 to K-1; with --weight a list with commas), KGATE_SLOTS (K) and "
                "KGATE_TOKEN (a number "
                "that grows with every slot given) in its environment, and {slot} in an argument is replaced by the "
                "slot. Standard input, "
                "output and error are those of kgate itself. Signals sent to kgate are passed on.\n\n"
                "The slot stays taken while kgate or COMMAND lives, so killing kgate alone does not let another one "
                "in. It is free when COMMAND "
                "has ended, even if a process that COMMAND left behind lives on.",
                run_options, run_examples},
    command_row{"status", "", "show who is inside and who waits",
                "Shows one gate, or all gates of the directory. What dead participants left is cleared away first.",
                status_options, status_examples},
    command_row{"list", "", "list the gates of a directory",
                "One line for each gate: slots, how many are inside, how many wait.", list_options, list_examples},
    command_row{"top", "", "watch gates live",
                "A live view of slots, holders and queue. Keys: s, t, u, c order by slot, time, user, command; q ends.",
                top_options, top_examples},
    command_row{"resize", "", "change the number of slots",
                "Takes effect at once. If the number shrinks, those inside stay, and nobody enters until there is room "
                "under the new number.",
                resize_options, resize_examples},
    command_row{"remove", "", "remove a gate",
                "Refused while somebody is inside or waits. With --force those who wait are turned away with exit code "
                "121, and those inside "
                "stay inside a gate that nobody else sees.",
                remove_options, remove_examples},
    command_row{"doctor", "", "examine gates and mend them",
                "Checks the files of one gate, or of all gates of the directory, explains what it finds, clears away "
                "what dead participants "
                "left, and renews a gate whose counts are wrong if nobody uses it.",
                doctor_options, doctor_examples},
};

constexpr std::array exits{
    exit_row{exit_ok, "done; run: the command ended with 0"},
    exit_row{exit_failed, "status, list, top, resize, remove, doctor: it could not be done, or something is wrong"},
    exit_row{exit_usage, "the command line was not understood"},
    exit_row{exit_lost,
             "run: the gate was removed, damaged or made smaller than the weight, or the slot lost, before the command "
             "could start"},
    exit_row{exit_refused, "run --try: no slot was free"},
    exit_row{exit_timed_out, "run --timeout: no slot became free in time"},
    exit_row{exit_error, "run: kgate itself failed and the command was not started"},
    exit_row{exit_cannot_run, "run: the command was found but could not be started"},
    exit_row{exit_not_found, "run: there is no such command"},
    exit_row{exit_signal, "plus n: the command was ended by signal n"},
};

bool parse_number(const char* text, int low, int high, int& out, int base = 10) {
  const std::optional<long long> value = parse_whole_number(text, base);
  if (!value || *value < low || *value > high) return false;
  out = static_cast<int>(*value);
  return true;
}

bool is_sort_key(std::string_view key) { return key == "slot" || key == "time" || key == "user" || key == "command"; }

/// Takes one option with its argument. False with `problem` if the argument will not do.
bool take(const option_row& row, const char* argument, request& out, std::string& problem) {
  const auto bad = [&](const char* expected) {
    problem = std::string("--") + row.word + " wants " + expected + ", not '" + argument + "'";
    return false;
  };
  switch (row.id) {
    case name:
      out.name = argument;
      return true;
   case slots:
      return parse_number(argument, 1, 4095, out.slots) || bad("a number from 1 to 4095");
    case weight:
      return parse_number(argument, 1, 4095, out.weight) || bad("a number from 1 to 4095");
    case timeout:
      out.timeout_s = parse_seconds(argument).value_or(-1);
      return out.timeout_s >= 0 || bad("a time such as 90, 1.5s, 500ms, 10m, 1h30m");
    case try_once:
      out.try_once = true;
      return true;
    case dir:
      out.dir = argument;
      return !out.dir.empty() || bad("a directory");
    case mode:
      return parse_number(argument, 0, 0777, out.mode, 8) || bad("an octal mode such as 0660");
    case group:
      out.group = argument;
      return true;
    case overtake:
      return parse_number(argument, 0, 1'000'000, out.overtake) || bad("a number from 0 to 1000000");
    case quiet:
      out.quiet = true;
      return true;
    case json:
      out.json = true;
      return true;
    case force:
      out.force = true;
      return true;
    case once:
      out.once = true;
      return true;
    case sort:
      out.sort = argument;
      return is_sort_key(out.sort) || bad("slot, time, user or command");
    case help:
      out.help = true;
      return true;
  }
  return false;
}

const option_row* find_option(const command_row& command, const char* given, std::size_t length, char letter) {
  for (const option_id id : command.options) {
    const option_row& row = row_of(id);
    if (letter != 0 ? row.letter == letter
                    : std::strlen(row.word) == length && std::strncmp(row.word, given, length) == 0)
      return &row;
  }
  return nullptr;
}

bool parse_options(int argc, char** argv, request& out, std::string& problem) {
  int at = 2;
  for (; at < argc; ++at) {
    char* const word = argv[at];
    if (word[0] != '-' || word[1] == '\0') break;
    if (std::strcmp(word, "--") == 0) {
      ++at;
      break;
    }
    const bool is_long = word[1] == '-';
    const char* body = word + (is_long ? 2 : 1);
    while (body != nullptr && *body != '\0') {
      const char* const equals = is_long ? std::strchr(body, '=') : nullptr;
      const std::size_t length = equals != nullptr ? static_cast<std::size_t>(equals - body) : std::strlen(body);
      const option_row* const row = find_option(*out.command, body, length, is_long ? '\0' : *body);
      if (row == nullptr) {
        problem = std::string("kgate ") + out.command->name + " has no option '" +
                  (is_long ? std::string(word) : std::string("-") + *body) + "'";
        return false;
      }
      const char* argument = "";
      const char* rest = is_long ? nullptr : body + 1;
      if (row->argument != nullptr) {
        if (equals != nullptr)
          argument = equals + 1;
        else if (rest != nullptr && *rest != '\0')
          argument = rest;
        else if (at + 1 < argc)
          argument = argv[++at];
        else {
          problem = std::string("--") + row->word + " wants an argument: " + row->argument;
          return false;
        }
        rest = nullptr;
      } else if (equals != nullptr) {
        problem = std::string("--") + row->word + " takes no argument";
        return false;
      }
      if (row->id == help && is_long) out.help_long = true;
      if (!take(*row, argument, out, problem)) return false;
      body = rest;
    }
  }
  for (; at < argc; ++at) out.words.push_back(argv[at]);
  return true;
}

}  // namespace

std::span<const option_row> option_rows() { return options; }
std::span<const command_row> command_rows() { return commands; }
std::span<const exit_row> exit_rows() { return exits; }

const option_row& row_of(option_id id) { return options[static_cast<std::size_t>(id)]; }

bool parse(int argc, char** argv, request& out, std::string& problem) {
  if (argc < 2) {
    problem = "no command given";
    return false;
  }
  const std::string_view first = argv[1];
  if (first == "-h" || first == "--help" || first == "help") {
    out.help = true;
    out.help_long = first != "-h";
    return true;
  }
  const auto found =
      std::find_if(commands.begin(), commands.end(), [&](const command_row& row) { return first == row.name; });
  if (found == commands.end()) {
    problem = "there is no command '" + std::string(first) + "'";
    return false;
  }
  out.command = &*found;
  if (!parse_options(argc, argv, out, problem)) return false;
  if (out.help) return true;
  const std::string_view command = found->name;
  if (command == "run" && out.words.empty())
    problem = "run wants a command, for example: kgate run -n demo -k 2 -- true";
  else if (command != "run" && !out.words.empty())
    problem = "kgate " + std::string(command) + " takes no operand '" + out.words.front() + "'; name a gate with -n";
  else if (command == "resize" && out.slots == 0)
    problem = "resize wants the new number of slots, for example: kgate resize -n gpu -k 3";
  else if ((command == "resize" || command == "remove") && out.name.empty())
    problem = "kgate " + std::string(command) + " wants the name of a gate: -n NAME";
  else if (out.try_once && out.timeout_s >= 0)
    problem = "--try and --timeout contradict each other";
  return problem.empty();
}

}  // namespace kgate::tool
