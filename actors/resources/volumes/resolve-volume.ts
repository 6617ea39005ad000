import { migratedVolume } from '../../../machines/csi/migration.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { ObjectContent } from '../../../machines/protocol/ask.ts';
import type { Pod, Volume } from '../../../machines/protocol/api-types.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../machines/protocol/storage-types.ts';
import { claimNameOf } from '../../../machines/volumes/claim-name.ts';
import { allContainers } from '../../../machines/volumes/pod-containers.ts';
import { WAITING } from '../../../machines/volume-manager/volume-waits.ts';
import { VolumeFailure } from './volume-plugin.ts';
import type { VolumeSpec } from './volume-plugin.ts';

/** Objects of the API server that volumes need. All reject with the server's own words. */
export interface StorageObjects {
  claim(namespace: string, name: string): Promise<PersistentVolumeClaim>;
  volume(name: string): Promise<PersistentVolume>;
  /** A secret, read each time. When absent: nobody asks. */
  secret?(namespace: string, name: string): Promise<ObjectContent>;
  /** Strategic merge patch of the claim's status; answers the claim as it is then. When absent: nobody is told. */
  patchClaim?(claim: PersistentVolumeClaim, patch: object): Promise<PersistentVolumeClaim>;
}

/** Code of what keeps a volume from being looked up at all: kubelet's `failed to process volumes`. */
export const UNPROCESSED = WAITING.unprocessed;

const PROTECTION = 'kubernetes.io/pvc-protection';

/** What a pod's volume is: what it names inline, or the PV behind its claim. @throws VolumeFailure in kubelet's words */
export async function volumeSpecOf(pod: Pod, volume: Volume, objects: StorageObjects | null): Promise<VolumeSpec> {
  const claimName = claimNameOf(pod, volume);
  if (claimName === null) {
    const { namespace = '' } = pod.metadata ?? {};
    const moved = ofDriver(() => migratedVolume({ volume, namespace }));
    // As with kubelet, what the source says of writing counts no more.
    if (moved !== null) return specOf(moved, { claim: null, volume, readOnly: false, migrated: true });
    const { readOnly } = inlineSource(volume);
    return { name: volume.name, pv: null, claim: null, volume, readOnly, mode: 'Filesystem' };
  }
  const namespace = pod.metadata?.namespace ?? '';
  const processing = (text: string, cause?: unknown): VolumeFailure =>
    new VolumeFailure(UNPROCESSED, `error processing PVC ${namespace}/${claimName}: ${text}`, { cause });
  if (objects === null) throw processing('not supported due to running kubelet in standalone mode');
  const claim = await objects.claim(namespace, claimName).catch((error: unknown) => {
    throw processing(`failed to fetch PVC from API server: ${messageOf(error)}`, error);
  });
  const { metadata, spec, status } = claim;
  if (metadata?.deletionTimestamp !== undefined && !(metadata.finalizers ?? []).includes(PROTECTION))
    throw processing('PVC is being deleted');
  if (status?.phase !== 'Bound') throw processing('PVC is not bound');
  const pvName = spec?.volumeName ?? '';
  if (pvName === '') throw processing('PVC has empty pvc.Spec.VolumeName');
  if (volume.ephemeral !== undefined && volume.persistentVolumeClaim === undefined && !isOwnedBy(claim, pod)) {
    const { name = '' } = pod.metadata ?? {};
    const text = `PVC ${namespace}/${claimName} was not created for pod ${namespace}/${name} (pod is not owner)`;
    throw new VolumeFailure(UNPROCESSED, text);
  }
  const pv = await objects.volume(pvName).catch((error: unknown) => {
    throw processing(`failed to fetch PV ${pvName} from API server: ${messageOf(error)}`, error);
  });
  const bound = pv.spec?.claimRef;
  if (!bound)
    throw processing(
      `found PV object ${pvName} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`,
    );
  if ((bound.uid ?? '') !== (metadata?.uid ?? ''))
    throw processing(
      `found PV object ${pvName} but its pv.Spec.ClaimRef.UID ${bound.uid ?? ''} does not point to claim.UID ${metadata?.uid ?? ''}`,
    );
  const moved = ofDriver(() => migratedVolume({ pv }));
  const readOnly = volume.persistentVolumeClaim?.readOnly ?? false;
  const rest = { claim, volume, readOnly, ...(moved !== null && { migrated: true as const }) };
  const its = { ...specOf(moved ?? pv, rest), name: pvName };
  fitsUse(pod, volume.name, its.mode);
  return its;
}

function specOf(
  pv: PersistentVolume,
  rest: Pick<VolumeSpec, 'claim' | 'volume' | 'readOnly' | 'migrated'>,
): VolumeSpec {
  const mode = pv.spec?.volumeMode === 'Block' ? 'Block' : 'Filesystem';
  return { name: pv.metadata?.name ?? '', pv, mode, ...rest };
}

/** A volume of a cloud as its CSI driver knows it. */
function ofDriver(migrate: () => PersistentVolume | null): PersistentVolume | null {
  try {
    return migrate();
  } catch (error) {
    throw new VolumeFailure(UNPROCESSED, messageOf(error), { cause: error });
  }
}

/** A file system is mounted, a device is passed, and never the other way round. */
function fitsUse(pod: Pod, name: string, mode: VolumeSpec['mode']): void {
  const containers = allContainers(pod);
  const isMounted = containers.some(({ volumeMounts }) => volumeMounts?.some((each) => each.name === name));
  const isPassed = containers.some(({ volumeDevices }) => volumeDevices?.some((each) => each.name === name));
  const fail = (where: string): never => {
    throw new VolumeFailure(UNPROCESSED, `volume ${name} has volumeMode ${mode}, but is specified in ${where}`);
  };
  if (isMounted && mode !== 'Filesystem') fail('volumeMounts');
  if (isPassed && mode !== 'Block') fail('volumeDevices');
}

/** `metav1.IsControlledBy`. */
function isOwnedBy({ metadata }: PersistentVolumeClaim, pod: Pod): boolean {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller === true);
  return owner !== undefined && owner.uid === pod.metadata?.uid;
}

function inlineSource(volume: Volume): { readOnly: boolean } {
  for (const [field, source] of Object.entries(volume) as [string, unknown][])
    if (field !== 'name' && typeof source === 'object' && source !== null)
      return { readOnly: 'readOnly' in source && source.readOnly === true };
  return { readOnly: false };
}
