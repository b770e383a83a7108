// SPDX-License-Identifier: Apache-2.0
#include "c/border.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>

#include "kgate/gate_error.hpp"
#include "kgate/semaphore.hpp"
#include "kgate/version.hpp"

namespace kgate::c {
namespace {

thread_local std::array<char, 512> last_error;

kgate_result code_of(gate_errc code) noexcept {
  switch (code) {
    case gate_errc::none:
      return KGATE_OK;
    case gate_errc::bad_name:
      return KGATE_BAD_NAME;
    case gate_errc::bad_slots:
      return KGATE_BAD_SLOTS;
    case gate_errc::not_found:
      return KGATE_NOT_FOUND;
    case gate_errc::no_permission:
      return KGATE_NO_PERMISSION;
    case gate_errc::wrong_slots:
      return KGATE_WRONG_SLOTS;
    case gate_errc::not_a_gate:
      return KGATE_NOT_A_GATE;
    case gate_errc::damaged:
      return KGATE_DAMAGED;
    case gate_errc::bad_filesystem:
      return KGATE_BAD_FILESYSTEM;
    case gate_errc::in_use:
      return KGATE_IN_USE;
    case gate_errc::too_many:
      return KGATE_TOO_MANY;
    case gate_errc::removed:
      return KGATE_REMOVED;
    case gate_errc::forked:
      return KGATE_FORKED;
    case gate_errc::system:
      return KGATE_SYSTEM;
    case gate_errc::cancelled:
      return KGATE_CANCELLED;
    case gate_errc::bad_options:
      return KGATE_INVALID;
  }
  return KGATE_SYSTEM;
}

}  // namespace

int failed(kgate_result code, const char* text) noexcept {
  std::snprintf(last_error.data(), last_error.size(), "%s", text);
  return code;
}
int failed_with(kgate_result code, const char* format, ...) noexcept {
  std::va_list values;
  va_start(values, format);
  std::vsnprintf(last_error.data(), last_error.size(), format, values);
  va_end(values);
  return code;
}
int failed(kgate_result code) noexcept { return failed(code, kgate_result_text(code)); }

int caught() noexcept {
  try {
    throw;
  } catch (const gate_error& e) {
    return failed(code_of(e.code()), e.what());
  } catch (const refused& e) {
    return failed(e.why() == refused::reason::closed ? KGATE_CLOSED : KGATE_TOO_HEAVY, e.what());
  } catch (const std::bad_alloc&) {
    return failed(KGATE_NO_MEMORY);
  } catch (const std::invalid_argument& e) {
    return failed(KGATE_INVALID, e.what());
  } catch (const std::exception& e) {
    return failed(KGATE_SYSTEM, e.what());
  } catch (...) {
    return failed(KGATE_SYSTEM);
  }
}

within::within(std::int64_t nanoseconds) noexcept {
  const double seconds = static_cast<double>(nanoseconds) * 1e-9;
  if (nanoseconds <= 0)
    std::snprintf(text_.data(), text_.size(), " now");
  else if (seconds < 1)
    std::snprintf(text_.data(), text_.size(), " within %g ms", seconds * 1e3);
  else
    std::snprintf(text_.data(), text_.size(), " within %g s", seconds);
}

}  // namespace kgate::c

#define KGATE_TEXT_OF(number) #number
#define KGATE_TEXT(number) KGATE_TEXT_OF(number)

const char* kgate_version(void) {
  return KGATE_TEXT(KGATE_VERSION_MAJOR) "." KGATE_TEXT(KGATE_VERSION_MINOR) "." KGATE_TEXT(KGATE_VERSION_PATCH);
}

const char* kgate_result_text(int code) {
  switch (code) {
    case KGATE_OK:
      return "success";
    case KGATE_INVALID:
      return "an argument is null or out of its range";
    case KGATE_NO_MEMORY:
      return "out of memory";
    case KGATE_TIMED_OUT:
      return "not in the time given";
    case KGATE_STOPPED:
      return "stopped while it waited";
    case KGATE_CLOSED:
      return "closed";
    case KGATE_TOO_HEAVY:
      return "more permits asked for than there are";
    case KGATE_BAD_NAME:
      return "not a name for a gate";
    case KGATE_BAD_SLOTS:
      return "not a number of slots, or a weight above it";
    case KGATE_NOT_FOUND:
      return "no such gate";
    case KGATE_NO_PERMISSION:
      return "no permission";
    case KGATE_WRONG_SLOTS:
      return "the gate has another number of slots";
    case KGATE_NOT_A_GATE:
      return "not a gate, or one of another version";
    case KGATE_DAMAGED:
      return "the gate's file is damaged";
    case KGATE_BAD_FILESYSTEM:
      return "a file system that cannot hold gates";
    case KGATE_IN_USE:
      return "in use";
    case KGATE_TOO_MANY:
      return "too many participants";
    case KGATE_REMOVED:
      return "the gate was removed";
    case KGATE_FORKED:
      return "it belongs to the parent process";
    case KGATE_SYSTEM:
      return "the system refused";
    case KGATE_CANCELLED:
      return "taken out of the queue by somebody";
    case KGATE_WAITING:
      return "the wait goes on";
    default:
      return "unknown result";
  }
}

const char* kgate_last_error(void) { return kgate::c::last_error.data(); }

int kgate_stop_create(kgate_stop** stop) {
  if (stop == nullptr) return kgate::c::failed(KGATE_INVALID);
  return kgate::c::guarded([&] {
    *stop = new kgate_stop;
    return KGATE_OK;
  });
}
void kgate_stop_request(kgate_stop* stop) {
  if (stop == nullptr) return;
  const kgate::c::uncancellable whole;
  stop->source.request_stop();
}
int kgate_stop_requested(const kgate_stop* stop) { return stop != nullptr && stop->source.stop_requested() ? 1 : 0; }
void kgate_stop_destroy(kgate_stop* stop) { delete stop; }

int kgate_wait_descriptor(const kgate_wait* wait) { return wait == nullptr ? -1 : wait->descriptor(); }
int kgate_wait_finish(kgate_wait* wait) {
  using namespace kgate::c;
  if (wait == nullptr) return failed(KGATE_INVALID);
  if (!wait->is_ours()) return failed(KGATE_FORKED);
  const uncancellable whole;  // to the end: freeing closes descriptors
  if (!wait->ended()) {
    wait->attend();
    return failed(KGATE_WAITING);
  }
  const std::unique_ptr<kgate_wait> freed(wait);
  return guarded([&] { return wait->finish(); });
}
void kgate_wait_cancel(kgate_wait* wait) {
  if (wait == nullptr || !wait->is_ours()) return;
  const kgate::c::uncancellable whole;
  wait->cancel();
}
void kgate_wait_destroy(kgate_wait* wait) {
  if (wait == nullptr) return;
  const kgate::c::uncancellable whole;
  if (wait->is_ours())
    delete wait;
  else
    ::close(wait->descriptor());  // the rest is the parent's
}
