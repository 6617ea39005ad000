/** Sysctls of an IPC namespace; the short ones keep old patterns `kernel.shm*` and `kernel.msg*` valid. */
const IPC = new Set([
  'kernel.sem',
  'kernel.shmall',
  'kernel.shmmax',
  'kernel.shmmni',
  'kernel.shm_rmid_forced',
  'kernel.shm',
  'kernel.msgmax',
  'kernel.msgmnb',
  'kernel.msgmni',
  'kernel.msg',
]);

/** Kernel namespace that a sysctl belongs to, if it does. */
export function sysctlNamespace(name: string): 'IPC' | 'Net' | undefined {
  if (IPC.has(name) || name.startsWith('fs.mqueue.')) return 'IPC';
  return name.startsWith('net.') ? 'Net' : undefined;
}

/** Name with dots between its parts: `net/ipv4/conf/eno2.100/rp_filter` is `net.ipv4.conf.eno2/100.rp_filter`. */
export function normalSysctl(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  return separator === '/' ? name.replace(/[./]/g, (sign) => (sign === '.' ? '/' : '.')) : name;
}
