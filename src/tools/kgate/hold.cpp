// SPDX-License-Identifier: Apache-2.0
// kgate hold, kgate release: a slot that a descriptor of a script keeps.
//
// The script opens the gate's .run file, and this process, which inherits the descriptor, takes a lock of that opening
// (an open-file-description lock) through it, on the same byte that the command of `kgate run` locks: its member's. The
// lock stays until the last descriptor of that opening is closed, whatever becomes of this process.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tools/kgate/kept_file.hpp"
#include "tools/kgate/waiting.hpp"

namespace kgate::tool {

using namespace detail::gates;

namespace {

std::string run_file_of(core& gate) { return lock_stem_of(gate.file().path(), gate.cells().map().header.id) + ".run"; }

std::string hint(const request& options) {
  const std::string n = std::to_string(options.fd);
  return "exec " + n + "<\"$(kgate hold" + gate_arguments(options, options.name()) + " --path)\"";
}

/// The parent of a process that is a part of the same script, as a shell in brackets is; 0 if it is none.
int parent_within_script(int process) {
  const auto about = [](int which, const char* what) {
    return file_text("/proc/" + std::to_string(which) + "/" + what);
  };
  const std::string status = about(process, "status");
  constexpr std::string_view key = "\nPPid:";
  const std::size_t at = status.find(key);
  if (at == std::string::npos) return 0;
  const int parent = std::atoi(status.c_str() + at + key.size());
  return parent > 1 && about(parent, "cmdline") == about(process, "cmdline") ? parent : 0;
}

/// Whether the script is itself what runs at this gate. Then it must not open the gate's file: when it closes it, the
/// kernel takes the lock away by which the script keeps its own slot.
bool runs_here(core& gate) {
  for (int script = getppid(); script > 0; script = parent_within_script(script))
    for (unsigned i = 0, n = gate.cells().members(); i < n; ++i)
      if (gate.cells().locks().command_process(i) == script) return true;
  return false;
}

/// Whether the descriptor is an opening of the gate's file that keeps nothing yet; says so if not.
bool usable(const request& options, core& gate) {
  const std::string number = std::to_string(options.fd);
  if (fcntl(options.fd, F_GETFD) < 0) {
    complain("descriptor " + number + " is not open; open it first: " + hint(options));
    return false;
  }
  if (file_id::of(options.fd) != file_id::of(run_file_of(gate))) {
    complain("descriptor " + number + " is open on something else; open it on the gate's file: " + hint(options));
    return false;
  }
  if ((fcntl(options.fd, F_GETFL) & O_ACCMODE) == O_WRONLY) {
    complain("descriptor " + number + " is open for writing only; open it for reading: " + hint(options));
    return false;
  }
  if (locked_byte(options.fd) >= 0) {
    complain("descriptor " + number + " keeps a slot already; give it back first: kgate release --fd " + number);
    return false;
  }
  return true;
}

/// The gate whose .run file a descriptor is open on: its directory and name; false if it is no such file.
bool gate_of(int fd, std::string& directory, std::string& name) {
  char target[4096];
  const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), target, sizeof target - 1);
  if (length <= 0) return false;
  std::string_view path(target, static_cast<std::size_t>(length));
  constexpr std::string_view deleted = " (deleted)";
  if (path.size() > deleted.size() && path.substr(path.size() - deleted.size()) == deleted)
    path.remove_suffix(deleted.size());
  const std::size_t slash = path.rfind('/');
  constexpr std::size_t ending = sizeof ".0123456789abcdef.run" - 1;
  if (slash == std::string_view::npos || path.size() < slash + 3 + ending || path[slash + 1] != '.' ||
      path.substr(path.size() - 4) != ".run")
    return false;
  directory = path.substr(0, slash);
  name = path.substr(slash + 2, path.size() - slash - 2 - ending);
  return true;
}

}  // namespace

int hold(const request& options) {
  {
    core gate;
    if (const int code = open_gate(options, options.gates.front(), gate)) return code;
    if (runs_here(gate)) {
      complain(
          "this script runs at gate '" + options.name() +
          "' itself, and would lose its slot by opening the gate's file; let a script that it starts hold the other");
      return exit_error;
    }
    if (options.path) {
      print(run_file_of(gate) + "\n");
      return exit_ok;
    }
    if (!usable(options, gate)) return exit_error;
  }
  std::vector<held_slot> slots;
  if (const std::optional<int> code = acquire_slots(options, slots)) return *code;
  held_slot& mine = slots.front();
  mine.gate.set_command(mine.member, getppid());
  mine.gate.set_leaves_by_ending(mine.member);
  if (!lock_command_byte(options.fd, F_RDLCK, mine.member.number)) {
    complain("cannot lock descriptor " + std::to_string(options.fd) + ": " + std::strerror(errno));
    mine.leave();
    return exit_error;
  }
  print(mine.slot_list() + "\n");
  if (flush_output()) return exit_ok;
  lock_command_byte(options.fd, F_UNLCK, mine.member.number);  // the script does not know what it would hold
  mine.leave();
  return exit_error;
}

int release(const request& options) {
  const std::string number = std::to_string(options.fd);
  if (is_kept_file(options.fd)) return release_kept(options.fd);
  request where = options;
  std::string name;
  if (!gate_of(options.fd, where.dir, name)) {
    complain("descriptor " + number + " is not open on the file of a gate");
    return exit_failed;
  }
  const long member = locked_byte(options.fd);
  if (member < 0 || member >= static_cast<long>(members_max)) {
    complain("descriptor " + number + " keeps no slot");
    return exit_failed;
  }
  core gate;
  location at;
  at.directory = where.dir;
  membership mine;
  // A gate that was removed by force has nothing to give back to.
  if (!gate.open(name, 0, at) && file_id::of(options.fd) == file_id::of(run_file_of(gate))) {
    participant who;
    who.member = static_cast<unsigned>(member);
    who.state_bits = gate.cells().state_of(who.member).bits;
    if (state{who.state_bits}.where() == kind::in) {
      if (const gate_failure failure = gate.join("kgate release", mine)) {
        complain(failure.text);
        return exit_failed;
      }
      gate.dismiss(mine, who);
    }
  }
  lock_command_byte(options.fd, F_UNLCK, static_cast<unsigned>(member));
  return exit_ok;
}

}  // namespace kgate::tool
