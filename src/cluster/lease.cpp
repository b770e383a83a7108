// SPDX-License-Identifier: Apache-2.0
#include "kgate/lease.hpp"

#include <errno.h>
#include <unistd.h>

#include <utility>

#include "cluster/gate_nodes.hpp"
#include "cluster/lease_host.hpp"
#include "cluster/lease_job.hpp"
#include "cluster/secret.hpp"

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

/// The local gate, strictly in order, with at least so many slots.
gate open_local(const lease_location& location, int slots, const std::string& command) {
  gate_options how;
  how.directory = location.directory;
  how.overtakings = 0;
  how.command = command;
  for (;;) {
    try {
      gate there(location.gate, 0, how);
      if (there.slots() < slots) there.resize(slots);
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
  lease_host::settings how;
  lease_location location;
  std::shared_ptr<session> first;
  known_gate there;
  std::unique_ptr<lease_file> file;
  std::optional<gate> local;
  std::unique_ptr<lease_host> host;
};

host_lease::host_lease(std::string_view address, std::string_view name, int slots, lease_options options)
    : state_(std::make_unique<state>()) {
  state& s = *state_;
  s.how.where = checked_address(address, name, options);
  s.how.name = name;
  s.how.secret = find_secret(options.cluster.authentication);
  s.how.options = std::move(options);
  s.location = location_of(s.how.where, name, s.how.options.directory, true);
  s.file = std::make_unique<lease_file>(s.location, true);
  if (!s.file->become_lessor())
    throw gate_error({gate_errc::in_use, "this host has a lease of gate '" + std::string(name) + "' already"});
  s.first = std::make_shared<session>(s.how.where, s.how.secret, s.how.options.cluster.connect_timeout);
  s.there = open_gate(*s.first, s.how.where.root, s.how.name, slots);
  const participant_data who = describe_self(s.how.options.cluster.command, 1);
  s.local.emplace(open_local(s.location, s.there.size.slots, who.command));
  s.file->words().closed.store(0);
  s.file->words().slots.store(static_cast<std::uint32_t>(s.there.size.slots));
  s.host = std::make_unique<lease_host>(std::move(s.first), who, s.how, *s.file, *s.local);
}

host_lease::~host_lease() {
  if (state_->host != nullptr) abandon();
}

void host_lease::serve(std::stop_token stop) {
  state& s = *state_;
  s.host->end_when_idle(stop);
  const std::stop_callback wakes(stop, [&] { s.host->wake(); });
  lessor<lease_host>(*s.host, s.there.id, s.there.size).serve();
  s.host->turn_away();
}

void host_lease::abandon() noexcept {
  state_->file->words().closed.store(1);
  state_->host->revoke();
}

const std::string& host_lease::local_gate() const { return state_->location.gate; }
bool host_lease::gate_exists() const { return !state_->host->mine.closed; }

struct leased_gate::shared {
  shared(const lease_location& where, const std::string& gate_name, const gate_options& how)
      : name(gate_name), file(where, false), local(where.gate, 0, how) {}

  std::string name;
  lease_file file;
  gate local;

  std::unique_ptr<permit::inside> enter(const request_limit& limit);
};

struct leased_gate::permit::inside {
  std::shared_ptr<leased_gate::shared> of;
  gate::member member;
  lent_slot mine;
};

leased_gate::leased_gate(std::string_view address, std::string_view name, lease_options options) {
  const detail::cluster::address where = checked_address(address, name, options);
  const lease_location location = location_of(where, name, options.directory, false);
  gate_options how;
  how.directory = location.directory;
  how.command = options.cluster.command;
  shared_ = std::make_shared<shared>(location, std::string(name), how);
  if (!shared_->file.has_lessor())
    throw gate_error({gate_errc::not_found, "the lease of gate '" + std::string(name) + "' on this host has ended"});
}
leased_gate::leased_gate(leased_gate&&) noexcept = default;
leased_gate& leased_gate::operator=(leased_gate&&) noexcept = default;
leased_gate::~leased_gate() = default;

std::unique_ptr<leased_gate::permit::inside> leased_gate::shared::enter(const request_limit& limit) {
  gate::member member = local.join();
  lease_job job(file, member, limit);
  lent_slot mine;
  switch (leased_passage<lease_job>(job).enter(mine)) {
    case outcome::done:
      return std::make_unique<permit::inside>(permit::inside{nullptr, std::move(member), mine});
    case outcome::given_up:
      return nullptr;
    default:
      throw session_lost({gate_errc::system, "the lease of gate '" + name + "' on this host has ended"});
  }
}

leased_gate::permit leased_gate::enter() { return *enter(std::stop_token{}); }

std::optional<leased_gate::permit> leased_gate::enter(std::stop_token stop) {
  auto held = shared_->enter({std::move(stop)});
  if (held == nullptr) return std::nullopt;
  held->of = shared_;
  return permit(std::move(held));
}

std::optional<leased_gate::permit> leased_gate::try_enter() { return try_enter_for(std::chrono::milliseconds(0)); }

std::optional<leased_gate::permit> leased_gate::try_enter_for(std::chrono::milliseconds time) {
  const bool endless = time > std::chrono::hours(24 * 365);
  const auto now = std::chrono::steady_clock::now();
  auto held = shared_->enter({{}, endless ? std::chrono::steady_clock::time_point::max() : now + time});
  if (held == nullptr) return std::nullopt;
  held->of = shared_;
  return permit(std::move(held));
}

int leased_gate::slots() const { return static_cast<int>(shared_->file.words().slots.load()); }

leased_gate::permit::permit(std::unique_ptr<inside> held) : held_(std::move(held)) {}
leased_gate::permit::permit(permit&&) noexcept = default;
leased_gate::permit& leased_gate::permit::operator=(permit&&) noexcept = default;
leased_gate::permit::~permit() = default;
int leased_gate::permit::slot() const { return held_->mine.slot; }
std::uint64_t leased_gate::permit::token() const { return held_->mine.fence; }
bool leased_gate::permit::lost() const { return !still_lent(held_->of->file.words(), held_->mine); }
std::chrono::nanoseconds leased_gate::permit::time_left() const {
  const std::int64_t until = held_->of->file.words().valid_until_ns.load();
  return lost() ? std::chrono::nanoseconds(0) : std::chrono::nanoseconds(until) - boot_time();
}
bool leased_gate::permit::release() noexcept {
  if (held_ == nullptr) return true;
  const bool kept = !lost();
  held_.reset();
  return kept;
}

}  // namespace kgate
