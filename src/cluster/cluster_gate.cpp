// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <utility>

#include "cluster/address.hpp"
#include "cluster/gate_nodes.hpp"
#include "cluster/request.hpp"
#include "cluster/secret.hpp"
#include "cluster/session.hpp"
#include "kgate/cluster.hpp"

namespace kgate {

namespace detail::cluster {

/// A request that was granted, with all that its release needs.
class held_permit {
 public:
  held_permit(std::shared_ptr<session> s, const std::string& gate, const participant_data& who, request_limit limit,
              const known_gate& known)
      : session_(std::move(s)),
        client_(*session_, gate, who, std::move(limit)),
        recipe_(client_, known.id, known.size) {}

  /// done: it is inside. After an exception nothing is left in the queue, as far as that can be done.
  outcome acquire(int weight) {
    try {
      return recipe_.acquire(weight);
    } catch (const gate_error&) {
      leave_queue();
      throw;
    }
  }
  bool release() noexcept {
    if (released_ || session_->is_inherited()) return true;
    released_ = true;
    try {
      return recipe_.release() == outcome::done;
    } catch (const std::exception&) {
      return false;
    }
  }

  void leave_queue() noexcept {
    if (recipe_.at().me.request.empty()) return;
    try {
      client_.remove_waiter(recipe_.gate(), recipe_.at().me);
    } catch (const std::exception&) {
      return;  // what is reported is the first failure
    }
  }

  const std::vector<int>& slots() const { return recipe_.at().slots.numbers; }
  std::uint64_t token() const { return recipe_.at().fence; }
  gate_size size() const { return recipe_.at().size; }
  bool was_there() const { return client_.was_there(); }
  const cluster::session& of() const { return *session_; }

 private:
  std::shared_ptr<session> session_;
  request_client client_;
  recipe<request_client> recipe_;
  bool released_ = false;
};

}  // namespace detail::cluster

using namespace detail::cluster;

struct cluster_gate::shared {
  address where;
  std::string name, path, secret;
  cluster_options options;
  std::mutex mutex;
  std::shared_ptr<session> current;
  known_gate gate;

