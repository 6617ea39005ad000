#!/bin/sh
# A FlexVolume driver of tests: its volumes are folders beside it, named by option `folder`. Each call is a line of `calls`; `answers/CALL`
# is printed in place of an answer when it is there (with `exit.CALL` for the exit code), and `hang.CALL` lets a call hang.
dir=$(dirname "$0")
call=$1
printf '%s\n' "$*" >> "$dir/calls"
if [ -e "$dir/hang.$call" ]; then exec sleep 100000; fi
if [ -e "$dir/answers/$call" ]; then
  cat "$dir/answers/$call"
  exit "$(cat "$dir/exit.$call" 2>/dev/null || echo 0)"
fi
success='{"status": "Success"}'
case $call in
  init) echo '{"status": "Success", "capabilities": {"attach": false, "supportsMetrics": true}}' ;;
  mount)
    folder=$(printf '%s' "$3" | sed -n 's/.*"folder":"\([^"]*\)".*/\1/p')
    mkdir -p "$dir/volumes/$folder"
    if mount --bind "$dir/volumes/$folder" "$2" >&2; then echo "$success"; else echo '{"status": "Failure", "message": "no mount"}'; exit 1; fi ;;
  unmount)
    if umount "$2" >&2; then echo "$success"; else echo '{"status": "Failure", "message": "no umount"}'; exit 1; fi ;;
  *)
    echo '{"status": "Not supported"}'
    exit 1 ;;
esac
