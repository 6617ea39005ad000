import type { CsiDriver } from './storage-objects.ts';

/** How a volume of a driver lives: by a claim, or as long as its pod. */
export type LifecycleMode = 'Persistent' | 'Ephemeral';
/** `CSIDriver.spec.fsGroupPolicy`. */
export type FsGroupPolicy = 'ReadWriteOnceWithFSType' | 'File' | 'None';

/** Must the driver's volumes be attached? A driver without an object is one whose volumes must (kubelet: skipAttach). */
export function mustAttach(driver: CsiDriver | null): boolean {
  return driver?.spec.attachRequired !== false;
}

/** Does it want to know the pod that it publishes for? */
export function wantsPodInfo(driver: CsiDriver | null): boolean {
  return driver?.spec.podInfoOnMount === true;
}

/** Is a volume published again from time to time? */
export function wantsRepublish(driver: CsiDriver | null): boolean {
  return driver?.spec.requiresRepublish === true;
}

/** Can it mount with `-o context=`? */
export function mountsWithContext(driver: CsiDriver | null): boolean {
  return driver?.spec.seLinuxMount === true;
}

/** How often what the node may hold of it is asked again, ms; 0: never (`nodeAllocatableUpdatePeriodSeconds`). */
export function allocatablePeriodMs(driver: CsiDriver | null): number {
  return (driver?.spec.nodeAllocatableUpdatePeriodSeconds ?? 0) * 1000;
}

/** Why the driver does not take volumes that live this way; null when it does. Without an object only persistent ones are. */
export function refusesMode(name: string, driver: CsiDriver | null, mode: LifecycleMode): string | null {
  if (driver === null)
    return mode === 'Persistent' ? null : `volume mode "${mode}" not supported by driver ${name} (no CSIDriver object)`;
  const modes = driver.spec.volumeLifecycleModes ?? [];
  if (modes.includes(mode)) return null;
  const only = modes.map((each) => `"${each}"`).join(' ');
  return `volume mode "${mode}" not supported by driver ${name} (only supports [${only}])`;
}

/** Who may give the volume to `fsGroup`. Throws in kubelet's words when the object does not say it. */
export function fsGroupPolicy(driver: CsiDriver | null): FsGroupPolicy {
  if (driver === null) return 'ReadWriteOnceWithFSType';
  const { fsGroupPolicy: policy } = driver.spec;
  if (policy === undefined || policy === '')
    throw new Error('kubernetes.io/csi: expected valid fsGroupPolicy, received nil value or empty string');
  return policy as FsGroupPolicy;
}

/** What decides whether the agent gives a volume to the pod's group. */
export interface FsGroupQuestion {
  policy: FsGroupPolicy;
  fsGroup: number | undefined;
  readOnly: boolean;
  fsType: string;
  /** Of the PV; null for an inline volume, undefined for a PV that names none. */
  accessModes: readonly string[] | null | undefined;
}

/** Does the agent give the volume's files to `fsGroup`, of a driver that does not do so itself (kubelet: supportsFSGroup)? */
export function givesToGroup({ policy, fsGroup, readOnly, fsType, accessModes }: FsGroupQuestion): boolean {
  if (fsGroup === undefined || policy === 'None' || readOnly) return false;
  if (policy === 'File') return true;
  if (fsType === '') return false;
  if (accessModes === null) return true;
  return accessModes?.some((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod') ?? false;
}
