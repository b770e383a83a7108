# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the launchers at the root share: install what is missing, build what is stale, say little.
#
# The caller has set `root`, the top of the tree. Nothing here writes to stdout, which belongs to the tool, or leaves the
# caller's directory.
: "${root:?}"

launch_fail() {
  printf 'kgate: %s\n' "$1" >&2
  exit 1
}

# launch_packages SECTION...: the packages that packages.txt lists in these sections.
launch_packages() {
  local line section='' wanted=" $* "
  while IFS= read -r line || [[ -n $line ]]; do
    line=${line%%#*}
    line=${line//[[:space:]]/}
    if [[ $line == \[*\] ]]; then
      section=${line:1:-1}
    elif [[ -n $line && $wanted == *" $section "* ]]; then
      printf '%s\n' "$line"
    fi
  done <"$root/packages.txt"
}

# launch_install LOG SECTION...: installs the missing packages of these sections, or names them and gives up.
launch_install() {
  local log=$1 package
  local -a wanted missing=() become=()
  shift
  # Elsewhere than on Debian the names differ: let the build say what it lacks.
  command -v dpkg-query >/dev/null || return 0
  mapfile -t wanted < <(launch_packages "$@")
  local installed
  # Ends with an error as soon as one package is unknown, but lists the others all the same.
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)
  for package in "${wanted[@]}"; do
    [[ $'\n'$installed$'\n' == *$'\n'"$package installed"$'\n'* ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  if ((EUID != 0)); then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      become=(sudo -n)
    else
      launch_fail "these packages are needed; please run: sudo apt-get install ${missing[*]}"
    fi
  fi
  printf 'kgate: installing %s\n' "${missing[*]}" >&2
  {
    # Package lists may be absent (a fresh container) or too old to be of use: fetch them, then install.
    "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 update &&
      "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 install "${missing[@]}"
  } >>"$log" 2>&1 </dev/null || {
    tail -n 20 "$log" >&2
    launch_fail "could not install ${missing[*]} (log: $log)"
  }
}

# launch_run LOG COMMAND...: runs a step of the build; its output goes to the log, and to stderr if it fails. On a terminal the
# last line of output is shown while it lasts.
launch_run() {
  local log=$1 status=0 start
  shift
  start=$(($(wc -l <"$log") + 1))
  if [[ -t 2 ]]; then
    local line width=${COLUMNS:-80}
    "$@" 2>&1 </dev/null | while IFS= read -r line; do
      printf '%s\n' "$line" >>"$log"
      line="kgate: building ${launch_what/#all/everything} ${line//[[:cntrl:]]/}"
      printf '\r\033[K%s' "${line:0:width-1}" >&2
    done || status=$?
    printf '\r\033[K' >&2
  else
    "$@" >>"$log" 2>&1 </dev/null || status=$?
  fi
  if ((status)); then
    tail -n "+$start" "$log" | tail -n 60 >&2
    launch_fail "the build of ${launch_what/#all/everything} failed (log: $log)"
  fi
}

# Whether the tree has been touched since the stamp: contents change a file's time, additions and removals a folder's.
launch_stale() {
  [[ -e $1 ]] || return 0
  [[ -n $(find "$root/include" "$root/src" "$root/cmake" "$root/CMakeLists.txt" "$root/CMakePresets.json" \
    -newer "$1" -print -quit) ]]
}

# launch_build PRESET TARGET SECTION...: makes TARGET up to date, having installed the packages of the sections.
# For a tool (a target with a program in bin/) this costs one look at the tree when there is nothing to do.
launch_build() {
  local preset=$1 launch_what=$2
  shift 2
  local build=$root/build/$preset section option source
  local stamp=$build/launch/$launch_what program=$build/bin/$launch_what log=$build/launch/log
  if [[ -x $program ]] && ! launch_stale "$stamp"; then
    return 0
  fi

  mkdir -p "$build/launch" || launch_fail "cannot write to $build"
  local lock
  exec {lock}>"$build/launch/lock"
  flock "$lock"
  # Another launcher may have built it while this one waited for the lock.
  if [[ -x $program ]] && ! launch_stale "$stamp"; then
    exec {lock}>&-
    return 0
  fi
  : >"$log"
  launch_install "$log" "$@"
  # On a terminal the build shows itself; elsewhere only the long first one is worth a line.
  if [[ ! -t 2 && ! -e $stamp ]]; then
    printf 'kgate: building %s, once (log: %s)\n' "${launch_what/#all/everything}" "$log" >&2
  fi

  # Whatever changes from here on is for the next build.
  : >"$stamp.begun"
  local -a configure=()
  if [[ -e $build/CMakeCache.txt ]]; then
    source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
    # A tree that was copied or moved together with its build.
    if [[ $source != "$root" ]]; then
      configure+=(--fresh)
      rm -f "$build/build.ninja"
    fi
  fi
  # The tests build everything, so that no part of the tree rots.
  for option in KGATE_LAB:lab KGATE_TESTS:test KGATE_BENCH:test; do
    section=${option#*:} option=${option%:*}
    if [[ " $* " == *" $section "* ]]; then
      grep -qs "^$option:BOOL=ON" "$build/CMakeCache.txt" || configure+=("-D$option=ON")
    elif [[ ! -e $build/build.ninja ]]; then
      configure+=("-D$option=OFF")
    fi
  done
  # Deep tests are optimised where they are to be run.
  if [[ " $* " == *" deep "* ]]; then
    grep -qs '^KGATE_DEEP_TESTS:BOOL=ON' "$build/CMakeCache.txt" || configure+=(-DKGATE_DEEP_TESTS=ON)
  fi
  # Gates between machines are built where their library is found, and where they are asked for.
  if [[ " $* " == *" cluster "* ]]; then
    grep -qs '^KGATE_CLUSTER:BOOL=ON' "$build/CMakeCache.txt" || configure+=(-DKGATE_CLUSTER:BOOL=ON)
  fi
  # A user that wants a program gets it sooner from few, large units. What is tested are the files by themselves.
  local few=ON
  [[ ! -e $build/build.ninja ]] || grep -qs '^KGATE_FEW_UNITS:BOOL=ON' "$build/CMakeCache.txt" || few=OFF
  if [[ " $* " == *" test "* ]]; then
    [[ $few == OFF ]] || configure+=(-DKGATE_FEW_UNITS=OFF)
  elif ((${#configure[@]})); then
    configure+=("-DKGATE_FEW_UNITS=$few")
  fi
  if ((${#configure[@]})) || [[ ! -e $build/build.ninja ]]; then
    launch_run "$log" cmake -S "$root" --preset "$preset" "${configure[@]}"
  fi
  launch_run "$log" ninja -C "$build" -j "$(nproc)" "$launch_what"
  mv "$stamp.begun" "$stamp"
  exec {lock}>&-
}
