// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The recipe's client on a real session: one request for slots of one gate.

#include <algorithm>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "cluster/records.hpp"
#include "cluster/session.hpp"
#include "kgate/algorithms/cluster_recipe.hpp"

namespace kgate::detail::cluster {

/// Slots, by their numbers.
struct slot_numbers {
  std::vector<int> numbers;

  static slot_numbers only(int slot) { return {{slot}}; }
  int count() const { return static_cast<int>(numbers.size()); }
  slot_numbers lowest_free(int weight) const {
    slot_numbers out;
    for (int i = 0; out.count() < weight; ++i)
      if (std::find(numbers.begin(), numbers.end(), i) == numbers.end()) out.numbers.push_back(i);
    return out;
  }
  slot_numbers take_one() {
    slot_numbers out;
    out.numbers.push_back(numbers.back());
    numbers.pop_back();
    return out;
  }
  bool has(const slot_numbers& one) const {
    return std::find(numbers.begin(), numbers.end(), one.numbers.front()) != numbers.end();
  }
  /// Whether all of them are numbers of a gate of that size.
  bool below(int size) const {
    return std::all_of(numbers.begin(), numbers.end(), [size](int slot) { return slot < size; });
  }
};

/// How long a request may wait.
struct request_limit {
  std::stop_token stop{};
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

class request_client {
 public:
  using waiter = waiter_name;
  using slot_set = slot_numbers;
  using token = std::uint64_t;
  using gate_id = std::string;
  struct holding {
    std::string request;
    token fence = 0;
  };

  /// `shown` says what others see of it; its request is made up here.
  request_client(session& s, std::string gate, participant_data shown, request_limit limit);
  request_client(const request_client&) = delete;
  request_client& operator=(const request_client&) = delete;
  ~request_client();

  const std::string& request() const { return who_.request; }

  answered<waiter> enqueue(const gate_id& id);
  answered<std::vector<waiter>> queue(const gate_id& id);
  answered<bool> watch_waiter(const gate_id& id, const waiter& w);
  answered<slot_set> slots(const gate_id& id, bool watched);
  answered<gate_size> size(const gate_id& id);
  answered<token> grant(const gate_id& id, const waiter& me, const slot_set& chosen, std::int32_t version);
  answered<bool> remove_waiter(const gate_id& id, const waiter& me);
  answered<holding> holder(const gate_id& id, const slot_set& chosen);
  answered<bool> free(const gate_id& id, const slot_set& chosen);
  answered<bool> sync() { return session_->sync(gate_); }

  bool reconnect() { return session_->await_connected(); }
  event wait(bool briefly);
  std::int32_t granted() const { return granted_; }
  template <class... T>
  void live(int, const T&...) {}

  /// The next request has another name.
  void next_request();
  /// Whether it has seen the gate's queue.
  bool was_there() const { return was_there_; }

 protected:
  /// From now on on another session.
  void use(session& s);
  /// Before the session goes, if that is earlier than this.
  void leave_session();
  session& current() { return *session_; }
  listener& events() { return events_; }
  std::string queue_path(const gate_id& id) const { return queue_of(gate_, id); }

 private:
  std::string waiter_path(const gate_id& id, const waiter& w) const { return queue_path(id) + "/" + w.node(); }
  std::string slot_path(const gate_id& id, int slot) const { return slots_of(gate_, id) + "/" + std::to_string(slot); }

  session* session_;
  std::string gate_;
  bool was_there_ = false;
  participant_data who_;
  request_limit limit_;
  listener events_;
  std::int32_t granted_ = 0;  ///< as the last wait has shown
};

/// The waiters among these names. Throws gate_error if one is no waiter's.
std::vector<waiter_name> waiters_among(const std::vector<std::string>& names, const std::string& path);
slot_numbers slots_among(const std::vector<std::string>& names, const std::string& path);
[[noreturn]] void throw_foreign(const std::string& path, const std::string& name);
/// Throws gate_error if that is no gate.
gate_reading reading_of(const node& gate, const std::string& path);
gate_size size_of(const node& gate, const gate_reading& read);

}  // namespace kgate::detail::cluster
