#!/usr/bin/env bash
# Stands in for systemd where none runs: units.sh systemd-run|systemctl|journalctl|sudo ARGUMENT...
# As much of them as Kubernetes' suite for nodes calls: a program is started as a unit, ended, started again, and looked for.
# UNITS names the folder of the units: of each its command, its folder, where its log goes, and its process id.
set -u
units=${UNITS:?names the folder of units}
self=$(readlink -f "$0")
fail() { echo "$called: $1" >&2; exit 1; }

runs() { [ -f "$1/pid" ] && kill -0 "$(cat "$1/pid")" 2> /dev/null; }
# A process group of its own: what kills it does not end who asked for it.
start() {
  runs "$1" && return
  local command
  mapfile -d '' command < "$1/command"
  (
    cd "$(cat "$1/folder")" || exit
    exec setsid -f bash -c 'echo $$ > "$0/pid"; exec "$@"' "$1" "${command[@]}" < /dev/null >> "$(cat "$1/log")" 2>&1
  )
  until [ -s "$1/pid" ]; do sleep 0.05; done
}
# As systemd does it: TERM, and KILL after a minute and a half.
stop() {
  local tries
  runs "$1" || return 0
  kill -TERM "$(cat "$1/pid")" 2> /dev/null
  for tries in $(seq 900); do
    runs "$1" || break
    sleep 0.1
  done
  ! runs "$1" || kill -KILL "$(cat "$1/pid")"
  rm -f "$1/pid"
}

called=$1
shift
case $called in
  sudo)
    while [ "${1#-}" != "$1" ]; do shift; done
    exec "$@" ;;
  systemd-run)
    name= log=/dev/null
    while [ $# -gt 0 ]; do
      case $1 in
        --version) echo "systemd 252 (stand-in)"; exit ;;
        --unit=*) name=${1#--unit=} ;;
        -p)
          case $2 in StandardError=*) log=${2#*:} ;; esac
          shift ;;
        --*) ;;
        *) break ;;
      esac
      shift
    done
    [ -n "$name" ] && [ $# -gt 0 ] || fail "a unit and its command are needed"
    unit=$units/${name%.service}
    mkdir -p "$unit"
    printf '%s\0' "$@" > "$unit/command"
    pwd > "$unit/folder"
    echo "$log" > "$unit/log"
    start "$unit" ;;
  systemctl)
    command= name= only=
    for word in "$@"; do
      case $word in
        --state=running) only=running ;;
        -*) ;;
        *) if [ -z "$command" ]; then command=$word; else name=${word%.service}; fi ;;
      esac
    done
    case $command in
      list-units)
        # shellcheck disable=SC2231 # a pattern is what is given
        for unit in "$units"/${name:-*}; do
          [ -d "$unit" ] || continue
          if runs "$unit"; then state=running; else state=exited; fi
          [ -n "$only" ] && [ $state != running ] || echo "${unit##*/}.service loaded active $state $(tr '\0' ' ' < "$unit/command")"
        done
        exit 0 ;;
      reset-failed | daemon-reload) exit 0 ;;
    esac
    [ -d "$units/$name" ] && [ -n "$name" ] || fail "unit $name.service not found"
    case $command in
      start) start "$units/$name" ;;
      stop) stop "$units/$name" ;;
      restart) stop "$units/$name"; start "$units/$name" ;;
      kill) ! runs "$units/$name" || kill -TERM "$(cat "$units/$name/pid")" ;;
      is-active) if runs "$units/$name"; then echo active; else echo inactive; exit 3; fi ;;
      *) fail "$command is not among what this stand-in does (${self##*/})" ;;
    esac ;;
  journalctl) ;;
  *) fail "not among what this stand-in does" ;;
esac
