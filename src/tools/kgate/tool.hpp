// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the commands of the tool have in common.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "gate/core.hpp"
#include "tools/kgate/exit_codes.hpp"
#include "tools/kgate/spec.hpp"

namespace kgate::tool {

int run(const request& options);
int hold(const request& options);
int release(const request& options);
int jobserver(const request& options);
int create(const request& options);
int status(const request& options);
int list(const request& options);
int top(const request& options);
int stats(const request& options);
int wait(const request& options);
int cancel(const request& options);
int pause(const request& options);
int resume(const request& options);
int drain(const request& options);
int resize(const request& options);
int remove(const request& options);
int doctor(const request& options);

/// A gate that is cut off under its users is a SIGBUS for them. From now on that is said, and ends this process with
/// `code`.
void expect_truncation(int code);

/// To standard error, with "kgate: " before it, fit for a terminal.
void complain(std::string_view text);
/// The same for what a gate says; lines to copy get the directory that was given.
void complain(const gate_failure& failure, const request& options);
void print(std::string_view text);
/// Whether all that was printed has arrived; says so if not.
bool flush_output();

/// " -n NAME", and " --dir DIR" if a directory was given: for lines to copy.
std::string gate_arguments(const request& options, std::string_view name);

/// "1 of 2 slots taken"; of a gate that was made smaller also how many are inside beyond its slots.
std::string slots_taken(int inside, int slots);

/// Where the gate is or shall be. False if the group is unknown, which has been said.
bool location_of(const request& options, detail::gates::location& out);
std::string directory_of(const request& options);
/// Whether the gates of the directory can be listed; says so if not. One that is not there has none, unless it was
/// asked for.
bool can_list(const request& options);

/// "there is no gate 'gup' in DIR", and what it may have been meant to be.
std::string no_such_gate(const request& options, const std::string& name);
/// Opens a gate that must exist.
gate_failure open_existing(const std::string& name, const request& options, detail::gates::core& gate);
/// The same for the one that was named: false if it cannot be opened, which has been said.
bool open_existing(const request& options, detail::gates::core& gate);

/// What a small file of /proc says; empty if it cannot be read.
std::string file_text(const std::string& path);
std::string user_name(unsigned user);
/// Looks them up together: asking for one after the other takes a process each.
void learn_user_names(const std::set<unsigned>& users);
/// That of a group that is given by its number or its name; nothing if there is none of that name.
std::optional<unsigned> group_number(const std::string& group);
/// "2026-11-15T21:00:00Z"
std::string iso_time(std::uint64_t wall_ns);
/// "12s", "3m05s", "2h10m", "4d3h"
std::string span_text(double seconds);
double seconds_since(std::uint64_t wall_ns);

}  // namespace kgate::tool
