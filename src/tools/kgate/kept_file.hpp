// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The file by which descriptors of scripts keep slots between machines (`kgate hold --on`). Byte n is locked through
/// the descriptor of a script, byte `keepers_max` + n by the process that keeps its slot, which waits for the first of
/// these locks to go. What became of the slot is written at n. All locks are those of openings, so that the kernel
/// takes them away.

#include <sys/types.h>

#include <string>
#include <string_view>

namespace kgate::tool {

inline constexpr off_t keepers_max = 4096;
inline constexpr std::string_view kept_file_suffix = ".hold";

enum class kept_state : char { held = 'h', released = 'r', lost = 'l' };

/// The byte that is locked through a descriptor, as the kernel lists it; -1 if there is none.
long locked_byte(int fd);
/// The same from what fdinfo of /proc says of a descriptor.
long locked_byte_of(const std::string& info);

/// F_RDLCK, F_WRLCK or F_UNLCK for a byte. False if another opening has it, or cannot be waited for.
bool lock_byte(int fd, short type, off_t byte, bool waits = false);
/// Whether another opening has locked the byte.
bool is_locked(int fd, off_t byte);

/// Whether the descriptor is open on such a file.
bool is_kept_file(int fd);
/// Gives back what the descriptor keeps: an exit code.
int release_kept(int fd);

}  // namespace kgate::tool
