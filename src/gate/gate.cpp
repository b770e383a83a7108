// SPDX-License-Identifier: Apache-2.0
#include "kgate/gate.hpp"

#include <errno.h>

#include <cstdio>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "gate/shared.hpp"
#include "gate/truncation.hpp"

namespace kgate {

using namespace detail::gates;

namespace {

gate_participant to_public(const participant& who) {
  gate_participant out;
  out.process = who.process;
  out.user = who.user;
  out.host = who.host;
  out.command = who.command;
  out.since = std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::nanoseconds(who.since_ns)));
  out.weight = who.weight;
  out.slot = who.slot;
  out.position = who.position;
  return out;
}

/// True if inside, false if time ran out or it was cancelled.
bool is_inside(entry result, const std::string& name, const std::string& arguments, const core& core) {
  switch (result) {
    case entry::entered:
      return true;
    case entry::timed_out:
    case entry::cancelled:
      return false;
    case entry::removed:
      throw gate_error({gate_errc::removed, "gate '" + name + "' was removed; open it again"});
    case entry::too_heavy:
      throw gate_error(
          {gate_errc::bad_slots, "gate '" + name + "' was made smaller than the weight that was waited for"});
    case entry::damaged:
      throw gate_error({gate_errc::damaged, "gate '" + name + "' is damaged; run `kgate doctor " + arguments + "`"});
    case entry::lost:
      throw gate_error(core.lost_failure());
  }
  return false;
}

/// Why no gate can have these options, if so. The mode and the group of one that exists stay as they are: a program
/// whose options are wrong shall learn it all the same.
gate_failure check_options(const gate_options& options) {
  const auto refused = [](const std::string& why) { return gate_failure{gate_errc::bad_options, why}; };
  char mode[16];
  std::snprintf(mode, sizeof mode, "%#o", options.mode);
  if (!valid_mode(options.mode))
    return refused("the mode of a gate must let the owner read and write, and beyond 0777 there is nothing; not " +
                   std::string(mode));
  if (options.group < -1)
    return refused("the group of a gate is the number of one, or -1; not " + std::to_string(options.group));
  if (options.overtakings.value_or(0) > static_cast<unsigned>(std::numeric_limits<int>::max()))
    return refused("the overtakings of a gate are at most " + std::to_string(std::numeric_limits<int>::max()) +
                   ", not " + std::to_string(*options.overtakings));
  if (options.directory.find('\0') != std::string::npos)
    return refused("'" + visible(options.directory) + "' cannot be the directory of a gate: it has a null character");
  return {};
}

/// A directory that is named from the working directory is the one of now, wherever the program goes.
void make_absolute(location& where) {
  const std::string directory = directory_of(where);
  if (directory.empty() || directory.front() == '/') return;
  std::error_code unknown;
  const std::filesystem::path whole = std::filesystem::absolute(directory, unknown);
  if (!unknown) where.directory = whole.lexically_normal().string();
}

}  // namespace

gate::gate(std::string_view name, int slots, gate_options options) : shared_(std::make_shared<shared>()) {
  if (const gate_failure failure = check_options(options)) throw gate_error(failure);
  shared_->name = std::string(name);
  shared_->command = options.command.empty() ? program_invocation_short_name : options.command;
  location where;
  where.directory = std::move(options.directory);
  where.mode = options.mode;
  where.overtakings = options.overtakings.value_or(overtakings_shared);
  if (options.group >= 0) where.group = static_cast<gid_t>(options.group);
  constexpr std::size_t spare_max = 16;
  shared_->spare.reserve(spare_max);
  make_absolute(where);
  shared_->arguments = "-n " + shared_->name + (where.directory.empty() ? "" : " -d " + where.directory);
  if (const gate_failure failure = shared_->core.open(shared_->name, slots, where))
    throw gate_error({failure.code, shared_->with_arguments(failure.text)});
}

gate::gate(gate&&) noexcept = default;
gate& gate::operator=(gate&&) noexcept = default;
gate::~gate() = default;

gate::shared& gate::opened() const {
  KGATE_EXPECTS(shared_ != nullptr, "a gate that was moved from is not open");
  return *shared_;
}

gate::member gate::join() {
  opened().slots();  // an error, if the file is damaged
  const membership mine = shared_->take();
  return {shared_, mine.number, mine.out};
}

