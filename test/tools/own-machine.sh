#!/usr/bin/env bash
# Runs a command with real containers as if on a machine of its own: own-machine.sh COMMAND [ARGUMENT...]
# Own mounts, network (loopback, and one interface with a default route), process ids and cgroups, so that several can run
# side by side, and each can look at "the whole machine" for what is left behind. What it leaves ends with it.
# Exit code: the command's; 125 when such a machine cannot be made (see --check).
#   own-machine.sh --check   makes one and does nothing in it
set -u
fail() { echo "own-machine: $1" >&2; exit 125; }
# Ends with the exit code of a child, however many signals are trapped meanwhile: each ends `wait` early, not the child.
exit_with() {
  local status
  wait "$1"
  status=$?
  while kill -0 "$1" 2>/dev/null; do
    wait "$1"
    status=$?
  done
  exit "$status"
}

# The hierarchies of cgroups that are mounted: "v1 DIR OPTIONS" or "v2 DIR", a line each.
hierarchies() {
  awk '{ for (i = 7; i <= NF; i++) if ($i == "-") break; type = $(i + 1); split($(i + 3), o, "rw,") }
       type == "cgroup" { print "v1", $5, o[2] }
       type == "cgroup2" { print "v2", $5 }' /proc/self/mountinfo
}

if [ "${1:-}" != --inside ]; then
  [ $# -gt 0 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2; }
  [ "$1" != --check ] || set -- true
  [ "$(id -u)" = 0 ] || fail "not root"
  name=actorlet-test-$$
  mine=()
  while read -r version dir _; do
    mkdir "$dir/$name" 2>/dev/null || fail "no cgroup can be made in $dir"
    mine+=("$dir/$name")
    # a cpuset of version 1 takes nobody in before it has processors and memory
    for file in cpuset.cpus cpuset.mems; do
      [ "$version" = v1 ] && [ -e "$dir/$name/$file" ] && cat "$dir/$file" > "$dir/$name/$file"
    done
  done < <(hierarchies)
  remove() {
    local dir tries
    for dir in "${mine[@]}"; do
      # processes of the machine are dying; deepest first
      for tries in $(seq 50); do
        find "$dir" -depth -type d -exec rmdir {} + 2>/dev/null
        [ -d "$dir" ] || break
        sleep 0.1
      done
    done
  }
  trap remove EXIT
  # The command hears of signals itself (its process group); this shell stays to tidy up.
  trap : INT TERM HUP
  (
    for dir in "${mine[@]}"; do echo "$BASHPID" > "$dir/cgroup.procs" || fail "no process can be put into $dir"; done
    exec unshare --mount --net --pid --cgroup --fork --kill-child --propagation private \
      "$BASH" "$0" --inside "$@"
  ) &
  exit_with $!
fi

shift
cgroups=$(hierarchies)
mount -t proc proc /proc || fail "no /proc of its own"
mount -t sysfs sysfs /sys || fail "no /sys of its own"
case "$cgroups" in
  *v1*) mount -t tmpfs tmpfs /sys/fs/cgroup || fail "no cgroups of its own" ;;
esac
while read -r version dir options; do
  case "$version" in
    v1) mkdir -p "$dir" && mount -t cgroup -o "$options" cgroup "$dir" ;;
    v2)
      mkdir -p "$dir" && mount -t cgroup2 cgroup2 "$dir" || fail "no cgroups at $dir"
      # only a cgroup without processes hands controllers down (the root of such a machine is no exception)
      mkdir -p "$dir/init" && echo $$ > "$dir/init/cgroup.procs" ;;
  esac || fail "no cgroups at $dir"
done <<< "$cgroups"
for dir in /run/netns /run/containerd /run/cdi /var/log/pods /var/log/containers; do
  mkdir -p "$dir" && mount -t tmpfs tmpfs "$dir" || fail "no $dir of its own"
done
# pods may ask for mounts that spread
mount --make-rshared / || fail "mounts cannot be shared"
# nobody is at the other end
ip link set lo up && ip link add eth0 type veth peer name eth0-end && ip address add 192.168.231.2/24 dev eth0 &&
  ip link set eth0-end up && ip link set eth0 up && ip route add default via 192.168.231.1 ||
  fail "no network of its own"
"$@" &
trap : INT TERM HUP
exit_with $!
