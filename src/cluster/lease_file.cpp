// SPDX-License-Identifier: Apache-2.0
#include "cluster/lease_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>

#include "cluster/session.hpp"
#include "gate/byte_locks.hpp"
#include "gate/location.hpp"
#include "kgate/detail/waiting/futex.hpp"

namespace kgate::detail::cluster {

namespace {

constexpr std::uint64_t mark_of_leases = 0x0002'6573'6165'6c6bU;  // "klease", version 2

[[noreturn]] void fail(const std::string& doing, const std::string& path) {
  const gate_errc code = errno == EACCES || errno == EPERM ? gate_errc::no_permission : gate_errc::system;
  throw gate_error({code, "cannot " + doing + " " + path + ": " + std::strerror(errno)});
}

/// FNV-1a: the same on every build.
std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

struct flock lessor_byte(short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_len = 1;
  return range;
}

std::string path_of_lease(const lease_location& location) {
  return location.directory + "/." + location.gate + ".lease";
}

void check_owner(int fd, const std::string& path) {
  struct stat there {};
  if (fstat(fd, &there) == 0 && S_ISREG(there.st_mode) && there.st_uid == geteuid()) return;
  throw gate_error({gate_errc::not_a_gate, path + " is not a lease of this user; remove it"});
}

}  // namespace

bool lease_words::is_valid() const { return boot_time().count() < valid_until_ns.load(); }

lease_location location_of(const address& where, std::string_view name, const std::string& directory, bool create) {
  gates::location there;
  there.directory = directory;
  if (const gate_failure failure = gates::check_directory(there, create)) throw gate_error(failure);
  char digits[16];
  std::snprintf(digits, sizeof digits, ".%08x", hash_of(where.hosts + where.root + "/" + std::string(name)));
  constexpr std::size_t name_max = 64 - 9;
  return {gates::directory_of(there), std::string(name.substr(0, name_max)) + digits, std::string(name)};
}

lease_file::lease_file(const lease_location& location) : path_(path_of_lease(location)) {
  fd_ = open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd_ < 0 && errno == ENOENT)
    throw gate_error({gate_errc::not_found, "no lease of gate '" + location.name + "' is on this host (" + path_ +
                                                "); `kgate lease` with the same address and name makes one"});
  if (fd_ < 0) fail("open", path_);
  try {
    check_owner(fd_, path_);
    // A lessor that has just created it gives it its size and its mark.
    for (int tries = 0; (words_ == nullptr && !map()) || words_->mark.load() == 0; ++tries) {
      if (tries == 1000 || (words_ == nullptr && lseek(fd_, 0, SEEK_END) > 0)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (words_ != nullptr && words_->mark.load() == mark_of_leases) return;
    throw gate_error({gate_errc::not_a_gate, path_ + " is no lease of this version of kgate; remove it"});
  } catch (...) {
    close_all();
    throw;
  }
}

std::unique_ptr<lease_file> lease_file::of_lessor(const lease_location& location) {
  for (;;) {
    std::unique_ptr<lease_file> out(new lease_file);
    out->path_ = path_of_lease(location);
    out->fd_ = open(out->path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_CREAT, 0600);
    if (out->fd_ < 0) fail("open", out->path_);
    check_owner(out->fd_, out->path_);
    if (!out->lock(F_WRLCK))
      throw gate_error({gate_errc::in_use, "this host has a lease of gate '" + location.name + "' already"});
    if (!out->is_in_place()) continue;  // the lessor before has taken it away
    const bool is_new = lseek(out->fd_, 0, SEEK_END) == 0;
    if (is_new && ftruncate(out->fd_, sizeof(lease_words)) != 0) fail("write", out->path_);
    if (out->map()) {
      if (is_new) out->words_->mark.store(mark_of_leases);
      if (out->words_->mark.load() == mark_of_leases) return out;
    }
    out->remove();  // what another version of kgate left
  }
}

/// False if it has another size.
bool lease_file::map() {
  struct stat there {};
  if (fstat(fd_, &there) != 0 || there.st_size != static_cast<off_t>(sizeof(lease_words))) return false;
  void* const map = mmap(nullptr, sizeof(lease_words), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (map == MAP_FAILED) fail("map", path_);
  words_ = static_cast<lease_words*>(map);
  return true;
}

void lease_file::close_all() noexcept {
  if (words_ != nullptr) munmap(words_, sizeof(lease_words));
  if (fd_ >= 0) close(fd_);
}

lease_file::~lease_file() { close_all(); }

bool lease_file::lock(short type) {
  struct flock range = lessor_byte(type);
  return fcntl(fd_, F_OFD_SETLK, &range) == 0;
}

bool lease_file::is_in_place() const { return gates::file_id::of(path_) == gates::file_id::of(fd_); }

void lease_file::remove() noexcept {
  if (lock(F_WRLCK) && is_in_place()) unlink(path_.c_str());
}

bool lease_file::has_lessor() const {
  struct flock range = lessor_byte(F_RDLCK);
  return fcntl(fd_, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

void lease_file::ring() {
  words_->bell.fetch_add(1);
  if (words_->listening.load() != 0) futex_wake(words_->bell, 1, futex_scope::machine);
}

void lease_file::await_ring(std::uint32_t seen) {
  words_->listening.store(1);  // before the bell is looked at: one that rings after that sees it
  while (words_->bell.load() == seen) futex_wait(words_->bell, seen, nullptr, futex_scope::machine);
  words_->listening.store(0);
}

}  // namespace kgate::detail::cluster
