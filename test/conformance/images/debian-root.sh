#!/usr/bin/env bash
# Makes a Debian userland for the images of the end-to-end suite, once, and prints the path of its tar: debian-root.sh
# It lives outside the checkout, by what is in it, in ${ACTORLET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/actorlet}/images.
# Takes a minute or two, root, debootstrap and the machine's own Debian mirror (ACTORLET_DEBIAN_MIRROR names another).
set -euo pipefail
suite=bookworm
packages=bash,curl,dnsutils,iproute2,iptables,iputils-ping,netcat-openbsd,nginx-light,procps
version=$(printf '%s %s 1' "$suite" "$packages" | sha256sum | cut -c1-12)
folder=${ACTORLET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/actorlet}/images
tar=$folder/debian-$suite-$version.tar
if [ ! -f "$tar" ]; then
  [ "$(id -u)" = 0 ] || { echo "debian-root.sh: not root; run it as root (sudo), debootstrap unpacks packages" >&2; exit 1; }
  PATH=$PATH:/usr/sbin:/sbin
  command -v debootstrap >/dev/null || { echo "debian-root.sh: debootstrap is missing; apt-get install debootstrap" >&2; exit 1; }
  # of the machine's own sources the first that is Debian's (deb822 files, then one-line ones)
  mirror=${ACTORLET_DEBIAN_MIRROR:-$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
    awk '$1 == "URIs:" || $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^https?:.*\/debian\/?$/) { print $i; exit } }' || true)}
  mkdir -p "$folder"
  # one at a time, whoever asks: the others find the finished tar when the lock is free
  exec 9> "$folder/lock"
  flock 9
  if [ ! -f "$tar" ]; then
    work=$(mktemp -d "$folder/root.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
    debootstrap --variant=minbase --include="$packages" "$suite" "$work/root" "${mirror:-http://deb.debian.org/debian}" > "$work/log" 2>&1 ||
      { tail -n 5 "$work/log" >&2; echo "debian-root.sh: debootstrap failed; see above, and ACTORLET_DEBIAN_MIRROR" >&2; exit 1; }
    for unused in var/cache/apt var/lib/apt/lists usr/share/doc usr/share/locale usr/share/man dev; do
      rm -rf "$work/root/$unused"
    done
    mkdir "$work/root/dev"
    tar -C "$work/root" --sort=name --mtime=@0 --numeric-owner -cf "$tar.new" .
    mv "$tar.new" "$tar"
  fi
fi
echo "$tar"
