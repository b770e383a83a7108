// SPDX-License-Identifier: Apache-2.0
// Gates of the C interface.
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c/border.hpp"
#include "kgate/enter_event.hpp"
#include "kgate/gate.hpp"

using namespace kgate::c;

struct kgate_gate {
  kgate::gate gate;
  std::shared_ptr<const std::string> name;  ///< as `kgate status` takes it: a gate's, and its directory's if given
};
struct kgate_member {
  kgate::gate::member member;
  std::shared_ptr<const std::string> gate_name;
  pid_t process = getpid();    ///< that joined
  kgate_wait* wait = nullptr;  ///< its own, if it has begun one
};

namespace {

/// What to say to a member that is, or is not, inside.
int wrong_side(const kgate_member* member) {
  if (member == nullptr) return failed(KGATE_INVALID);
  if (member->process != getpid()) return failed(KGATE_FORKED);
  if (member->wait != nullptr) return failed(KGATE_INVALID, "the member waits: its wait must be finished first");
  return failed(KGATE_INVALID, member->member.inside() ? "the member is inside already" : "the member is not inside");
}

/// Whether the member can begin to enter.
bool is_outside(const kgate_member* member) {
  return member != nullptr && member->wait == nullptr && !member->member.inside();
}

/// The message for a member that did not get inside: where, how long it waited, what to do next.
int not_in_time(const kgate_member& member, int weight, std::int64_t nanoseconds) {
  const std::string& named = *member.gate_name;  // the name, and behind a space the directory
  const int length = static_cast<int>(std::min(named.find(' '), named.size()));
  std::array<char, 32> slots{"no slot"};
  if (weight > 1) std::snprintf(slots.data(), slots.size(), "no %d slots at once", weight);
  return failed_with(KGATE_TIMED_OUT, "gate '%.*s': %s%s; wait longer, or see who is inside: kgate status -n %s",
                     length, named.c_str(), slots.data(), within(nanoseconds).text(), named.c_str());
}

/// A gate's name as `kgate status -n` takes it.
std::string name_for_status(const char* name, const kgate::gate_options& options) {
  const char* const from_environment = std::getenv("KGATE_DIR");
  const std::string directory = !options.directory.empty()    ? options.directory
                                : from_environment != nullptr ? from_environment
                                                              : "";
  return directory.empty() ? name : std::string(name) + " -d " + directory;
}

/// The message for one that wants to remove a gate that others use: how many they are, one of them, what to do next.
int in_use(kgate_gate& gate) {
  const kgate::gate_status now = gate.gate.status();
  const std::string& named = *gate.name;
  const int length = static_cast<int>(std::min(named.find(' '), named.size()));
  const kgate::gate_participant* const one = !now.holders.empty()   ? &now.holders.front()
                                             : !now.waiters.empty() ? &now.waiters.front()
                                                                    : nullptr;
  if (one == nullptr)
    return failed_with(KGATE_IN_USE, "gate '%.*s': somebody was inside or waited until now; try again", length,
                       named.c_str());
  return failed_with(KGATE_IN_USE,
                     "gate '%.*s': in use (%zu inside, %zu waiting; process %d is one of them); wait until they have "
                     "left, or remove it by force; see who they are: kgate status -n %s",
                     length, named.c_str(), now.holders.size(), now.waiters.size(), one->process, named.c_str());
}

/// A wait for a gate.
class entering final : public kgate_wait {
 public:
  using deaths = kgate::detail::gates::event_entry::deaths;

  entering(kgate_member& member, int weight, std::int64_t nanoseconds, const kgate_stop* stop, deaths how)
      : member_(member),
        weight_(weight),
        nanoseconds_(nanoseconds),
        entry_(member.member, weight, std::chrono::nanoseconds(nanoseconds), how),
        canceller_(entry_, stop) {
    member.wait = this;
  }
  ~entering() override { member_.wait = nullptr; }
  int descriptor() const noexcept override { return entry_.descriptor(); }
  bool ended() const noexcept override { return entry_.ended(); }
  void cancel() noexcept override { canceller_.cancel(); }
  void attend() noexcept override { entry_.attend(); }
  int finish() override {
    if (entry_.finish()) return KGATE_OK;
    return canceller_.cancelled() ? failed(KGATE_STOPPED) : not_in_time(member_, weight_, nanoseconds_);
  }

