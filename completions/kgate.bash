# SPDX-License-Identifier: Apache-2.0
# bash completion for kgate; generated from its option table

# Sets REPLY to the index of the first word behind the options, which may be the current one. Fails if the current word
# is the argument of an option.
_kgate_operand() {
  local i
  for ((i = 2; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --) REPLY=$((i + 1)); return 0 ;;
      --name|--slots|--weight|--timeout|--timeout-code|--time-limit|--grace|--style|--fd|--pid|--dir|--mode|--group|--overtake|--sort|--on|--on-loss) if [[ ${COMP_WORDS[i+1]} == = ]]; then ((i += 2)); else ((i += 1)); fi ;;
      --*) ;;
      -?*) [[ ${COMP_WORDS[i]} =~ ^-[qf1h]*[nkwtEpd]$ ]] && ((i += 1)) ;;
      *) REPLY=$i; return 0 ;;
    esac
  done
  REPLY=$COMP_CWORD
  ((i == COMP_CWORD))
}
# The directory that was named, as options for kgate itself.
_kgate_directory() {
  local i
  for ((i = 2; i + 1 < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --) return ;;
      -d|--dir) [[ ${COMP_WORDS[i+1]} == = ]] && ((i += 1)); printf '%s\n' --dir "${COMP_WORDS[i+1]}" ;;
    esac
  done
}
_kgate_names() {
  "${COMP_WORDS[0]}" list $(_kgate_directory) 2>/dev/null | tail -n +2 | cut -d' ' -f1
}
_kgate_processes() {
  "${COMP_WORDS[0]}" status $(_kgate_directory) --json 2>/dev/null | grep -o '"pid":[0-9]*' | cut -d: -f2
}
_kgate_command() {
  local offset=_command_offset
  declare -F _comp_command_offset >/dev/null && offset=_comp_command_offset
  if declare -F "$offset" >/dev/null; then
    "$offset" "$1"
  elif ((COMP_CWORD == $1)) && [[ $2 != */* ]]; then
    COMPREPLY=($(compgen -c -- "$2"))
  else
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$2"))
  fi
}
_kgate() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words= REPLY
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "run hold release jobserver create status list top stats wait cancel pause resume drain resize remove doctor lease help --help --version" -- "$current"))
    return
  fi
  if [[ ${COMP_WORDS[1]} == help ]]; then
    ((COMP_CWORD == 2)) && COMPREPLY=($(compgen -W "run hold release jobserver create status list top stats wait cancel pause resume drain resize remove doctor lease" -- "$current"))
    return
  fi
  if _kgate_operand; then
    case ${COMP_WORDS[1]} in
      run|jobserver)
        if ((REPLY < COMP_CWORD)) || [[ $current != -* && $current != = ]] || [[ $previous == -- ]]; then
          _kgate_command "$REPLY" "$current"
          return
        fi ;;
    esac
    [[ $current == -* ]] || ((REPLY == COMP_CWORD)) || return
  else
    # --name=x is three words here: --name, =, x
    [[ $current == = ]] && current=
    [[ $previous == = ]] && previous=${COMP_WORDS[COMP_CWORD-2]}
    [[ $previous == --* ]] || previous=-${previous: -1}
    case $previous in
      -n|--name) COMPREPLY=($(compgen -W "$(_kgate_names)" -- "$current")) ;;
      --style) COMPREPLY=($(compgen -W "pipe fifo" -- "$current")) ;;
      -p|--pid) COMPREPLY=($(compgen -W "$(_kgate_processes)" -- "$current")) ;;
      -d|--dir) COMPREPLY=($(compgen -d -- "$current")) ;;
      --group) COMPREPLY=($(compgen -g -- "$current")) ;;
      --sort) COMPREPLY=($(compgen -W "slot time user command" -- "$current")) ;;
    esac
    return
  fi
  case ${COMP_WORDS[1]} in
    run) words="--name --slots --weight --timeout --try --timeout-code --time-limit --grace --exec --existing --show-arguments --dir --mode --group --overtake --on --on-loss --lease --quiet --help" ;;
    hold) words="--name --slots --weight --timeout --try --timeout-code --fd --path --existing --dir --mode --group --overtake --on --on-loss --grace --quiet --help" ;;
    release) words="--fd --on --help" ;;
    jobserver) words="--name --slots --style --timeout --try --timeout-code --existing --show-arguments --dir --on --on-loss --grace --quiet --help" ;;
    create) words="--name --slots --dir --mode --group --overtake --on --json --help" ;;
    status) words="--name --dir --on --json --help" ;;
    list) words="--dir --on --json --help" ;;
    top) words="--name --dir --on --once --sort --help" ;;
    stats) words="--name --dir --on --json --prometheus --help" ;;
    wait) words="--name --pid --timeout --dir --on --help" ;;
    cancel) words="--name --pid --all --dir --on --json --help" ;;
    pause) words="--name --dir --on --json --help" ;;
    resume) words="--name --dir --on --json --help" ;;
    drain) words="--name --timeout --dir --on --help" ;;
    resize) words="--name --slots --dir --on --json --help" ;;
    remove) words="--name --dir --on --force --json --help" ;;
    doctor) words="--name --dir --on --json --help" ;;
    lease) words="--name --slots --existing --on --quiet --help" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _kgate kgate
