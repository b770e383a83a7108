// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate/history.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <limits>

#include "tools/kgate/unrecorded_waits.hpp"

namespace kgate::tool {

using namespace detail::gates;

namespace {

constexpr std::uint64_t hours_kept = 168;                    // a week
constexpr std::uint64_t magic_number = 0x315453484554414BU;  // "KATEHST1"
constexpr off_t first_record = 64;

/// More than anything took since the clock began.
constexpr std::uint64_t time_us_max = std::uint64_t{1} << 53;

/// Stops at the greatest number there is.
template <class Number>
Number sum(Number a, Number b) {
  return b > std::numeric_limits<Number>::max() - a ? std::numeric_limits<Number>::max() : static_cast<Number>(a + b);
}

std::string path_of_history(const std::string& directory, const std::string& gate) {
  return directory + "/." + gate + ".history";
}

off_t offset_of(std::uint64_t index) { return first_record + static_cast<off_t>(index * sizeof(history_record)); }
/// What is older than a week, all in one.
constexpr std::uint64_t index_of_past = hours_kept;

std::uint64_t this_hour() { return static_cast<std::uint64_t>(std::time(nullptr)) / 3600; }

/// The record of an hour, or of the past; one of zeros if there is none that kgate can have written.
history_record read_record(int fd, std::uint64_t index) {
  history_record one{};
  if (pread(fd, &one, sizeof one, offset_of(index)) != static_cast<ssize_t>(sizeof one)) return {};
  const bool of_this_index = index == index_of_past ? one.hour == 0 : one.hour % hours_kept == index;
  return of_this_index && one.hour <= this_hour() && one.consistent() ? one : history_record{};
}

bool is_history(int fd) {
  std::uint64_t number = 0;
  return pread(fd, &number, sizeof number, 0) == sizeof number && number == magic_number;
}

int open_to_read(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

bool is_history(const std::string& path) {
  const int fd = open_to_read(path);
  const bool is_one = fd >= 0 && is_history(fd);
  if (fd >= 0) ::close(fd);
  return is_one;
}

/// A history file, opened and locked; or not, and then nothing is recorded.
class history_file {
 public:
  /// Creates the file if need be, shared like the gate; without one for its creator alone.
  history_file(const std::string& path, const std::string& gate_path) : fd_(::open(path.c_str(), flags)) {
    struct stat gate {};
    if (fd_ < 0 && errno == ENOENT &&
        (gate_path.empty() || stat(gate_path.c_str(), &gate) == 0))  // not if the gate was removed meanwhile
      fd_ = ::open(path.c_str(), flags | O_CREAT | O_EXCL, 0600);
    if (fd_ >= 0 && !(prepare(gate) && lock())) close();
  }
  history_file(const history_file&) = delete;
  history_file& operator=(const history_file&) = delete;
  ~history_file() { close(); }

  explicit operator bool() const { return fd_ >= 0; }

  history_record read(std::uint64_t index) const { return read_record(fd_, index); }
  void write(std::uint64_t index, const history_record& record) const {
    if (pwrite(fd_, &record, sizeof record, offset_of(index)) < 0) return;
  }

 private:
  static constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  bool prepare(const struct stat& gate) const {
    struct stat there {};
    if (fstat(fd_, &there) != 0 || !S_ISREG(there.st_mode) || there.st_nlink != 1) return false;
    if (gate.st_ino != 0) share_like(gate, there);  // it was created just now
    if (there.st_size != 0) return is_history(fd_);
    return pwrite(fd_, &magic_number, sizeof magic_number, 0) ==
           sizeof magic_number;  // the creator may have been killed
  }
  /// For the users that the gate is for. If the gate's group cannot be given to the file, by a user who is not in it,
  /// its members are like all others.
  void share_like(const struct stat& gate, const struct stat& there) const {
    const mode_t mode = gate.st_mode & 0777;
    const bool same_group = there.st_gid == gate.st_gid || fchown(fd_, static_cast<uid_t>(-1), gate.st_gid) == 0;
    // A mode that cannot be set is the creator's own: then it alone records.
    if (fchmod(fd_, same_group ? mode : (mode & 0707) | (mode & 07) << 3) != 0) return;
  }
  /// A stopped process may have the lock: a record is not worth waiting for long.
  bool lock() const {
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    for (int tries = 0; tries < 100; ++tries) {
      if (fcntl(fd_, F_OFD_SETLK, &whole) == 0) return true;
      sched_yield();
    }
    return false;
  }

  int fd_ = -1;
};

void record(const history_file& file, const history_record& what) {
  if (!file) return;
  const std::uint64_t hour = this_hour();
  history_record now = file.read(hour % hours_kept);
  if (now.hour != hour) {
    if (now.hour != 0) {
      history_record past = file.read(index_of_past);
      past.add(now);
      file.write(index_of_past, past);
    }
    now = {};
    now.hour = hour;
  }
  now.add(what);
  file.write(hour % hours_kept, now);
}

void record(const std::string& gate_path, const history_record& what) {
  record(history_file(path_of_history(gate_path.substr(0, gate_path.rfind('/')), name_in(gate_path)), gate_path), what);
}

void add_wait(history_record& what, std::uint64_t ns) {
  what.passages = sum(what.passages, std::uint32_t{1});
  what.waited.add(ns);
}

unrecorded_waits unrecorded_of(held_slot& one) {
  return unrecorded_waits(one.gate.cells().map().lines[one.member.number].unrecorded);
}

/// Records a passage, and with it those that left it to others.
void record_with_others(held_slot& one, history_record what) {
  unrecorded_waits others = unrecorded_of(one);
  for (const std::uint64_t us : others.take()) add_wait(what, us * 1000);
  add_wait(what, one.waited_ns);
  record(one.path, what);
  others.forget();
}

/// Adds what members of the gate have not recorded yet. False if that changed meanwhile.
bool add_unrecorded(const segment& gate, history_record& out) {
  const std::size_t members = std::min<std::size_t>(gate.map().members_used.load(), members_max);
  std::vector<std::uint64_t> waits;
  for (std::size_t i = 0; i < members; ++i)
    if (!unrecorded_waits(gate.map().lines[i].unrecorded).read(waits)) return false;
  for (const std::uint64_t us : waits) add_wait(out, us * 1000);
  return true;
}

history read_file(const std::string& path) {
  history out;
  const int fd = open_to_read(path);
  if (fd < 0) return out;
  const bool ours = is_history(fd);
  const std::uint64_t hour = this_hour();
  for (std::uint64_t i = 0; ours && i <= index_of_past; ++i) {
    const history_record one = read_record(fd, i);
    out.ever.add(one);
    if (i != index_of_past && one.hour != 0 && one.hour + hours_kept > hour) out.week.add(one);
  }
  ::close(fd);
  return out;
}

}  // namespace

void duration_record::add(std::uint64_t ns) {
  const std::uint64_t us = ns / 1000;
  const std::size_t group = us < 2 ? 0 : static_cast<std::size_t>(std::bit_width(us) - 1);
  std::uint32_t& count = counts[std::min(group, time_classes - 1)];
  count = sum(count, std::uint32_t{1});
  total_us = sum(total_us, us);
  longest_us = std::max(longest_us, us);
}

void duration_record::add(const duration_record& other) {
  for (std::size_t i = 0; i < time_classes; ++i) counts[i] = sum(counts[i], other.counts[i]);
  total_us = sum(total_us, other.total_us);
  longest_us = std::max(longest_us, other.longest_us);
}

std::uint64_t duration_record::count() const {
  std::uint64_t sum = 0;
  for (const std::uint32_t n : counts) sum += n;
  return sum;
}

bool duration_record::consistent() const {
  std::size_t last = time_classes;
  while (last > 0 && counts[last - 1] == 0) --last;
  if (last == 0) return total_us == 0 && longest_us == 0;
  const std::uint64_t least = last == 1 ? 0 : std::uint64_t{1} << (last - 1);
  const bool longest_fits = longest_us >= least && (last == time_classes || longest_us < std::uint64_t{1} << last);
  return longest_fits && longest_us < time_us_max && total_us >= longest_us && total_us / count() <= longest_us;
}

double duration_record::percentile(double share) const {
  const double wanted = share * static_cast<double>(count());
  double seen = 0;
  for (std::size_t i = 0; i < time_classes; ++i) {
    if (counts[i] == 0) continue;
    seen += counts[i];
    if (seen < wanted) continue;
    const double within = 1 - (seen - wanted) / counts[i];
    const double us = i == 0 ? 2 * within : std::ldexp(std::exp2(within), static_cast<int>(i));
    return std::min(us, static_cast<double>(longest_us)) * 1e-6;
  }
  return 0;
}

void history_record::add(const history_record& other) {
  passages = sum(passages, other.passages);
  refusals = sum(refusals, other.refusals);
  waited.add(other.waited);
  held.add(other.held);
}

bool history_record::consistent() const {
  return waited.consistent() && held.consistent() && waited.count() == passages && held.count() <= passages;
}

void record_passages(std::vector<held_slot>& slots) {
  for (held_slot& one : slots) {
    history_record what{};
    what.held.add(one.left_ns - one.entered_ns);
    record_with_others(one, what);
  }
}

void record_waits(std::vector<held_slot>& slots) {
  for (held_slot& one : slots)
    if (!unrecorded_of(one).add(one.waited_ns / 1000)) record_with_others(one, {});
}

void record_refusals(const request& options) {
  history_record what{};
  what.refusals = 1;
  for (const gate_request& wanted : options.gates) record(path_of(directory_of(options), wanted.name), what);
}

void record_in(const std::string& path, const history_record& what) { record(history_file(path, ""), what); }

history_record passage_record(std::uint64_t waited_ns, std::uint64_t held_ns) {
  history_record what{};
  add_wait(what, waited_ns);
  what.held.add(held_ns);
  return what;
}

history read_history_file(const std::string& path) { return read_file(path); }

history read_history(const std::string& directory, const std::string& gate) {
  const std::string path = path_of_history(directory, gate);
  location where;
  where.directory = directory;
  segment file;
  if (file.open_read_only(gate, where)) return read_file(path);
  // Waits move from the gate's file to the history: if some did meanwhile it is read again, but not for ever.
  constexpr int tries_max = 100;
  for (int tries = 0;; ++tries) {
    history_record before{}, after{};
    const bool whole = add_unrecorded(file, before);
    history out = read_file(path);
    if ((!whole || !add_unrecorded(file, after) || before.passages != after.passages) && tries < tries_max) {
      sched_yield();
      continue;
    }
    out.ever.add(before);
    out.week.add(before);
    return out;
  }
}

void remove_history(const std::string& directory, const std::string& gate) {
  unlink(path_of_history(directory, gate).c_str());
}

int sweep_histories(const std::string& directory) {
  constexpr std::string_view suffix = ".history";
  DIR* const listing = opendir(directory.c_str());
  if (listing == nullptr) return 0;
  std::vector<std::string> found;
  while (const dirent* entry = readdir(listing)) {
    const std::string_view file = entry->d_name;
    if (file.size() <= suffix.size() + 1 || file.front() != '.' || file.substr(file.size() - suffix.size()) != suffix)
      continue;
    const std::string name(file.substr(1, file.size() - suffix.size() - 1));
    struct stat there {};
    if (!valid_name(name) || lstat((directory + "/" + std::string(file)).c_str(), &there) != 0 ||
        !S_ISREG(there.st_mode) || there.st_uid != geteuid())
      continue;
    const bool gone = lstat(path_of(directory, name).c_str(), &there) != 0 && errno == ENOENT;
    if (gone && is_history(path_of_history(directory, name))) found.push_back(name);
  }
  closedir(listing);
  for (const std::string& name : found) remove_history(directory, name);
  return static_cast<int>(found.size());
}

}  // namespace kgate::tool
