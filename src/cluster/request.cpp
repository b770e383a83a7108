// SPDX-License-Identifier: Apache-2.0
#include "cluster/request.hpp"

#include <utility>

namespace kgate::detail::cluster {

namespace {

/// How long a waiter may not learn that it was cancelled. Most have been granted their slots by then, without the
/// request that watches their own node.
constexpr std::chrono::milliseconds a_while{200};

}  // namespace

void throw_foreign(const std::string& path, const std::string& name) {
  throw gate_error({gate_errc::not_a_gate, "there is a node at " + path + "/" + name +
                                               " that is not kgate's; remove it, or use another path"});
}

std::vector<waiter_name> waiters_among(const std::vector<std::string>& names, const std::string& path) {
  std::vector<waiter_name> out;
  for (const std::string& name : names) {
    std::optional<waiter_name> one = parse_waiter(name);
    if (!one) throw_foreign(path, name);
    out.push_back(std::move(*one));
  }
  return out;
}

slot_numbers slots_among(const std::vector<std::string>& names, const std::string& path) {
  slot_numbers out;
  for (const std::string& name : names) {
    const std::optional<int> slot = parse_slot(name);
    if (!slot) throw_foreign(path, name);
    out.numbers.push_back(*slot);
  }
  return out;
}

gate_reading reading_of(const node& gate, const std::string& path) {
  gate_reading read = read_gate_data(gate.data);
  if (!read.wrong.empty())
    throw gate_error({gate_errc::not_a_gate, "at " + path + " there is " + read.wrong + "; use another path or name"});
  return read;
}

gate_size size_of(const node& gate, const gate_reading& read) {
  return {read.slots, gate.version, read.paused ? 1 : 0};
}

request_client::request_client(session& s, std::string gate, participant_data shown, request_limit limit)
    : session_(&s), gate_(std::move(gate)), who_(std::move(shown)), limit_(std::move(limit)) {
  next_request();
}

request_client::~request_client() { leave_session(); }

void request_client::leave_session() {
  if (session_ != nullptr) session_->dismiss(events_);
  session_ = nullptr;
}

void request_client::next_request() { who_.request = request_name(session_->id(), session_->next_request()); }

void request_client::use(session& s) {
  leave_session();
  session_ = &s;
  next_request();
}

answered<waiter_name> request_client::enqueue(const gate_id& id) {
  const auto made = session_->create_waiter(queue_path(id) + "/" + request() + "_", to_data(who_));
  answered<waiter> out{made.is, {}};
  if (made.is != answer::ok) return out;
  const std::string node = made.value.substr(made.value.rfind('/') + 1);
  if (const std::optional<waiter_name> one = parse_waiter(node))
    out.value = *one;
  else
    throw_foreign(queue_path(id), node);
  return out;
}

answered<std::vector<waiter_name>> request_client::queue(const gate_id& id) {
  events_.forget();
  const auto names = session_->children(queue_path(id));
  answered<std::vector<waiter>> out{names.is, {}};
  was_there_ = was_there_ || names.is == answer::ok;
  if (names.is == answer::ok) out.value = waiters_among(names.value, queue_path(id));
  return out;
}

answered<bool> request_client::watch_waiter(const gate_id& id, const waiter& w) {
  // Reading it leaves no watch behind if it is gone; exists() would, for ever.
  return {session_->get(waiter_path(id, w), &events_).is, true};
}

answered<slot_numbers> request_client::slots(const gate_id& id, bool watched) {
  if (watched) events_.forget();
  const std::string path = slots_of(gate_, id);
  const auto names = session_->children(path, watched ? &events_ : nullptr);
  answered<slot_set> out{names.is, {}};
  if (names.is == answer::ok) out.value = slots_among(names.value, path);
  return out;
}

answered<gate_size> request_client::size(const gate_id& id) {
  const auto read = session_->get(gate_, &events_);
  if (read.is != answer::ok) return {read.is, {}};
  const gate_reading there = reading_of(read.value, gate_);
  if (there.id != id) return {answer::no_node, {}};
  return {answer::ok, size_of(read.value, there)};
}

answered<std::uint64_t> request_client::grant(const gate_id& id, const waiter& me, const slot_set& chosen,
                                              std::int32_t version) {
  std::vector<write> all;
  all.push_back({write::kind::check, gate_, {}, version});
  const std::string data = to_data(who_);
  for (const int slot : chosen.numbers) all.push_back({write::kind::create_ephemeral, slot_path(id, slot), data});
  // Tells the one behind that this was a grant (C6), and only this part's answer has the transaction's number.
  all.push_back({write::kind::set, waiter_path(id, me), {}});
  all.push_back({write::kind::remove, waiter_path(id, me)});
  return session_->transact(all);
}

answered<bool> request_client::remove_waiter(const gate_id& id, const waiter& me) {
  return {session_->transact({{write::kind::remove, waiter_path(id, me)}}).is, true};
}

answered<request_client::holding> request_client::holder(const gate_id& id, const slot_set& chosen) {
  const auto read = session_->get(slot_path(id, chosen.numbers.front()));
  answered<holding> out{read.is, {}};
  if (read.is == answer::ok) out.value = {read_participant(read.value.data).request, read.value.czxid};
  return out;
}

answered<bool> request_client::free(const gate_id& id, const slot_set& chosen) {
  std::vector<write> all;
  for (const int slot : chosen.numbers) all.push_back({write::kind::remove, slot_path(id, slot)});
  return {session_->transact(all).is, true};
}

event request_client::wait(bool briefly) {
  if (session_->is_lost()) return event::expired;
  const auto while_over = std::chrono::steady_clock::now() + a_while;
  const bool elapses = briefly && while_over < limit_.deadline;
  event seen = events_.wait(limit_.stop, elapses ? while_over : limit_.deadline);
  if (seen == event::given_up && elapses && !limit_.stop.stop_requested()) seen = event::elapsed;
  if (seen == event::granted) {
    const std::string path = events_.changed_node();
    const std::optional<waiter_name> one = parse_waiter(path.substr(path.rfind('/') + 1));
    if (one) granted_ = one->sequence;
    if (!one) seen = event::changed;  // it was the gate's own node
  }
  return session_->is_lost() ? event::expired : seen;
}

}  // namespace kgate::detail::cluster