 private:
  kgate_member& member_;
  int weight_;
  std::int64_t nanoseconds_;
  kgate::detail::gates::event_entry entry_;
  canceller<kgate::detail::gates::event_entry> canceller_;
};

int begin(kgate_member* member, int weight, std::int64_t nanoseconds, const kgate_stop* stop, kgate_wait** wait,
          entering::deaths how) {
  if (wait == nullptr) return failed(KGATE_INVALID);
  *wait = nullptr;
  if (!is_outside(member)) return wrong_side(member);
  return guarded([&]() -> int {
    if (member->member.try_enter(weight)) return KGATE_OK;
    if (nanoseconds <= 0) return not_in_time(*member, weight, nanoseconds);
    *wait = new entering(*member, weight, nanoseconds, stop, how);
    return KGATE_WAITING;
  });
}

/// A status with what its pointers lead to.
struct kept_status : kgate_status {
  kgate::gate_status from;
  std::vector<kgate_participant> all;
};

std::vector<kgate_participant>& append(std::vector<kgate_participant>& to,
                                       const std::vector<kgate::gate_participant>& from) {
  using std::chrono::duration_cast;
  using std::chrono::nanoseconds;
  for (const kgate::gate_participant& p : from)
    to.push_back({p.process, p.user, p.weight, p.slot, p.position,
                  duration_cast<nanoseconds>(p.since.time_since_epoch()).count(), p.host.c_str(), p.command.c_str()});
  return to;
}

kgate::gate_options options_of(const kgate_gate_options* from) {
  kgate::gate_options to;
  if (from == nullptr) return to;
  const auto has = [&](const auto& field) {
    return reinterpret_cast<const char*>(&field) + sizeof field <= reinterpret_cast<const char*>(from) + from->size;
  };
  if (has(from->directory) && from->directory != nullptr) to.directory = from->directory;
  if (has(from->mode)) to.mode = from->mode;
  if (has(from->group)) to.group = from->group;
  if (has(from->overtakings)) to.overtakings = from->overtakings;
  if (has(from->command) && from->command != nullptr) to.command = from->command;
  return to;
}

/// Whether a directory was given that has no name: in C++ that is the user's own.
bool names_no_directory(const kgate::gate_options& wanted, const kgate_gate_options* given) {
  return given != nullptr && given->directory != nullptr && wanted.directory.empty() && *given->directory == '\0';
}

}  // namespace

int kgate_gate_open(kgate_gate** gate, const char* name, int slots, const kgate_gate_options* options) {
  if (gate == nullptr || name == nullptr) return failed(KGATE_INVALID);
  if (options != nullptr && (options->size < sizeof(std::size_t) || options->size > 4096))
    return failed(KGATE_INVALID, "kgate_gate_options: size is not set; begin with KGATE_GATE_OPTIONS_INIT");
  return guarded([&] {
    const kgate::gate_options wanted = options_of(options);
    if (names_no_directory(wanted, options))
      return failed(KGATE_INVALID, "kgate_gate_options: directory has no name; null is the user's own");
    auto shown = std::make_shared<const std::string>(name_for_status(name, wanted));
    *gate = new kgate_gate{kgate::gate(name, slots, wanted), std::move(shown)};
    return static_cast<int>(KGATE_OK);
  });
}
void kgate_gate_close(kgate_gate* gate) {
  const uncancellable whole;
  delete gate;
}
int kgate_gate_slots(kgate_gate* gate, int* slots) {
  if (gate == nullptr || slots == nullptr) return failed(KGATE_INVALID);
  return guarded([&] {
    *slots = gate->gate.slots();
    return KGATE_OK;
  });
}
int kgate_gate_resize(kgate_gate* gate, int slots) {
  if (gate == nullptr) return failed(KGATE_INVALID);
  return guarded([&] {
    gate->gate.resize(slots);
    return KGATE_OK;
  });
}
int kgate_gate_remove(kgate_gate* gate, int forced) {
  if (gate == nullptr) return failed(KGATE_INVALID);
  return guarded([&]() -> int { return gate->gate.remove(forced != 0) ? KGATE_OK : in_use(*gate); });
}
void kgate_guard_against_truncation(void) { kgate::gate::guard_against_truncation(); }

