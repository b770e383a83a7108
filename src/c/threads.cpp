// SPDX-License-Identifier: Apache-2.0
// Semaphores and slots of the C interface.
#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>

#include "c/border.hpp"
#include "kgate/acquire_event.hpp"
#include "kgate/semaphore.hpp"
#include "kgate/slots.hpp"

using namespace kgate::c;

struct kgate_semaphore {
  kgate::semaphore permits;
};
struct kgate_slots {
  kgate::slots slots;
};

namespace {

bool weight_fits(std::ptrdiff_t permits) { return permits >= 1 && permits <= kgate::semaphore::max(); }

/// In the words of C: there are not so many permits or slots.
int no_such_number(const char* what, std::ptrdiff_t max, std::ptrdiff_t k) {
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%s must be 1 to %td, not %td", what, max, k);
  return failed(KGATE_INVALID, text.data());
}

/// Why a wait took nothing, if neither closing nor a weight explains it: how long it was, and how things stand.
int not_in_time(const kgate_semaphore& s, std::ptrdiff_t permits, std::int64_t nanoseconds) {
  return failed_with(
      KGATE_TIMED_OUT,
      "semaphore: %td permit%s not free%s (%td of %td free, %td waiting); wait longer, or see who holds them", permits,
      permits == 1 ? "" : "s", within(nanoseconds).text(), s.permits.available(), s.permits.permits(),
      s.permits.waiters());
}
int not_in_time(const kgate_slots& s, std::int64_t nanoseconds) {
  return failed_with(KGATE_TIMED_OUT,
                     "slots: none free%s (%td of %td free, %td waiting); wait longer, or see who holds them",
                     within(nanoseconds).text(), s.slots.available(), s.slots.size(), s.slots.waiters());
}

/// A wait for permits.
class acquiring final : public kgate_wait {
 public:
  acquiring(kgate_semaphore& semaphore, std::ptrdiff_t permits, std::int64_t nanoseconds, const kgate_stop* stop)
      : semaphore_(semaphore),
        permits_(permits),
        nanoseconds_(nanoseconds),
        event_(semaphore.permits, std::chrono::nanoseconds(nanoseconds), permits),
        canceller_(event_, stop) {}
  int descriptor() const noexcept override { return event_.descriptor(); }
  bool ended() const noexcept override { return event_.ended(); }
  void cancel() noexcept override { canceller_.cancel(); }
  int finish() override {
    if (event_.take().forget() > 0) return KGATE_OK;
    return canceller_.cancelled() ? failed(KGATE_STOPPED) : not_in_time(semaphore_, permits_, nanoseconds_);
  }

 private:
  const kgate_semaphore& semaphore_;
  std::ptrdiff_t permits_;
  std::int64_t nanoseconds_;
  kgate::acquire_event event_;
  canceller<kgate::acquire_event> canceller_;
};

/// A wait for a slot.
class taking_slot final : public kgate_wait {
 public:
  taking_slot(kgate_slots& slots, std::ptrdiff_t& slot, std::int64_t nanoseconds, const kgate_stop* stop)
      : slots_(slots),
        slot_(slot),
        nanoseconds_(nanoseconds),
        event_(slots.slots, std::chrono::nanoseconds(nanoseconds)),
        canceller_(event_, stop) {}
  int descriptor() const noexcept override { return event_.descriptor(); }
  bool ended() const noexcept override { return event_.ended(); }
  void cancel() noexcept override { canceller_.cancel(); }
  int finish() override {
    kgate::slot got = event_.take();
    if (!got) return canceller_.cancelled() ? failed(KGATE_STOPPED) : not_in_time(slots_, nanoseconds_);
    slot_ = got.forget();
    return KGATE_OK;
  }