  /// The session, or a new one if that was lost.
  std::shared_ptr<session> usable() {
    const std::scoped_lock lock(mutex);
    if (current != nullptr && current->is_inherited())
      throw gate_error({gate_errc::forked, "the session belongs to another process; open the gate here"});
    if (current == nullptr || current->is_lost())
      current = std::make_shared<session>(where, secret, options.connect_timeout);
    return current;
  }
  known_gate known() {
    const std::scoped_lock lock(mutex);
    return gate;
  }
  gate_size known_size() { return known().size; }
  void learn(known_gate seen) {
    const std::scoped_lock lock(mutex);
    gate = std::move(seen);
    gate.size.room = std::max(gate.size.room, 0);
  }
  /// Reads it. Throws gate_error.
  known_gate read_again(session& s) {
    known_gate seen = read_gate(s, path);
    learn(seen);
    return seen;
  }
  std::unique_ptr<held_permit> enter(int weight, request_limit limit);
};

std::unique_ptr<held_permit> cluster_gate::shared::enter(int weight, request_limit limit) {
  const std::shared_ptr<session> s = usable();
  const std::string called = "gate '" + name + "'";
  const auto too_heavy = [&](int slots) {
    return gate_error({gate_errc::bad_slots, "a weight of " + std::to_string(weight) + " is not in 1.." +
                                                 std::to_string(slots) + ", the slots of " + called});
  };
  if (weight < 1) throw too_heavy(known_size().slots);
  if (weight > known_size().slots && weight > read_again(*s).size.slots) throw too_heavy(known_size().slots);
  const known_gate before = known();
  auto held = std::make_unique<held_permit>(s, path, describe_self(options.command, weight), limit, before);
  const outcome how = held->acquire(weight);
  learn({before.id, held->size()});
  switch (how) {
    case outcome::done:
      return held;
    case outcome::given_up:
      return nullptr;
    case outcome::too_heavy:
      throw gate_shrunk({gate_errc::bad_slots, called + " was made smaller than the weight of " +
                                                   std::to_string(weight) + " while it waited"});
    case outcome::removed:
      break;
    case outcome::lost:
      throw_lost(*s);
  }
  known_gate now;
  try {
    now = read_again(*s);
  } catch (const gate_error& missing) {
    if (missing.code() != gate_errc::not_found) throw;
    throw gate_error({gate_errc::removed, called + " was removed"});
  }
  if (now.id != before.id && !held->was_there()) return enter(weight, std::move(limit));  // another one by now
  if (now.id != before.id) throw gate_error({gate_errc::removed, called + " was removed"});
  try {
    check_whole(*s, path, now.id);
  } catch (const gate_error&) {
    held->leave_queue();
    throw;
  }
  throw gate_error({gate_errc::cancelled, "somebody took the waiter out of the queue of " + called});
}

cluster_gate::cluster_gate(std::string_view address, std::string_view name, int slots, cluster_options options)
    : shared_(std::make_shared<shared>()) {
  if (const gate_failure failure = parse_address(address, shared_->where)) throw gate_error(failure);
  if (const gate_failure failure = check_name(name)) throw gate_error(failure);
  if (slots < 0 || slots > slots_max)
    throw gate_error({gate_errc::bad_slots, "a gate has 1 to " + std::to_string(slots_max) + " slots"});
  shared_->name = name;
  shared_->path = shared_->where.root + "/" + shared_->name;
  shared_->secret = find_secret(options.authentication);
  if (options.session_timeout.count() > 0) shared_->where.session = options.session_timeout;
  shared_->options = std::move(options);
  shared_->learn(open_gate(*shared_->usable(), shared_->where.root, shared_->name, slots));
}
cluster_gate::cluster_gate(cluster_gate&&) noexcept = default;
cluster_gate& cluster_gate::operator=(cluster_gate&&) noexcept = default;
cluster_gate::~cluster_gate() = default;

cluster_gate::permit cluster_gate::enter(int weight) { return permit(shared_->enter(weight, {})); }

std::optional<cluster_gate::permit> cluster_gate::enter(std::stop_token stop, int weight) {
  auto held = shared_->enter(weight, {std::move(stop)});
  if (held == nullptr) return std::nullopt;
  return permit(std::move(held));
}

std::optional<cluster_gate::permit> cluster_gate::try_enter(int weight) {
  return try_enter_for(std::chrono::milliseconds(0), weight);
}

std::optional<cluster_gate::permit> cluster_gate::try_enter_for(std::chrono::milliseconds time, int weight) {
  const auto now = std::chrono::steady_clock::now();
  const bool endless = time > std::chrono::hours(24 * 365);
  return enter_until({}, endless ? std::chrono::steady_clock::time_point::max() : now + time, weight);
}

std::optional<cluster_gate::permit> cluster_gate::enter_until(std::stop_token stop,
                                                              std::chrono::steady_clock::time_point deadline,
                                                              int weight) {
  auto held = shared_->enter(weight, {std::move(stop), deadline});
  if (held == nullptr) return std::nullopt;
  return permit(std::move(held));
}

int cluster_gate::slots() { return shared_->read_again(*shared_->usable()).size.slots; }
void cluster_gate::resize(int slots) { resize_gate(*shared_->usable(), shared_->path, slots); }
void cluster_gate::pause() { pause_gate(*shared_->usable(), shared_->path, true); }
void cluster_gate::resume() { pause_gate(*shared_->usable(), shared_->path, false); }
cluster_status cluster_gate::status() { return read_status(*shared_->usable(), shared_->path); }
bool cluster_gate::cancel(std::string_view request) {
  return cancel_waiter(*shared_->usable(), shared_->path, request);
}
bool cluster_gate::remove(bool forced) { return remove_gate(*shared_->usable(), shared_->path, forced); }
std::chrono::milliseconds cluster_gate::session_timeout() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->current->timeout();
}

cluster_gate::permit::permit(std::unique_ptr<held_permit> held) : held_(std::move(held)) {}
cluster_gate::permit::permit(permit&&) noexcept = default;
cluster_gate::permit& cluster_gate::permit::operator=(permit&& other) noexcept {
  if (this != &other) {
    if (held_ != nullptr) held_->release();
    held_ = std::move(other.held_);
  }
  return *this;
}
cluster_gate::permit::~permit() {
  if (held_ != nullptr) held_->release();
}
const std::vector<int>& cluster_gate::permit::slots() const { return held_->slots(); }
std::uint64_t cluster_gate::permit::token() const { return held_->token(); }
int cluster_gate::permit::gate_slots() const { return held_->size().slots; }
std::stop_token cluster_gate::permit::lost() const { return held_->of().lost(); }
int cluster_gate::permit::lost_descriptor() const { return held_->of().lost_descriptor(); }
bool cluster_gate::permit::connected() const { return held_->of().connected(); }
bool cluster_gate::permit::release() noexcept {
  if (held_ == nullptr) return true;
  return std::exchange(held_, nullptr)->release();
}

}  // namespace kgate
