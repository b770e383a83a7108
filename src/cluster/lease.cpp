// SPDX-License-Identifier: Apache-2.0
#include "kgate/lease.hpp"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>

#include "cluster/gate_nodes.hpp"
#include "cluster/lease_host.hpp"
#include "cluster/lease_job.hpp"
#include "cluster/local_gate.hpp"
#include "cluster/secret.hpp"
#include "gate/byte_locks.hpp"
#include "gate/location.hpp"

namespace kgate {

using namespace detail::cluster;

namespace {

address checked_address(std::string_view text, std::string_view name, const lease_options& options) {
  address out;
  if (const gate_failure failure = parse_address(text, out)) throw gate_error(failure);
  if (const gate_failure failure = check_name(name)) throw gate_error(failure);
  if (options.cluster.session_timeout.count() > 0) out.session = options.cluster.session_timeout;
  return out;
}

/// The local gate, strictly in order, with so many slots.
gate open_local(const lease_location& location, int slots, const std::string& command) {
  gate_options how;
  how.directory = location.directory;
  how.overtakings = 0;
  how.command = command;
  for (;;) {
    try {
      gate there(location.gate, 0, how);
      if (there.slots() != slots) there.resize(slots);
      return there;
    } catch (const gate_error& error) {
      if (error.code() != gate_errc::not_found) throw;
    }
    try {
      return gate(location.gate, slots, how);
    } catch (const gate_error& error) {
      if (error.code() != gate_errc::wrong_slots) throw;
    }
  }
}

}  // namespace

struct host_lease::state {
  void begin(int slots);
  void take_files_away() noexcept;

  lease_host::settings how;
  lease_location location;
  std::shared_ptr<session> first;
  known_gate there;
  std::unique_ptr<lease_file> file;
  std::optional<gate> local;
  std::unique_ptr<lease_host> host;
  bool is_over = false;  ///< nothing is lent
};

void host_lease::state::begin(int slots) {
  file->words().local_gate.store(0);  // until there is one, jobs wait
  file->words().closed.store(0);
  first = std::make_shared<session>(how.where, how.secret, how.options.cluster.connect_timeout);
  there = open_gate(*first, how.where.root, how.name, slots);
  read_status(*first, how.where.root + "/" + how.name);  // throws if the gate is not whole
  const participant_data who = describe_self(how.options.cluster.command, 1);
  local.emplace(open_local(location, there.size.slots, who.command));
  file->words().slots.store(static_cast<std::uint32_t>(there.size.slots));
  host = std::make_unique<lease_host>(std::move(first), who, how, *file, *local, there.size.slots);
  file->words().local_gate.store(local_gate::id_of(*local));  // L6
}

/// The local gate first: where it stays, because jobs of a lease that was lost are inside, the file says whose it is.
void host_lease::state::take_files_away() noexcept try {
  file->words().closed.store(1);
  if (local && local_gate::is_in_place(*local)) {
    // Those that were turned away leave in a moment.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (!local->remove() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (is_over) local->remove(true);
  }
  if (!detail::gates::file_id::of(detail::gates::path_of(location.directory, location.gate))) file->remove();
} catch (...) {  // kgate doctor takes away what is left
}

host_lease::host_lease(std::string_view address, std::string_view name, int slots, lease_options options)
    : state_(std::make_unique<state>()) {
  state& s = *state_;
  s.how.where = checked_address(address, name, options);
  s.how.name = name;
  s.how.secret = find_secret(options.cluster.authentication);
  s.how.options = std::move(options);
  s.location = location_of(s.how.where, name, s.how.options.directory, true);
  s.file = lease_file::of_lessor(s.location);
  try {
    s.begin(slots);
  } catch (...) {
    s.host.reset();
    s.take_files_away();
    throw;
  }
}

host_lease::~host_lease() {
  state& s = *state_;
  if (!s.is_over) {  // L8
    abandon();
    s.host->turn_away();
    s.host->await_departures();
  }
  s.host.reset();
  s.take_files_away();
}

void host_lease::serve(std::stop_token stop) {
  state& s = *state_;
  s.host->end_when_idle(stop);
  const std::stop_callback wakes(stop, [&] { s.host->wake(); });
  try {
    s.is_over = lessor<lease_host>(*s.host, s.there.id, s.there.size).serve() == outcome::done;
  } catch (...) {
    abandon();
    s.host->turn_away();
    throw;
  }
  s.host->turn_away();
}

void host_lease::abandon() noexcept {
  state_->file->words().closed.store(1);
  state_->host->revoke();
}

const std::string& host_lease::local_gate() const { return state_->location.gate; }
bool host_lease::gate_exists() const { return !state_->host->mine.closed; }

/// A lease of this host, as long as it lasts: its file, and the very local gate through which it lends (L6).
struct leased_gate::opened {
  std::unique_ptr<lease_file> file;
  gate local;
};

struct leased_gate::shared {
  lease_location location;
  gate_options how;
  std::mutex mutex;
  std::shared_ptr<opened> lease;