 private:
  const kgate_slots& slots_;
  std::ptrdiff_t& slot_;
  std::int64_t nanoseconds_;
  kgate::slot_event event_;
  canceller<kgate::slot_event> canceller_;
};

/// Why waiting would be in vain; KGATE_OK if it would not.
int in_vain(const kgate_semaphore& s, std::ptrdiff_t permits) {
  if (s.permits.closed()) return failed(KGATE_CLOSED, "semaphore: closed; nobody gets a permit any more");
  const std::ptrdiff_t k = s.permits.permits();
  if (permits > k)
    return failed_with(KGATE_TOO_HEAVY,
                       "semaphore: %td permits asked for, and there are %td; ask for fewer, or resize it", permits, k);
  return KGATE_OK;
}
int in_vain(const kgate_slots& s) {
  return s.slots.closed() ? failed(KGATE_CLOSED, "slots: closed; nobody gets one any more") : int{KGATE_OK};
}
/// Why the semaphore gave nothing within the limits.
int refusal(const kgate_semaphore& s, std::ptrdiff_t permits, std::int64_t nanoseconds, const kgate_stop* stop) {
  if (const int why = in_vain(s, permits)) return why;
  return stop_requested(stop) ? failed(KGATE_STOPPED) : not_in_time(s, permits, nanoseconds);
}
int refusal(const kgate_slots& s, std::int64_t nanoseconds, const kgate_stop* stop) {
  if (const int why = in_vain(s)) return why;
  return stop_requested(stop) ? failed(KGATE_STOPPED) : not_in_time(s, nanoseconds);
}

}  // namespace

int kgate_semaphore_create(kgate_semaphore** semaphore, ptrdiff_t k) {
  if (semaphore == nullptr) return failed(KGATE_INVALID);
  if (!weight_fits(k)) return no_such_number("permits", kgate::semaphore::max(), k);
  return guarded([&] {
    *semaphore = new kgate_semaphore{kgate::semaphore(k)};
    return KGATE_OK;
  });
}
void kgate_semaphore_destroy(kgate_semaphore* semaphore) { delete semaphore; }

int kgate_acquire(kgate_semaphore* semaphore, ptrdiff_t permits) {
  if (semaphore == nullptr || !weight_fits(permits)) return failed(KGATE_INVALID);
  if (semaphore->permits.try_acquire(permits)) return KGATE_OK;
  return guarded([&]() -> int {
    if (const int why = in_vain(*semaphore, permits)) return why;
    semaphore->permits.acquire(permits);
    return KGATE_OK;
  });
}
int kgate_acquire_within(kgate_semaphore* semaphore, ptrdiff_t permits, int64_t nanoseconds, kgate_stop* stop) {
  if (semaphore == nullptr || !weight_fits(permits)) return failed(KGATE_INVALID);
  if (semaphore->permits.try_acquire(permits)) return KGATE_OK;
  return guarded([&]() -> int {
    const bool got = nanoseconds > 0 &&
                     semaphore->permits.try_acquire_for(token_of(stop), std::chrono::nanoseconds(nanoseconds), permits);
    return got ? KGATE_OK : refusal(*semaphore, permits, nanoseconds, stop);
  });
}
int kgate_acquire_begin(kgate_semaphore* semaphore, ptrdiff_t permits, int64_t nanoseconds, kgate_stop* stop,
                        kgate_wait** wait) {
  if (semaphore == nullptr || wait == nullptr || !weight_fits(permits)) return failed(KGATE_INVALID);
  *wait = nullptr;
  if (semaphore->permits.try_acquire(permits)) return KGATE_OK;
  return guarded([&]() -> int {
    if (nanoseconds <= 0) return refusal(*semaphore, permits, nanoseconds, stop);
    if (const int why = in_vain(*semaphore, permits)) return why;
    *wait = new acquiring(*semaphore, permits, nanoseconds, stop);
    return KGATE_WAITING;
  });
}
int kgate_release(kgate_semaphore* semaphore, ptrdiff_t permits) {
  if (semaphore == nullptr || permits < 0 || permits > kgate::semaphore::max()) return failed(KGATE_INVALID);
  semaphore->permits.release(permits);
  return KGATE_OK;
}
int kgate_semaphore_resize(kgate_semaphore* semaphore, ptrdiff_t k) {
  if (semaphore == nullptr) return failed(KGATE_INVALID);
  if (!weight_fits(k)) return no_such_number("permits", kgate::semaphore::max(), k);
  return guarded([&] {
    semaphore->permits.resize(k);
    return KGATE_OK;
  });
}
void kgate_semaphore_close(kgate_semaphore* semaphore) {
  if (semaphore == nullptr) return;
  const uncancellable whole;
  semaphore->permits.close();
}
ptrdiff_t kgate_semaphore_permits(const kgate_semaphore* semaphore) {
  return semaphore == nullptr ? 0 : semaphore->permits.permits();
}
ptrdiff_t kgate_semaphore_available(const kgate_semaphore* semaphore) {
  return semaphore == nullptr ? 0 : semaphore->permits.available();
}
ptrdiff_t kgate_semaphore_waiters(const kgate_semaphore* semaphore) {
  return semaphore == nullptr ? 0 : semaphore->permits.waiters();
}

