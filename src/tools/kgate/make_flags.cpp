// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate/make_flags.hpp"

#include <algorithm>

namespace kgate::tool {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_number(std::string_view text) { return !text.empty() && is_digit(text.front()); }

/// A word of short options of make, without its -j.
struct letters {
  std::string kept;         ///< the letters that stay
  bool had_jobs = false;    ///< -j was among them
  bool jobs_open = false;   ///< -j was the last: its number may be the next word
  bool takes_word = false;  ///< the last letter's argument is the next word
  bool takes_number = false;
};

letters read_letters(std::string_view word) {
  constexpr std::string_view with_argument = "CEIfoW";
  letters out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const std::string_view rest = word.substr(i + 1);
    if (word[i] == 'j') {
      const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
      out.had_jobs = true;
      out.jobs_open = rest.empty();
      i += digits;
      continue;
    }
    out.kept += word[i];
    const bool argument = with_argument.find(word[i]) != std::string_view::npos;
    if (!argument && word[i] != 'O' && word[i] != 'l') continue;
    out.takes_word = argument && rest.empty();
    out.takes_number = word[i] == 'l' && rest.empty();
    out.kept += rest;  // the argument, whatever is in it
    break;
  }
  return out;
}

/// Takes the first word off the front of MAKEFLAGS, in which a backslash keeps the character behind it.
std::string_view take_word(std::string_view& flags) {
  flags.remove_prefix(std::min(flags.find_first_not_of(' '), flags.size()));
  std::size_t end = 0;
  while (end < flags.size() && flags[end] != ' ') end += flags[end] == '\\' ? 2 : 1;
  const std::string_view word = flags.substr(0, end);
  flags.remove_prefix(word.size());
  return word;
}

bool begins(std::string_view word, std::string_view with) { return word.substr(0, with.size()) == with; }

bool is_long_jobs(std::string_view word) { return word == "--jobs" || begins(word, "--jobs="); }

}  // namespace

std::vector<char*> without_jobs(const std::vector<char*>& words, std::vector<std::string>& texts) {
  const std::string_view command = words.front();
  const std::string_view name = command.substr(command.rfind('/') + 1);
  if (name != "make" && name != "gmake") return words;
  texts.reserve(texts.size() + words.size());  // its strings must not move
  std::vector<char*> out{words.front()};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool number_follows = i + 1 < words.size() && begins_number(words[i + 1]);
    if (word == "--") {
      out.insert(out.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    if (begins(word, "--")) {
      if (!is_long_jobs(word))
        out.push_back(words[i]);
      else if (word == "--jobs" && number_follows)
        ++i;
      continue;
    }
    if (word.size() < 2 || word.front() != '-') {
      out.push_back(words[i]);
      continue;
    }
    const letters read = read_letters(word.substr(1));
    if (!read.had_jobs)
      out.push_back(words[i]);
    else if (!read.kept.empty())
      out.push_back(texts.emplace_back("-" + read.kept).data());
    if (read.jobs_open && number_follows)
      ++i;
    else if ((read.takes_word && i + 1 < words.size()) || (read.takes_number && number_follows))
      out.push_back(words[++i]);
  }
  return out;
}

std::string with_jobserver(std::string_view flags, int slots, const std::string& auth) {
  std::string before;
  std::string_view left = flags;
  std::string_view behind;
  for (bool first = true;; first = false) {
    const std::string_view rest = left;
    const std::string_view word = take_word(left);
    if (word.empty()) break;
    if (word == "--") {
      behind = rest;
      break;
    }
    if (is_long_jobs(word) || begins(word, "--jobserver")) continue;
    const bool dashed = word.front() == '-';
    // The first word may be letters without a dash; others without one are variables.
    const bool bare_letters = first && !dashed && word.find('=') == std::string_view::npos;
    const bool shorts = bare_letters || (dashed && !begins(word, "--"));
    const letters read = shorts ? read_letters(word.substr(dashed ? 1 : 0)) : letters{};
    const std::string kept = !read.had_jobs ? std::string(word) : (dashed ? "-" : "") + read.kept;
    if (!read.had_jobs || !read.kept.empty()) before += (before.empty() && !dashed ? "" : " ") + kept;
  }
  behind.remove_prefix(std::min(behind.find_first_not_of(' '), behind.size()));
  return before + " -j" + std::to_string(slots) + " --jobserver-auth=" + auth +
         (behind.empty() ? "" : " " + std::string(behind));
}

}  // namespace kgate::tool