gate::permit gate::enter(int weight) {
  auto entrant = std::make_unique<member>(join());
  entrant->enter(weight);
  return permit(std::move(entrant));
}

std::optional<gate::permit> gate::enter(std::stop_token stop, int weight) {
  auto entrant = std::make_unique<member>(join());
  if (!entrant->enter(std::move(stop), weight)) return std::nullopt;
  return permit(std::move(entrant));
}

std::optional<gate::permit> gate::try_enter(int weight) {
  auto entrant = std::make_unique<member>(join());
  if (!entrant->try_enter(weight)) return std::nullopt;
  return permit(std::move(entrant));
}

int gate::slots() const { return opened().slots(); }

void gate::resize(int slots) {
  if (slots < 1 || slots > slots_max)
    throw gate_error({gate_errc::bad_slots, "a gate has 1 to " + std::to_string(slots_max) + " slots"});
  opened().slots();  // an error, if the file is damaged
  membership mine = shared_->take();
  const outcome result = shared_->core.resize(mine, slots);
  shared_->give_back(mine);
  if (result == outcome::refused)
    throw gate_error(
        {gate_errc::system, "no room for " + std::to_string(slots) + " slots of gate '" + shared_->name + "'"});
  if (result == outcome::retired) throw gate_error({gate_errc::removed, "gate '" + shared_->name + "' was removed"});
  if (result == outcome::damaged) throw gate_error(shared_->core.scribbled_failure());
}

gate_status gate::status() {
  opened().slots();
  shared_->core.heal_all();
  const snapshot seen = take_snapshot(shared_->core.cells().map());
  gate_status out;
  out.slots = seen.slots;
  out.free = seen.free_slots();
  out.over = seen.slots_over();
  out.healed = seen.healed;
  for (const participant& who : seen.holders) out.holders.push_back(to_public(who));
  for (const participant& who : seen.waiters) out.waiters.push_back(to_public(who));
  return out;
}

bool gate::remove(bool forced) {
  opened().expect_ours();
  if (!forced) shared_->slots();  // of a damaged one it cannot be said whether it is in use
  const gate_failure failure = shared_->core.remove(forced);
  if (failure && failure.code != gate_errc::in_use) throw gate_error(failure);
  return !failure;
}

void gate::guard_against_truncation() { detail::gates::guard_mappings(); }

gate::member::member(std::shared_ptr<shared> owner, unsigned number, detail::gates::state out)
    : out_(out), number_(number), owner_(std::move(owner)) {
  file_layout& map = owner_->core.cells().map();
  word_ = &map.word_bits;
  calls_ = &map.call_bits;
  state_ = &map.state_bits[number];
  entered_ = &map.lines[number].entered_ns;
  guess_ = owner_->guess_of(number);
  *guess_ = 0;
}

/// What a member that was moved from remembers of W: nothing, so that it takes the slow way, which knows it.
static std::uint64_t no_guess = 0;

gate::member::member(member&& other) noexcept : guess_(&no_guess) { *this = std::move(other); }

gate::member& gate::member::operator=(member&& other) noexcept {
  if (this != &other) {
    part();
    word_ = other.word_;
    calls_ = other.calls_;
    state_ = other.state_;
    entered_ = other.entered_;
    guess_ = std::exchange(other.guess_, &no_guess);
    out_ = other.out_;
    short_passages_ = other.short_passages_;
    inside_ = std::exchange(other.inside_, false);
    slots_ = std::move(other.slots_);
    token_ = other.token_;
    number_ = other.number_;
    owner_ = std::move(other.owner_);
  }
  return *this;
}

gate::member::~member() { part(); }

void gate::member::part() noexcept {
  if (owner_ == nullptr) return;
  if (owner_->memory.is_ours()) {
    if (inside_) leave();
    owner_->give_back({number_, out_});
  }
  owner_.reset();
}

std::int64_t gate::member::deadline_after(std::chrono::nanoseconds time) {
  const std::int64_t now = now_ns();
  return time.count() >= forever - now ? forever : now + time.count();
}

[[gnu::hot]] void gate::member::enter_slowly(int weight) { enter_until(forever, weight); }

bool gate::member::enter(std::stop_token stop, int weight) {
  return enter_until_stopped(std::move(stop), forever, weight);
}