int kgate_slots_create(kgate_slots** slots, ptrdiff_t k) {
  if (slots == nullptr) return failed(KGATE_INVALID);
  if (k < 1 || k > kgate::slots::max()) return no_such_number("slots", kgate::slots::max(), k);
  return guarded([&] {
    *slots = new kgate_slots{kgate::slots(k)};
    return KGATE_OK;
  });
}
void kgate_slots_destroy(kgate_slots* slots) { delete slots; }
int kgate_slots_acquire(kgate_slots* slots, ptrdiff_t* slot) {
  if (slots == nullptr || slot == nullptr) return failed(KGATE_INVALID);
  return guarded([&]() -> int {
    if (const int why = in_vain(*slots)) return why;
    *slot = slots->slots.acquire();
    return KGATE_OK;
  });
}
int kgate_slots_acquire_within(kgate_slots* slots, ptrdiff_t* slot, int64_t nanoseconds, kgate_stop* stop) {
  if (slots == nullptr || slot == nullptr) return failed(KGATE_INVALID);
  return guarded([&]() -> int {
    const std::optional<std::ptrdiff_t> got =
        nanoseconds <= 0 ? slots->slots.try_acquire()
                         : slots->slots.try_acquire_for(token_of(stop), std::chrono::nanoseconds(nanoseconds));
    if (!got) return refusal(*slots, nanoseconds, stop);
    *slot = *got;
    return KGATE_OK;
  });
}
int kgate_slots_acquire_begin(kgate_slots* slots, ptrdiff_t* slot, int64_t nanoseconds, kgate_stop* stop,
                              kgate_wait** wait) {
  if (slots == nullptr || slot == nullptr || wait == nullptr) return failed(KGATE_INVALID);
  *wait = nullptr;
  return guarded([&]() -> int {
    if (const std::optional<std::ptrdiff_t> got = slots->slots.try_acquire()) {
      *slot = *got;
      return KGATE_OK;
    }
    if (nanoseconds <= 0) return refusal(*slots, nanoseconds, stop);
    if (const int why = in_vain(*slots)) return why;
    *wait = new taking_slot(*slots, *slot, nanoseconds, stop);
    return KGATE_WAITING;
  });
}
int kgate_slots_release(kgate_slots* slots, ptrdiff_t slot) {
  if (slots == nullptr || slot < 0 || slot >= slots->slots.capacity()) return failed(KGATE_INVALID);
  slots->slots.release(slot);
  return KGATE_OK;
}
void kgate_slots_close(kgate_slots* slots) {
  if (slots == nullptr) return;
  const uncancellable whole;
  slots->slots.close();
}
ptrdiff_t kgate_slots_size(const kgate_slots* slots) { return slots == nullptr ? 0 : slots->slots.size(); }
ptrdiff_t kgate_slots_available(const kgate_slots* slots) { return slots == nullptr ? 0 : slots->slots.available(); }
ptrdiff_t kgate_slots_waiters(const kgate_slots* slots) { return slots == nullptr ? 0 : slots->slots.waiters(); }
