# SPDX-License-Identifier: Apache-2.0
# bash completion for kgate; generated from its option table
_kgate() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words= i
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "run status list top resize remove doctor --help" -- "$current"))
    return
  fi
  if [ "${COMP_WORDS[1]}" = run ]; then
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
    --sort) COMPREPLY=($(compgen -W "slot time user command" -- "$current")); return ;;
  esac
  case ${COMP_WORDS[1]} in
    run) words="--name --slots --weight --timeout --try --dir --mode --group --overtake --quiet --help" ;;
    status) words="--name --dir --json --help" ;;
    list) words="--dir --json --help" ;;
    top) words="--name --dir --once --sort --help" ;;
    resize) words="--name --slots --dir --json --help" ;;
    remove) words="--name --dir --force --json --help" ;;
    doctor) words="--name --dir --json --help" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _kgate kgate
