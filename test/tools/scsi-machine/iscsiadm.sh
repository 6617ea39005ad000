#!/bin/sh
# open-iscsi's command of tests: interfaces, records and sessions are files beside it, a session shows its LUNs below `sys` and `dev` as the kernel and udev do.
# Each call is a line of `calls`. `targets/PORTAL` names the targets behind a portal, `luns/IQN/N` the minor number of a LUN's loop device, `chap/PORTAL` the
# name and password that are asked for. Of what is in `wrong`: `login-PORTAL` (a text) fails a login, `no-disks` shows no LUN, `multipath` puts all on `dm-0`.
here=$(dirname "$0")
echo "$*" >> "$here/calls"
mode='' portal='' iqn='' iface='' op='' name='' value=''
while [ $# -gt 0 ]; do
  case "$1" in
    -m) mode=$2; shift ;;
    -p) portal=$2; shift ;;
    -T) iqn=$2; shift ;;
    -I) iface=$2; shift ;;
    -o) op=$2; shift ;;
    -n) name=$2; shift ;;
    -v) value=$2; shift ;;
    --discover | --login | --logout) op=${1#--} ;;
  esac
  shift
done
say() { echo "iscsiadm: $2" >&2; exit "$1"; }
discovery=$here/discovery/$portal
node=$here/nodes/$portal/$iqn
session=$(grep -lFx "$portal $iqn" "$here"/sessions/* 2>/dev/null | head -n 1)

# asked PORTAL RECORD SETTING: does the record say what the portal asks for?
may() {
  [ -f "$here/chap/$portal" ] || return 0
  [ "$(cat "$1/$2.authmethod" "$1/$2.username" "$1/$2.password" 2>/dev/null | tr '\n' ' ')" = "CHAP $(cat "$here/chap/$portal") " ]
}

show_lun() { # HOST LUN MINOR
  disk=sd$1n$2
  bus=$here/sys/class/iscsi_host/host$1/device/session$1/target$1:0:0/$1:0:0:$2/block
  mkdir -p "$bus/$disk" "$here/sys/block/$disk/device"
  : > "$here/sys/block/$disk/device/delete"
  mknod "$here/dev/$disk" b 7 "$3"
  address=$(echo "$portal" | tr -d '[]')
  ln -s "../../$disk" "$here/dev/disk/by-path/ip-$address-iscsi-$iqn-lun-$2"
  [ -e "$here/wrong/multipath" ] || return 0
  mkdir -p "$here/sys/block/dm-0/slaves/$disk"
  [ -e "$here/dev/dm-0" ] || mknod "$here/dev/dm-0" b 7 "$3"
}

login() {
  [ -n "$session" ] && say 15 'session exists'
  [ -d "$node" ] || say 21 'No records found'
  [ -f "$here/wrong/login-$portal" ] && say 8 "$(cat "$here/wrong/login-$portal")"
  may "$node" node.session.auth || say 24 'initiator reported error (24 - iSCSI login failed due to authorization failure)'
  host=$(($(ls "$here/sessions" | wc -l) + 2))
  echo "$portal $iqn" > "$here/sessions/$host"
  at=$here/sys/class/iscsi_host/host$host/device/session$host
  mkdir -p "$at/iscsi_session/session$host" "$at/connection$host:0/iscsi_connection/connection$host:0" "$here/sys/class/scsi_host/host$host"
  : > "$here/sys/class/scsi_host/host$host/scan"
  echo "$iqn" > "$at/iscsi_session/session$host/targetname"
  cd "$at/connection$host:0/iscsi_connection/connection$host:0" || exit 1
  echo "${portal%:*}" | tr -d '[]' | tee address > persistent_address
  echo "${portal##*:}" | tee port > persistent_port
  [ -e "$here/wrong/no-disks" ] && return 0
  for lun in "$here/luns/$iqn"/*; do show_lun "$host" "$(basename "$lun")" "$(cat "$lun")"; done
}

logout() {
  [ -n "$session" ] || say 21 'No matching sessions found'
  host=$(basename "$session")
  for disk in "$here/dev/sd${host}n"*; do
    [ -e "$disk" ] || continue
    find "$here/dev/disk/by-path" -lname "*/$(basename "$disk")" -delete
    rm "$disk"
  done
  rm -r "$session" "$here/sys/class/iscsi_host/host$host" "$here/sys/class/scsi_host/host$host"
  : > "$here/sessions/gone-$host"
}

case "$mode $op" in
  'iface show') cat "$here/ifaces/$iface" 2>/dev/null || say 21 "Could not read iface $iface" ;;
  'iface new')
    [ -e "$here/ifaces/$iface" ] && say 15 'iface exists'
    printf 'iface.iscsi_ifacename = %s\n' "$iface" > "$here/ifaces/$iface" ;;
  'iface update') [ -e "$here/wrong/update-$name" ] && say 7 "no such setting"; printf '%s = %s\n' "$name" "$value" >> "$here/ifaces/$iface" ;;
  'iface delete') rm "$here/ifaces/$iface" 2>/dev/null || say 21 'No records found' ;;
  'discoverydb new') mkdir -p "$discovery" ;;
  'discoverydb update') echo "$value" > "$discovery/$name"; [ -e "$here/wrong/update-$name" ] && say 7 "Invalid value $value"; : ;;
  'discoverydb delete') rm -r "$discovery" ;;
  'discoverydb discover')
    [ -f "$here/targets/$portal" ] || say 4 "cannot make connection to $portal: Connection refused"
    may "$discovery" discovery.sendtargets.auth || say 24 'Login failed to authenticate with target'
    for target in $(cat "$here/targets/$portal"); do mkdir -p "$here/nodes/$portal/$target"; done ;;
  'node update') echo "$value" > "$node/$name" ;;
  'node delete') rm -r "$node" 2>/dev/null || say 21 'No records found' ;;
  'node login') login ;;
  'node logout') logout ;;
  *) say 7 "what is $mode $op" ;;
esac