bool gate::member::enter_until_stopped(std::stop_token stop, std::int64_t deadline_ns, int weight) {
  KGATE_EXPECTS(owner_ != nullptr, "a member that was moved from cannot enter");
  std::atomic<bool> cancelled{false};
  std::stop_callback on_stop(stop, [&] {
    cancelled.store(true);
    owner_->core.cells().ring(number_);
  });
  return enter_until(deadline_ns, weight, &cancelled);
}

[[gnu::hot]] void gate::member::prepare_to_enter(int weight) {
  KGATE_EXPECTS(!inside_, "a member that is inside cannot enter");
  KGATE_EXPECTS(owner_ != nullptr, "a member that was moved from cannot enter");
  owner_->expect_ours();
  if (const int slots = owner_->slots(); weight < 1 || weight > slots)
    throw gate_error({gate_errc::bad_slots,
                      "a weight of " + std::to_string(weight) + " at a gate with " + std::to_string(slots) + " slots"});
  *guess_ = 0;  // an exception leaves none behind
}

[[gnu::hot]] bool gate::member::enter_until(std::int64_t deadline_ns, int weight, const std::atomic<bool>* cancelled) {
  prepare_to_enter(weight);
  wait_options how;
  how.deadline_ns = deadline_ns;
  how.spins_first = deadline_ns == forever;
  how.cancelled = cancelled;
  word became;
  membership mine{number_, out_};
  const entry result = owner_->core.enter(mine, weight, how, became);
  return settle(result, cancelled != nullptr && cancelled->load(), mine.out, became);
}

/// Keeps how an attempt to enter ended: whether it is inside.
[[gnu::hot]] bool gate::member::settle(entry result, bool by_caller, detail::gates::state out, word became) {
  out_ = out;
  // Not by its own stop token: another took it out of the queue, which a caller that waits for ever must learn.
  if (result == entry::cancelled && !by_caller)
    throw gate_error({gate_errc::cancelled, "a waiter at gate '" + owner_->name + "' was cancelled by somebody"});
  inside_ = is_inside(result, owner_->name, owner_->arguments, owner_->core);
  guess(became);
  return inside_;
}

[[gnu::hot]] void gate::member::leave_slowly() {
  KGATE_EXPECTS(inside_, "a member that is not inside cannot leave");
  owner_->expect_ours();
  slots_.clear();
  token_ = 0;
  inside_ = false;
  word became;
  membership mine{number_, out_};
  owner_->core.leave(mine, became);
  out_ = mine.out;
  guess(became);
}

[[gnu::hot]] void gate::member::guess(word made) {
  short_passages_ = owner_->core.cells().short_passages() * state::passage_one;
  *guess_ = owner_->memory.cleared_by_kernel() ? guess_after(made, out_.weight()) : 0;
}

int gate::member::slot() {
  KGATE_EXPECTS(inside_, "only a member that is inside has a slot");
  owner_->expect_ours();
  if (slots_.empty()) {
    *guess_ = 0;  // leaving has slots to forget: the slow way
    std::vector<int> taken;
    for (int left = out_.weight(); left > 0; --left) {
      taken.push_back(owner_->core.take_slot({number_, out_}));
      if (taken.back() < 0) owner_->damaged();
    }
    slots_ = std::move(taken);
  }
  return slots_.front();
}

std::vector<int> gate::member::slots() {
  slot();
  return slots_;
}

std::uint64_t gate::member::token() {
  KGATE_EXPECTS(inside_, "only a member that is inside has a token");
  owner_->expect_ours();
  if (token_ == 0) {
    *guess_ = 0;
    const std::uint64_t taken = owner_->core.take_token();
    owner_->slots();  // of a file that was cut off tokens would begin anew: looked at when the token is taken
    if (taken == 0) owner_->damaged();
    token_ = taken;
  }
  return token_;
}

gate::member& gate::permit::inside() const {
  KGATE_EXPECTS(member_ != nullptr, "a permit that was released or moved from has no slot and no token");
  return *member_;
}

gate::permit& gate::permit::operator=(permit&& other) noexcept {
  if (this != &other) {
    release();
    member_ = std::move(other.member_);
  }
  return *this;
}

void gate::permit::release() noexcept { member_.reset(); }

}  // namespace kgate
