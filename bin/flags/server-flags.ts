import type { FlagSpec } from './flag-spec.ts';

/** HTTP servers. */
export const serverFlags: readonly FlagSpec[] = [
  { name: 'read-only-port', kind: 'int', group: 'Server', field: 'readOnlyPort', preset: '10255', deprecated: 'file', acts: true, usage: 'port without authentication for /pods and /metrics; 0 turns it off' },
  { name: 'healthz-port', kind: 'int', group: 'Server', field: 'healthzPort', preset: '10248', deprecated: 'file', acts: true, usage: 'port for /healthz; 0 turns it off' },
  { name: 'healthz-bind-address', kind: 'ip', group: 'Server', field: 'healthzBindAddress', preset: '127.0.0.1', deprecated: 'file', acts: true, usage: 'address for /healthz' },
  { name: 'address', kind: 'ip', group: 'Server', field: 'address', preset: '0.0.0.0', deprecated: 'file', acts: true, usage: 'address that the servers listen on' },
  { name: 'port', kind: 'int', group: 'Server', field: 'port', preset: '10250', deprecated: 'file', acts: false, usage: 'port of the HTTPS server' },
  { name: 'enable-server', kind: 'bool', group: 'Server', field: 'enableServer', preset: 'true', deprecated: 'file', acts: false, usage: 'run the HTTPS server' },
  { name: 'cert-dir', kind: 'string', group: 'Server', preset: '/var/lib/kubelet/pki', acts: false, usage: 'folder with the agent\'s certificates' },
];
