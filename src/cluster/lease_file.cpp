// SPDX-License-Identifier: Apache-2.0
#include "cluster/lease_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cluster/session.hpp"
#include "gate/location.hpp"
#include "kgate/detail/waiting/futex.hpp"

namespace kgate::detail::cluster {

namespace {

constexpr std::uint64_t mark_of_leases = 0x0001'6573'6165'6c6bU;  // "klease", version 1

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

}  // namespace

bool lease_words::is_valid() const { return boot_time().count() < valid_until_ns.load(); }

lease_location location_of(const address& where, std::string_view name, const std::string& directory, bool create) {
  gates::location there;
  there.directory = directory;
  if (const gate_failure failure = gates::check_directory(there, create)) throw gate_error(failure);
  char digits[16];
  std::snprintf(digits, sizeof digits, ".%08x", hash_of(where.hosts + where.root + "/" + std::string(name)));
  constexpr std::size_t name_max = 64 - 9;
  return {gates::directory_of(there), std::string(name.substr(0, name_max)) + digits};
}

lease_file::lease_file(const lease_location& location, bool create) {
  const std::string path = location.directory + "/." + location.gate + ".lease";
  fd_ = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);
  if (fd_ < 0 && errno == ENOENT)
    throw gate_error({gate_errc::not_found, "no lease of that gate is on this host (" + path +
                                                "); `kgate lease` with the same address and name makes one"});
  if (fd_ < 0) fail("open", path);
  struct stat there {};
  const bool known = fstat(fd_, &there) == 0;
  const auto size = static_cast<off_t>(sizeof(lease_words));
  if (!known || !S_ISREG(there.st_mode) || there.st_uid != geteuid() ||
      (there.st_size != size && !(create && there.st_size == 0 && ftruncate(fd_, size) == 0))) {
    close(fd_);
    throw gate_error({gate_errc::not_a_gate, path + " is not a lease of this user; remove it"});
  }
  void* const map = mmap(nullptr, sizeof(lease_words), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (map == MAP_FAILED) {
    close(fd_);
    fail("map", path);
  }
  words_ = static_cast<lease_words*>(map);
  std::uint64_t mark = 0;
  if (create) words_->mark.compare_exchange_strong(mark, mark_of_leases);
  if (words_->mark.load() == mark_of_leases) return;
  munmap(map, sizeof(lease_words));
  close(fd_);
  throw gate_error({gate_errc::not_a_gate, path + " is no lease of this version of kgate; remove it"});
}

lease_file::~lease_file() {
  munmap(words_, sizeof(lease_words));
  close(fd_);
}

bool lease_file::become_lessor() {
  struct flock range = lessor_byte(F_WRLCK);
  return fcntl(fd_, F_OFD_SETLK, &range) == 0;
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
