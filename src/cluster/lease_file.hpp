// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a lessor tells the jobs of its host, in a file that all of them map (algorithms/cluster_lease.hpp: entries,
/// epoch and time), beside the local gate through which it lends.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cluster/address.hpp"
#include "cluster/records.hpp"

namespace kgate::detail::cluster {

/// The epoch and the slot are in `where`: epoch * 2^16 + slot. A fence is written last and emptied first.
struct lease_entry {
  std::atomic<std::uint64_t> where;
  std::atomic<std::uint64_t> fence;
};

struct lease_words {
  std::atomic<std::uint64_t> mark;
  std::atomic<std::uint64_t> epoch;
  std::atomic<std::int64_t> valid_until_ns;  ///< on boot_time()
  std::atomic<std::uint32_t> bell;           ///< rung by a job that has to wait
  std::atomic<std::uint32_t> listening;      ///< 1: the lessor sleeps until the bell is rung
  std::atomic<std::uint32_t> closed;         ///< 1: nothing will be lent any more
  std::atomic<std::uint32_t> slots;          ///< of the gate between machines
  std::atomic<std::uint64_t> local_gate;     ///< which local gate it lends through (local_gate.hpp); 0: none yet
  lease_entry at[slots_max];

  bool is_valid() const;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Where a lease is: the directory, and the name of the local gate there.
struct lease_location {
  std::string directory;
  std::string gate;
  std::string name;  ///< of the gate between machines
};
/// The same for all on this host that name the same servers and path. Throws gate_error.
lease_location location_of(const address& where, std::string_view name, const std::string& directory, bool create);

class lease_file {
 public:
  /// Opens it for a job. Throws gate_error: not_found, not_a_gate, no_permission.
  explicit lease_file(const lease_location& location);
  /// Makes this process the lessor, for as long as the object lives: opens it, or creates it. Throws gate_error: in_use
  /// if there is a lessor; not_a_gate, no_permission.
  static std::unique_ptr<lease_file> of_lessor(const lease_location& location);
  lease_file(const lease_file&) = delete;
  lease_file& operator=(const lease_file&) = delete;
  ~lease_file();

  lease_words& words() { return *words_; }
  const lease_words& words() const { return *words_; }

  bool has_lessor() const;
  /// Whether jobs can get in: there is a lessor, and it has not begun to end.
  bool is_open() const { return has_lessor() && words_->closed.load() == 0; }
  /// Takes the file away: by its lessor, or if there is none. Jobs that have it open find that the lease is over.
  void remove() noexcept;

  /// Tells the lessor that a job has to wait.
  void ring();
  /// Waits until the bell is rung, after it was `seen`.
  void await_ring(std::uint32_t seen);

 private:
  lease_file() = default;
  bool map();
  void close_all() noexcept;
  bool lock(short type);
  bool is_in_place() const;

  std::string path_;
  int fd_ = -1;
  lease_words* words_ = nullptr;
};

}  // namespace kgate::detail::cluster