int kgate_gate_join(kgate_gate* gate, kgate_member** member) {
  if (gate == nullptr || member == nullptr) return failed(KGATE_INVALID);
  return guarded([&] {
    *member = new kgate_member{.member = gate->gate.join(), .gate_name = gate->name};
    return KGATE_OK;
  });
}
void kgate_part(kgate_member* member) {
  const uncancellable whole;
  if (member != nullptr && member->process == getpid()) delete member->wait;
  delete member;
}
int kgate_enter(kgate_member* member, int weight) { return kgate_enter_within(member, weight, KGATE_FOREVER, nullptr); }
int kgate_enter_within(kgate_member* member, int weight, int64_t nanoseconds, kgate_stop* stop) {
  if (!is_outside(member)) return wrong_side(member);
  return guarded([&]() -> int {
    kgate::gate::member& m = member->member;
    if (nanoseconds == KGATE_FOREVER && stop == nullptr) {
      m.enter(weight);
      return KGATE_OK;
    }
    if (m.try_enter(weight)) return KGATE_OK;
    if (nanoseconds <= 0) return not_in_time(*member, weight, nanoseconds);
    const bool got = stop == nullptr ? m.try_enter_for(std::chrono::nanoseconds(nanoseconds), weight)
                                     : m.try_enter_for(token_of(stop), std::chrono::nanoseconds(nanoseconds), weight);
    if (got) return KGATE_OK;
    return stop_requested(stop) ? failed(KGATE_STOPPED) : not_in_time(*member, weight, nanoseconds);
  });
}
int kgate_enter_begin(kgate_member* member, int weight, int64_t nanoseconds, kgate_stop* stop, kgate_wait** wait) {
  return begin(member, weight, nanoseconds, stop, wait, entering::deaths::watched_by_thread);
}
int kgate_enter_attend(kgate_member* member, int weight, int64_t nanoseconds, kgate_stop* stop, kgate_wait** wait) {
  return begin(member, weight, nanoseconds, stop, wait, entering::deaths::attended);
}
int kgate_leave(kgate_member* member) {
  if (member == nullptr || !member->member.inside()) return wrong_side(member);
  return guarded([&] {
    member->member.leave();
    return KGATE_OK;
  });
}
int kgate_inside(const kgate_member* member) {
  return member != nullptr && member->member.inside() && member->process == getpid() ? 1 : 0;
}
int kgate_slot(kgate_member* member, int* slot) {
  if (slot == nullptr) return failed(KGATE_INVALID);
  if (member == nullptr || !member->member.inside()) return wrong_side(member);
  return guarded([&] {
    *slot = member->member.slot();
    return KGATE_OK;
  });
}
int kgate_slots_of(kgate_member* member, int* slots, size_t room, size_t* count) {
  if ((slots == nullptr && room > 0) || count == nullptr) return failed(KGATE_INVALID);
  if (member == nullptr || !member->member.inside()) return wrong_side(member);
  return guarded([&] {
    const std::vector<int> all = member->member.slots();
    std::copy_n(all.begin(), std::min(room, all.size()), slots);
    *count = all.size();
    return KGATE_OK;
  });
}
int kgate_token(kgate_member* member, uint64_t* token) {
  if (token == nullptr) return failed(KGATE_INVALID);
  if (member == nullptr || !member->member.inside()) return wrong_side(member);
  return guarded([&] {
    *token = member->member.token();
    return KGATE_OK;
  });
}

int kgate_gate_status(kgate_gate* gate, kgate_status** status) {
  if (gate == nullptr || status == nullptr) return failed(KGATE_INVALID);
  return guarded([&] {
    auto kept = std::make_unique<kept_status>();
    kept->from = gate->gate.status();
    append(append(kept->all, kept->from.holders), kept->from.waiters);
    kept->slots = kept->from.slots;
    kept->free = kept->from.free;
    kept->over = kept->from.over;
    kept->healed = kept->from.healed;
    kept->holder_count = kept->from.holders.size();
    kept->waiter_count = kept->from.waiters.size();
    kept->holders = kept->all.data();
    kept->waiters = kept->all.data() + kept->holder_count;
    *status = kept.release();
    return KGATE_OK;
  });
}
void kgate_status_free(kgate_status* status) { delete static_cast<kept_status*>(status); }
