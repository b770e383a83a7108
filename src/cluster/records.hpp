// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is written in the nodes of a gate, and how their names are made. A client may write anything there, so
/// all of it is checked when it is read.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kgate::detail::cluster {

constexpr int slots_max = 4095;
constexpr int layout_version = 2;

/// The data of the gate's own node.
struct gate_reading {
  std::string id;  ///< no other gate of that name has it: "SESSION-NUMBER"
  int slots = 0;
  int created_with = 0;  ///< the slots it had at first; 0: one, for no number was asked for
  bool paused = false;
  std::string wrong;     ///< what is wrong with the data, if anything is
  bool ours = false;     ///< a gate of this version, whatever else is wrong with it
  bool resized = false;  ///< its size was set later, and stands
};
std::string gate_data(const gate_reading& gate);
gate_reading read_gate_data(std::string_view data);
/// Of any version.
bool is_gate_data(std::string_view data);
/// Of a session and a number that it uses once.
std::string make_gate_id(std::uint64_t session, std::uint64_t number);
/// The node below which the waiters are.
std::string queue_of(const std::string& gate, const std::string& id);
/// The node below which the holders are.
std::string slots_of(const std::string& gate, const std::string& id);
/// Which of the two a node below a gate's is: 'q' or 's', of any id; 0 if it is neither.
char kind_of_part(std::string_view node);

/// The data of a waiter's and of a holder's node.
struct participant_data {
  std::string request;
  std::string host;
  int process = 0;
  std::string user;
  std::string command;
  int weight = 1;
};
std::string to_data(const participant_data& who);
/// This process, without a request. An empty command is the program's own name.
participant_data describe_self(const std::string& command, int weight);
/// What cannot be understood is left as it is by default.
participant_data read_participant(std::string_view data);

/// A waiter's node: REQUEST_SEQUENCE.
struct waiter_name {
  std::string request;
  std::int32_t sequence = 0;
  std::string node() const;
  friend bool operator==(const waiter_name&, const waiter_name&) = default;
};
std::optional<waiter_name> parse_waiter(std::string_view node);
/// "w-SESSION-NUMBER"
std::string request_name(std::uint64_t session, std::uint64_t number);
std::uint64_t session_of(std::string_view request);
/// The number of a slot's node.
std::optional<int> parse_slot(std::string_view node);

}  // namespace kgate::detail::cluster
