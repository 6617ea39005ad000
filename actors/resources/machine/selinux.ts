import { parseMountinfo } from '../../host/files/mountinfo.ts';
import type { ContainerLabels } from '../../../machines/volumes/selinux-label.ts';
import { trimmed } from '../../../machines/values/trim.ts';
import { readText } from './node-facts.ts';

/**
 * Does this machine run SELinux, so that the runtime is to label what pods mount? By what kubelet asks: a file system of it is mounted to
 * be written to, and it has given this process a label of its own (`kernel` before a policy is loaded).
 */
export function selinuxIsOn(
  mountinfo: string = readText('/proc/self/mountinfo'),
  label: () => string = () => readText('/proc/self/attr/current'),
): boolean {
  const mounted = parseMountinfo(mountinfo).some(
    ({ fsType, options, superOptions }) =>
      fsType === 'selinuxfs' && !options.includes('ro') && !superOptions.includes('ro'),
  );
  return mounted && label().replace(/[\0\n]/g, '') !== 'kernel';
}

/** Where the labels of containers are, in the order in which they are looked for; the second is the policy's. */
const OWN_LABELS = '/usr/share/containers/selinux/contexts';
const CONFIG = '/etc/selinux/config';

/** Labels that this machine's policy has for containers; '' for what it does not say, as on a machine without one. */
export function containerLabels(read: (path: string) => string = readText): ContainerLabels {
  const policy = entriesOf(read(CONFIG)).get('SELINUXTYPE') ?? '';
  const labels = entriesOf(read(OWN_LABELS) || read(`/etc/selinux/${policy}/contexts/lxc_contexts`));
  return { process: labels.get('process') ?? '', file: labels.get('file') ?? '' };
}

/** `name = "value"` lines, without comments. */
function entriesOf(text: string): Map<string, string> {
  const entries = new Map<string, string>();
  for (const line of text.split('\n').map((each) => each.trim())) {
    const at = line.indexOf('=');
    if (at < 0 || line.startsWith('#') || line.startsWith(';')) continue;
    entries.set(line.slice(0, at).trim(), trimmed(line.slice(at + 1).trim(), '"'));
  }
  return entries;
}
