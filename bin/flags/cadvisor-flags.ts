import type { FlagSpec } from './flag-spec.ts';

/** Flags of cAdvisor that kubelet accepts: none has an effect here. */
export const cadvisorFlags: readonly FlagSpec[] = [
  { name: 'application-metrics-count-limit', kind: 'int', group: 'Deprecated', preset: '100', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'boot-id-file', kind: 'string', group: 'Deprecated', preset: '/proc/sys/kernel/random/boot_id', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'container-hints', kind: 'string', group: 'Deprecated', preset: '/etc/cadvisor/container_hints.json', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'containerd', kind: 'string', group: 'Deprecated', preset: '/run/containerd/containerd.sock', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'containerd-namespace', kind: 'string', group: 'Deprecated', preset: 'k8s.io', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'enable-load-reader', kind: 'bool', group: 'Deprecated', preset: 'false', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'event-storage-age-limit', kind: 'string', group: 'Deprecated', preset: 'default=0', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'event-storage-event-limit', kind: 'string', group: 'Deprecated', preset: 'default=0', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'global-housekeeping-interval', kind: 'duration', group: 'Deprecated', preset: '1m0s', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'housekeeping-interval', kind: 'duration', group: 'Deprecated', preset: '10s', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'log-cadvisor-usage', kind: 'bool', group: 'Deprecated', preset: 'false', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'machine-id-file', kind: 'string', group: 'Deprecated', preset: '/etc/machine-id,/var/lib/dbus/machine-id', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'storage-driver-buffer-duration', kind: 'duration', group: 'Deprecated', preset: '1m0s', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'storage-driver-db', kind: 'string', group: 'Deprecated', preset: 'cadvisor', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'storage-driver-host', kind: 'string', group: 'Deprecated', preset: 'localhost:8086', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'storage-driver-password', kind: 'string', group: 'Deprecated', preset: 'root', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'storage-driver-secure', kind: 'bool', group: 'Deprecated', preset: 'false', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'storage-driver-table', kind: 'string', group: 'Deprecated', preset: 'stats', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
  { name: 'storage-driver-user', kind: 'string', group: 'Deprecated', preset: 'root', deprecated: 'cadvisor', acts: false, usage: 'of cAdvisor; has no effect' },
];
