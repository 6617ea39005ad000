import type { FlagSpec } from './flag-spec.ts';

/** Name, kind and preset. */
const FLAGS: readonly [string, FlagSpec['kind'], string][] = [
  ['application-metrics-count-limit', 'int', '100'],
  ['boot-id-file', 'string', '/proc/sys/kernel/random/boot_id'],
  ['container-hints', 'string', '/etc/cadvisor/container_hints.json'],
  ['containerd', 'string', '/run/containerd/containerd.sock'],
  ['containerd-namespace', 'string', 'k8s.io'],
  ['enable-load-reader', 'bool', 'false'],
  ['event-storage-age-limit', 'string', 'default=0'],
  ['event-storage-event-limit', 'string', 'default=0'],
  ['global-housekeeping-interval', 'duration', '1m0s'],
  ['housekeeping-interval', 'duration', '10s'],
  ['log-cadvisor-usage', 'bool', 'false'],
  ['machine-id-file', 'string', '/etc/machine-id,/var/lib/dbus/machine-id'],
  ['storage-driver-buffer-duration', 'duration', '1m0s'],
  ['storage-driver-db', 'string', 'cadvisor'],
  ['storage-driver-host', 'string', 'localhost:8086'],
  ['storage-driver-password', 'string', 'root'],
  ['storage-driver-secure', 'bool', 'false'],
  ['storage-driver-table', 'string', 'stats'],
  ['storage-driver-user', 'string', 'root'],
];

/** The only one of them that kubelet does not call deprecated. */
const NOT_DEPRECATED = 'housekeeping-interval';

/** Flags of cAdvisor that kubelet accepts: none has an effect here. */
export const cadvisorFlags: readonly FlagSpec[] = FLAGS.map(([name, kind, preset]) => ({
  name,
  kind,
  group: 'Deprecated',
  preset,
  ...(name !== NOT_DEPRECATED && { deprecated: 'cadvisor' as const }),
  moot: 'cAdvisor is not part of this agent, which reads cgroups itself',
  usage: 'of cAdvisor; has no effect',
}));
