import { parseMountinfo } from '../../host/files/mountinfo.ts';
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
