// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The recipe's client on a real session: one request for slots of one gate.

#include <algorithm>
#include <chrono>
#include <map>
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
  struct holding {
    std::string request;
    token fence = 0;
  };

  /// `who` says what others see of it; its request is made up here.
  request_client(session& s, std::string gate, participant_data who, request_limit limit);
  request_client(const request_client&) = delete;
  request_client& operator=(const request_client&) = delete;
  ~request_client();

  const std::string& request() const { return who_.request; }

  answered<waiter> enqueue();
  answered<std::vector<waiter>> queue();
  answered<bool> watch_waiter(const waiter& w);
  answered<slot_set> slots(bool watched);
  answered<gate_size> size();
  answered<token> grant(const waiter& me, const slot_set& chosen, std::int32_t version);
  answered<bool> remove_waiter(const waiter& me);
  answered<holding> holder(const slot_set& chosen);
  /// Looks first whose they are: by their numbers alone it could free those of a gate of the same name that somebody
  /// made after removing this one.
  answered<bool> free(const slot_set& chosen);
  answered<bool> sync() { return session_->sync(gate_); }

  bool reconnect() { return session_->await_connected(); }
  event wait(bool briefly);
  std::int32_t granted() const { return granted_; }
  template <class... T>
  void live(int, const T&...) {}

  /// The next request has another name.
  void next_request();
  /// From now on the gate that another transaction created is none, though it has the same name.
  void expect_gate(std::uint64_t made) { made_ = made; }
  /// Whether it has seen the queue of that one.
  bool was_there() const { return was_there_; }

 protected:
  /// From now on on another session.
  void use(session& s);
  /// Before the session goes, if that is earlier than this.
  void leave_session();
  session& current() { return *session_; }
  listener& events() { return events_; }
  std::string queue_path() const { return gate_ + "/q"; }

 private:
  /// That these slots are its own, all by one grant.
  void note(const slot_set& chosen, token fence);
  std::string waiter_path(const waiter& w) const { return gate_ + "/q/" + w.node(); }
  std::string slot_path(int slot) const { return gate_ + "/s/" + std::to_string(slot); }

  session* session_;
  std::string gate_;
  std::uint64_t made_ = 0;  ///< 0: any
  bool was_there_ = false;
  participant_data who_;
  request_limit limit_;
  listener events_;
  std::int32_t granted_ = 0;     ///< as the last wait has shown
  std::map<int, token> tokens_;  ///< of the slots that it holds, as far as it knows
};

/// The waiters among these names. Throws gate_error if one is no waiter's.
std::vector<waiter_name> waiters_of(const std::vector<std::string>& names, const std::string& path);
slot_numbers slots_of(const std::vector<std::string>& names, const std::string& path);
/// Throws gate_error if that is no gate.
gate_size size_of(const node& gate, const std::string& path);

}  // namespace kgate::detail::cluster
