#!/usr/bin/env bash
# Watches the log of a layer until it is ended itself; says what it had to end: end-silence.sh LOG SECONDS MARK
# Node's runner waits for ever for a test file whose process does not end (--test-timeout ends a test, not a file: a handle left
# open, a loop without end, a child that holds its output). When the log has not grown for that long, what still runs is
# told, with what it holds open, and all but the runner is ended: the file fails, the next one begins. A runner that says
# nothing for another minute is ended as well.
# MARK: a variable of the environment (NAME=VALUE) that all has which the layer started, so that orphans are found too.
set -u
log=$1 limit=$2 mark=$3

started() {
  local dir
  for dir in /proc/[0-9]*; do
    tr '\0' '\n' 2>/dev/null < "$dir/environ" | grep -qxF -- "$mark" && echo "${dir#/proc/}"
  done
}
command_of() { tr '\0' ' ' 2>/dev/null < "/proc/$1/cmdline" | cut -c1-300; }
# The runner, and what it stands in.
is_runner() { case "$(command_of "$1")" in *" --test "* | *own-machine.sh*) return 0 ;; *) return 1 ;; esac; }
tell() {
  local fd
  echo "$1: $(command_of "$1")"
  for fd in "/proc/$1"/fd/*; do echo "    ${fd##*/} -> $(readlink "$fd")"; done 2>/dev/null |
    grep -vE 'anon_inode|/dev/null' | head -n 30
}

while kill -0 "$PPID" 2>/dev/null; do
  sleep 2
  [ $(($(date +%s) - $(stat -c %Y "$log"))) -ge "$limit" ] || continue
  hung=()
  for pid in $(started); do is_runner "$pid" || hung+=("$pid"); done
  echo "----- ${log##*/}: nothing was said for $limit s: what still runs is ended -----"
  for pid in ${hung[@]+"${hung[@]}"}; do tell "$pid"; done
  echo "----- the last lines before: -----"
  tail -n 5 "$log"
  said=$(stat -c %s "$log")
  for pid in ${hung[@]+"${hung[@]}"}; do kill -KILL "$pid" 2>/dev/null; done
  for _ in $(seq 30); do
    sleep 2
    [ "$(stat -c %s "$log")" = "$said" ] || continue 2
  done
  for pid in $(started); do kill -KILL "$pid" 2>/dev/null; done
done
