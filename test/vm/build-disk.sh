#!/usr/bin/env bash
# Makes the disk of a node as people run it, once, and prints its folder: build-disk.sh
# Debian bookworm with systemd, cgroup v2, AppArmor, and containerd with `SystemdCgroup = true`; made of Debian's packages, as root,
# in 4 to 10 minutes. It stands outside the checkout, in ${ACTORLET_CACHE:-~/.cache/actorlet}/vm/NAME, where NAME says what it was
# made from (this file), so a change here makes a new one. Needs: mmdebstrap, e2fsprogs, openssh-client, and a mirror of Debian.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
self=$(readlink -f "$0")
folder=${ACTORLET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/actorlet}/vm/$(sha256sum "$self" | cut -c1-16)
fail() { echo "build-disk: $1" >&2; exit 1; }
finished() { [ -f "$folder/disk.img" ] && echo "$folder" && exit 0; }
[ $# = 0 ] || fail "takes no arguments"
finished || true
[ "$(id -u)" = 0 ] || fail "not root; mmdebstrap makes the files of other users"
for command in mmdebstrap mkfs.ext4 ssh-keygen; do
  command -v "$command" > /dev/null || fail "$command is missing; apt-get install mmdebstrap e2fsprogs openssh-client"
done
mkdir -p "$folder"
# One build at a time, whoever asks: the others find the finished disk when the lock is free.
exec 9> "$folder/lock"
flock 9
finished || true
new=$folder/new
rm -rf "$new"
mkdir "$new"
trap 'rm -rf "$new"' EXIT
root=$new/root

packages=systemd,systemd-sysv,dbus,udev,kmod,openssh-server,ca-certificates,linux-image-amd64
packages+=,containerd,runc,containernetworking-plugins,iproute2,iptables,conntrack,procps,psmisc,busybox-static,curl,apparmor
# What Kubernetes' suite for nodes calls.
packages+=,sudo,numactl,nfs-common,xfsprogs,quota,python3-minimal
# Servers of volumes, and who signs in to them; started by the test that uses them.
packages+=,nfs-kernel-server,tgt,open-iscsi
# SELinux is there for who boots with `security=selinux selinux=1`; without, AppArmor is on.
packages+=,selinux-policy-default,policycoreutils
mirror=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)
mmdebstrap --variant=minbase --include=$packages bookworm "$root" "${mirror:-http://deb.debian.org/debian}" > "$folder/build.log" 2>&1 ||
  fail "mmdebstrap failed: $(tail -n 1 "$folder/build.log") (see $folder/build.log)"

ssh-keygen -q -t ed25519 -N '' -C actorlet-vm -f "$new/key"
install -D -m 600 "$new/key.pub" "$root/root/.ssh/authorized_keys"
echo vm > "$root/etc/hostname"
echo 127.0.1.1 vm >> "$root/etc/hosts"
echo '/dev/vda / ext4 defaults 0 1' > "$root/etc/fstab"
printf '[Match]\nName=en*\n[Network]\nDHCP=yes\n' > "$root/etc/systemd/network/10-wired.network"
ln -sf /lib/systemd/system/systemd-networkd.service "$root/etc/systemd/system/multi-user.target.wants/"
# the forwarder of QEMU's user network
echo nameserver 10.0.2.3 > "$root/etc/resolv.conf"
printf 'overlay\nbr_netfilter\ndummy\n' > "$root/etc/modules-load.d/node.conf"
printf 'net.ipv4.ip_forward=1\nnet.bridge.bridge-nf-call-iptables=1\n' > "$root/etc/sysctl.d/90-node.conf"
rm -f "$root"/etc/systemd/system/*.wants/{nfs-server,nfs-blkmap,tgt,open-iscsi}.service
# Permissive: the disk's files have no labels of their own. Debian's policy names labels of containers (lxc_contexts) without having their types.
sed -i 's/^SELINUX=.*/SELINUX=permissive/' "$root/etc/selinux/config"
cat > "$root/root/containers.cil" <<'MODULE'
(typeattributeset cil_gen_require (domain file_type))
(type container_t)
(roletype system_r container_t)
(typeattributeset domain (container_t))
(type container_file_t)
(roletype object_r container_file_t)
(typeattributeset file_type (container_file_t))
MODULE
chroot "$root" semodule --noreload --install /root/containers.cil >> "$folder/build.log" 2>&1 ||
  fail "semodule failed (see $folder/build.log)"
rm "$root/root/containers.cil"
# Commands over ssh must not wait for a name of this machine's side.
echo 'UseDNS no' > "$root/etc/ssh/sshd_config.d/vm.conf"

mkdir -p "$root/etc/containerd" "$root/etc/cni/net.d"
cat > "$root/etc/containerd/config.toml" <<'CONFIG'
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/actorlet/pause:1"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "/etc/containerd/certs.d"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = true
  # The handler that Kubernetes' suites name.
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.test-handler]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.test-handler.options]
      SystemdCgroup = true
CONFIG
cat > "$root/etc/cni/net.d/10-vm.conflist" <<'CONFIG'
{
  "cniVersion": "0.4.0",
  "name": "vm",
  "plugins": [
    {
      "type": "bridge",
      "bridge": "vm0",
      "isGateway": true,
      "ipMasq": true,
      "ipam": { "type": "host-local", "ranges": [[{ "subnet": "10.88.0.0/16" }]], "routes": [{ "dst": "0.0.0.0/0" }] }
    },
    { "type": "portmap", "capabilities": { "portMappings": true } }
  ]
}
CONFIG

cp "$root"/boot/vmlinuz-* "$new/kernel"
cp "$root"/boot/initrd.img-* "$new/initrd"
# Sparse: the file takes what is written to it.
mkfs.ext4 -q -d "$root" "$new/disk.new" 12G >> "$folder/build.log" 2>&1 || fail "mkfs.ext4 failed (see $folder/build.log)"
for file in key key.pub kernel initrd; do mv "$new/$file" "$folder/$file"; done
# Last: with it the disk is finished.
mv "$new/disk.new" "$folder/disk.img"
echo "$folder"
