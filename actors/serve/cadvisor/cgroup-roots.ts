import { cgroupPath } from '../../../machines/qos/pod-cgroup.ts';
import { readSmall } from '../../resources/cgroup-stats/small-files.ts';

/** The settings that tell which cgroups besides `/` kubelet has cAdvisor watch. */
export interface CgroupRootSettings {
  cgroupRoot: string;
  cgroupsPerQOS: boolean;
  cgroupDriver: string;
  kubeletCgroups: string;
  systemCgroups: string;
  /** Flag `--runtime-cgroups`. */
  runtimeCgroups: string;
}

/**
 * Starts of the paths of cgroups to report, as kubelet gives them to cAdvisor: that of the pods, the agent's own, and
 * those of runtime and system as configured. Without `cgroupsPerQOS` pods are anywhere below `cgroupRoot`.
 *
 * @param ownCgroup text of `/proc/self/cgroup`
 */
export function reportedCgroups(
  settings: CgroupRootSettings,
  ownCgroup: string = readSmall('/proc/self/cgroup') ?? '',
): string[] {
  const root = settings.cgroupRoot.split('/').filter((part) => part !== '');
  const parts = settings.cgroupsPerQOS ? [...root, 'kubepods'] : root;
  const pods = cgroupPath(parts, settings.cgroupDriver === 'systemd' ? 'systemd' : 'cgroupfs');
  const own = settings.kubeletCgroups !== '' ? settings.kubeletCgroups : cgroupOfAgent(ownCgroup);
  return [pods, own, settings.runtimeCgroups, settings.systemCgroups].filter((path) => path !== '');
}

/**
 * Where the agent runs: v1 only when CPU and memory agree, then as systemd's hierarchy tells it; '' when unknown. Not the
 * root itself, which is reported anyway, and below which are all cgroups of the machine.
 */
function cgroupOfAgent(text: string): string {
  const paths = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, controllers, ...path] = line.split(':');
    if (controllers === undefined) continue;
    for (const name of controllers.split(',')) paths.set(name, path.join(':'));
  }
  const cpu = paths.get('cpu');
  if (cpu === undefined) return notRoot(paths.get(''));
  return cpu === paths.get('memory') ? notRoot(paths.get('name=systemd') ?? cpu) : '';
}

function notRoot(path: string | undefined): string {
  return path === undefined || path === '/' ? '' : path;
}
