import { defineErrors } from './define.ts';

/** Errors of the node's own files, mounts and cgroups (`actors/host`). */
export const hostErrors = defineErrors('HOST', {
  noCgroupMounts: [
    1,
    'No cgroup file system is mounted under {root}.',
    'Mount cgroup v2 at /sys/fs/cgroup, or the v1 controllers cpu, cpuacct, cpuset, memory and pids below it.',
  ],
  missingCgroupControllers: [
    2,
    'The cgroup controllers {missing} are missing under {root}.',
    'Enable them in the kernel (for memory: boot parameter cgroup_enable=memory) and mount them.',
  ],
  notPodCgroup: [
    3,
    'Refused to remove cgroup {path}: its last part is not of the form pod<uid> or <slice>-pod<uid>.slice.',
    'Only cgroups of pods are removed; report this as a bug.',
  ],
  cgroupBusy: [
    4,
    'Cannot remove cgroup {path}: {reason}.',
    'See which processes are in it (cgroup.procs) and why they do not end; the removal is tried again.',
  ],
  cgroupWrite: [
    5,
    'Cannot write {value} to {file}: {reason}.',
    'Check that the controller is enabled for the parent cgroup and that the value is within the limits of the parent.',
  ],
  cgroupInvalid: [
    6,
    'Cgroup {path} is in state {type}, so memory and cpu limits cannot be set below it.',
    'Move the processes that sit in its parent cgroup into a leaf cgroup, or choose another cgroupRoot.',
  ],
  stillMounted: [
    7,
    'Refused to delete {path}: {mounts} is still mounted.',
    'Find the process that uses the mount (fuser -vm) and end it; the removal is tried again.',
  ],
  hugePagesMedium: [
    8,
    'Volume {volume}: emptyDir.medium {medium} names no page size.',
    'Use HugePages-<size> with a size that the node has, or "" (disk) or Memory.',
  ],
  unknownMedium: [
    9,
    'Volume {volume}: emptyDir.medium has unknown value {medium}.',
    'Use "" (disk), Memory, HugePages or HugePages-<size>.',
  ],
  notPodPath: [
    10,
    'Refused {path}: {what} must be a plain file name without slashes.',
    'Check the UID, the container names and the volume names of the pod.',
  ],
  crossesDevice: [
    11,
    'Refused to delete {path}: it is on another file system than {root}.',
    'Unmount it; the removal is tried again.',
  ],
  diskFull: [
    12,
    'No space is left for {path}: {problem}.',
    'Free space (df -h, and df -i for inodes) on its file system; it is tried again until there is some.',
  ],
  diskReadOnly: [
    13,
    'The file system of {path} is read-only: {problem}.',
    'See dmesg for the reason, repair the disk and remount it writable; it is tried again until it is.',
  ],
  foreignVolumes: [
    14,
    'The folder {path} of the pod has volumes that actorlet has not made: {left}.',
    'Have who mounted them (the CSI driver, or kubelet) unmount and remove them; the removal is tried again.',
  ],
  noAnswer: [
    15,
    'The file system of {path} does not answer.',
    'Bring its server back or unmount it (umount -f); it is tried again.',
  ],
  systemdUnreachable: [
    20,
    'systemd cannot be reached over D-Bus: {reason}.',
    'See that systemd is process 1 and that /run/dbus/system_bus_socket or /run/systemd/private can be opened; or set cgroupDriver: cgroupfs here and in the runtime.',
  ],
  systemdRefused: [
    21,
    'systemd could not {what} {unit}: {reason}.',
    'See systemctl status {unit} and journalctl -b _PID=1; it is tried again.',
  ],
  kernelTunables: [
    31,
    "The kernel's tunables are not those of a node: {problem}.",
    'Set them (sysctl -w, /etc/sysctl.d), or, with protectKernelDefaults: false, give the agent a writable /proc/sys.',
  ],
  noKernelLog: [
    30,
    "The kernel's log {path} cannot be read: {reason}. No SystemOOM events are recorded.",
    'Give the agent /dev/kmsg and CAP_SYSLOG (or kernel.dmesg_restrict=0); in a user namespace, the feature gate KubeletInUserNamespace takes it for granted.',
  ],
  notReserved: [
    32,
    '{problem}.',
    'Make the cgroup before the agent starts (in each hierarchy, on cgroup v1), name another one in systemReservedCgroup or kubeReservedCgroup, or take its level out of enforceNodeAllocatable.',
  ],
  noCgroupRoot: [
    33,
    'invalid configuration: {reason}.',
    'Make it before the agent starts (in each hierarchy, on cgroup v1), or leave cgroupRoot out.',
  ],
  logindUnreachable: [
    34,
    'logind cannot be reached over D-Bus: {reason}.',
    'Install dbus and systemd-logind and see systemctl status dbus systemd-logind; or leave shutdownGracePeriod and shutdownGracePeriodByPodPriority out: then a shutdown does not wait for pods.',
  ],
  logindRefused: [
    35,
    'logind could not {what}: {reason}.',
    'See journalctl -u systemd-logind and systemd-inhibit --list; it is tried again.',
  ],
});
