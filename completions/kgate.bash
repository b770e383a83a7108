# SPDX-License-Identifier: Apache-2.0
# bash completion for kgate; generated from its option table
_kgate() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words= i
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "run hold release jobserver create status list top stats wait cancel pause resume drain resize remove doctor help --help --version" -- "$current"))
    return
  fi
  if [ "${COMP_WORDS[1]}" = run ] || [ "${COMP_WORDS[1]}" = jobserver ]; then
    for ((i = 2; i < COMP_CWORD; i++)); do
      if [ "${COMP_WORDS[i]}" = -- ]; then
        COMPREPLY=($(compgen -c -f -- "$current"))
        return
      fi
    done
  fi
  case $previous in
    -n|--name) COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" list 2>/dev/null | tail -n +2 | cut -d' ' -f1)" -- "$current")); return ;;
    -d|--dir) COMPREPLY=($(compgen -d -- "$current")); return ;;
    --group) COMPREPLY=($(compgen -g -- "$current")); return ;;
    --style) COMPREPLY=($(compgen -W "pipe fifo" -- "$current")); return ;;
    --sort) COMPREPLY=($(compgen -W "slot time user command" -- "$current")); return ;;
  esac
  case ${COMP_WORDS[1]} in
    run) words="--name --slots --weight --timeout --try --timeout-code --time-limit --grace --exec --existing --show-arguments --dir --mode --group --overtake --quiet --help" ;;
    hold) words="--name --slots --weight --timeout --try --timeout-code --fd --path --existing --dir --mode --group --overtake --quiet --help" ;;
    release) words="--fd --help" ;;
    jobserver) words="--name --slots --style --timeout --try --timeout-code --existing --show-arguments --dir --quiet --help" ;;
    create) words="--name --slots --dir --mode --group --overtake --json --help" ;;
    status) words="--name --dir --json --help" ;;
    list) words="--dir --json --help" ;;
    top) words="--name --dir --once --sort --help" ;;
    stats) words="--name --dir --json --prometheus --help" ;;
    wait) words="--name --pid --timeout --dir --help" ;;
    cancel) words="--name --pid --all --dir --json --help" ;;
    pause) words="--name --dir --json --help" ;;
    resume) words="--name --dir --json --help" ;;
    drain) words="--name --timeout --dir --help" ;;
    resize) words="--name --slots --dir --json --help" ;;
    remove) words="--name --dir --force --json --help" ;;
    doctor) words="--name --dir --json --help" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _kgate kgate