  std::shared_ptr<opened> open(std::chrono::steady_clock::time_point until) const;
  std::shared_ptr<opened> current(const std::shared_ptr<opened>& over, std::chrono::steady_clock::time_point until);
  std::unique_ptr<permit::inside> enter(const request_limit& limit);
  std::string ended() const { return "the lease of gate '" + location.name + "' on this host has ended"; }
};

struct leased_gate::permit::inside {
  std::shared_ptr<leased_gate::opened> of;
  gate::member member;
  lent_slot mine;
};

/// Throws gate_error: not_found if there is no lease, or none that gets ready in time.
std::shared_ptr<leased_gate::opened> leased_gate::shared::open(std::chrono::steady_clock::time_point until) const {
  for (;;) {
    auto file = std::make_unique<lease_file>(location);
    if (!file->is_open()) throw gate_error({gate_errc::not_found, ended()});
    if (const std::uint64_t id = file->words().local_gate.load(); id != 0) try {
        gate local(location.gate, 0, how);
        if (local_gate::id_of(local) == id) return std::make_shared<opened>(opened{std::move(file), std::move(local)});
      } catch (const gate_error& error) {
        if (error.code() != gate_errc::not_found) throw;
      }
    // It begins, or is about to see that its local gate was removed.
    if (std::chrono::steady_clock::now() >= until)
      throw gate_error({gate_errc::not_found, "the lease of gate '" + location.name +
                                                  "' on this host has not begun, or its local gate '" + location.gate +
                                                  "' was removed"});
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// The lease of this host that is not `over`.
std::shared_ptr<leased_gate::opened> leased_gate::shared::current(const std::shared_ptr<opened>& over,
                                                                  std::chrono::steady_clock::time_point until) {
  {
    const std::scoped_lock lock(mutex);
    if (lease != over) return lease;
  }
  std::shared_ptr<opened> next = open(until);
  const std::scoped_lock lock(mutex);
  return lease = std::move(next);
}

namespace {
/// How long a lease may take to begin: as long as a session's first connection.
constexpr std::chrono::seconds beginning_most{10};
}  // namespace

leased_gate::leased_gate(std::string_view address, std::string_view name, lease_options options)
    : shared_(std::make_shared<shared>()) {
  const detail::cluster::address where = checked_address(address, name, options);
  shared_->location = location_of(where, name, options.directory, false);
  shared_->how.directory = shared_->location.directory;
  shared_->how.command = options.cluster.command;
  shared_->current(nullptr, std::chrono::steady_clock::now() + beginning_most);
}
leased_gate::leased_gate(leased_gate&&) noexcept = default;
leased_gate& leased_gate::operator=(leased_gate&&) noexcept = default;
leased_gate::~leased_gate() = default;

std::unique_ptr<leased_gate::permit::inside> leased_gate::shared::enter(const request_limit& limit) {
  std::shared_ptr<opened> over;
  for (;;) {
    std::shared_ptr<opened> now;
    try {
      now = current(over, std::min(limit.deadline, std::chrono::steady_clock::now() + beginning_most));
      gate::member member = now->local.join();
      lease_job job(*now->file, member, limit);
      lent_slot mine;
      const outcome end = leased_passage<lease_job>(job).enter(mine);
      if (end == outcome::done) return std::make_unique<permit::inside>(permit::inside{now, std::move(member), mine});
      if (end == outcome::given_up) return nullptr;
    } catch (const gate_error& error) {
      if (error.code() == gate_errc::not_found) throw session_lost({gate_errc::system, error.what()});
      if (error.code() != gate_errc::removed) throw;
    }
    over = now;  // another one may have begun
  }
}

leased_gate::permit leased_gate::enter() { return *enter(std::stop_token{}); }

std::optional<leased_gate::permit> leased_gate::enter(std::stop_token stop) {
  auto held = shared_->enter({std::move(stop)});
  if (held == nullptr) return std::nullopt;
  return permit(std::move(held));
}

std::optional<leased_gate::permit> leased_gate::try_enter() { return try_enter_for(std::chrono::milliseconds(0)); }

std::optional<leased_gate::permit> leased_gate::try_enter_for(std::chrono::milliseconds time) {
  const bool endless = time > std::chrono::hours(24 * 365);
  const auto now = std::chrono::steady_clock::now();
  auto held = shared_->enter({{}, endless ? std::chrono::steady_clock::time_point::max() : now + time});
  if (held == nullptr) return std::nullopt;
  return permit(std::move(held));
}

int leased_gate::slots() const {
  const std::scoped_lock lock(shared_->mutex);
  return static_cast<int>(shared_->lease->file->words().slots.load());
}

leased_gate::permit::permit(std::unique_ptr<inside> held) : held_(std::move(held)) {}
leased_gate::permit::permit(permit&&) noexcept = default;
leased_gate::permit& leased_gate::permit::operator=(permit&&) noexcept = default;
leased_gate::permit::~permit() = default;
int leased_gate::permit::slot() const { return held_->mine.slot; }
std::uint64_t leased_gate::permit::token() const { return held_->mine.fence; }
bool leased_gate::permit::lost() const { return !still_lent(held_->of->file->words(), held_->mine); }
std::chrono::nanoseconds leased_gate::permit::time_left() const {
  const std::int64_t until = held_->of->file->words().valid_until_ns.load();
  return lost() ? std::chrono::nanoseconds(0) : std::chrono::nanoseconds(until) - boot_time();
}
bool leased_gate::permit::release() noexcept {
  if (held_ == nullptr) return true;
  const bool kept = !lost();
  held_.reset();
  return kept;
}

}  // namespace kgate
