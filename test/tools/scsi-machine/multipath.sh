#!/bin/sh
# multipath of tests: each call is a line of `calls`; `wrong/flush` holds how often a device is busy still.
here=$(dirname "$0")
echo "multipath $*" >> "$here/calls"
left=$(cat "$here/wrong/flush" 2>/dev/null || echo 0)
if [ "$left" -gt 0 ]; then
  echo $((left - 1)) > "$here/wrong/flush"
  echo "$2: map in use"
  exit 1
fi
rm -rf "$here/sys/block/$(basename "$2")" "$2"
