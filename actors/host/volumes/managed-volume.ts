import type { VolumeSetup } from '../../../machines/protocol/effects.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { isManagedKind } from '../../../machines/protocol/managed-kinds.ts';
import type { ManagedKind } from '../../../machines/protocol/managed-kinds.ts';
import type { MountedVolume } from '../../../machines/protocol/volume-traits.ts';
import { NO_ROOM, WAITING } from '../../../machines/volume-manager/volume-waits.ts';
import { HostFailure, codeOf } from '../files/host-failure.ts';
import type { HostSettings } from '../files/host-settings.ts';

/** Whether the main thread sets a volume up. */
export function isManaged(volume: VolumeSetup): volume is Extract<VolumeSetup, { kind: ManagedKind }> {
  return isManagedKind(volume.kind);
}

/** Has the main thread set a volume up; answers where it is, and what is to be known of it. */
export async function managedVolume(podUid: string, volume: string, { askNode }: HostSettings): Promise<MountedVolume> {
  if (askNode === undefined) throw new HostFailure('NoMain', 'there is no volume manager to ask');
  return askNode('volume.Mount', { podUid, volume }).catch((error: unknown) => {
    throw new ManagedFailure(codeOf(error), messageOf(error), { cause: error });
  });
}

/** A failure in whose text the volume manager has named the volume already. */
class ManagedFailure extends HostFailure {}

/** Failures that are of waiting, not of a call: nothing was tried, or nothing has come back. */
const CODES: ReadonlySet<string> = new Set([...Object.values(WAITING), NO_ROOM]);

/**
 * What the pod's event says when some of its volumes could not be set up: of the first one that has failed, as kubelet's operations do; where some only
 * could not be looked up, or take too long, of all of those, as kubelet's pod worker does when it gives up waiting. Where the node has no room for one of them that
 * is said before all else: the pod is rejected.
 */
export function failureOf(failures: readonly { name: string; reason: unknown }[]): HostFailure {
  const waits = failures.filter(({ reason }) => CODES.has(codeOf(reason)));
  const failed = failures.find((each) => !waits.includes(each));
  const isFull = waits.some(({ reason }) => codeOf(reason) === NO_ROOM);
  if (failed !== undefined && !isFull) {
    const { name, reason } = failed;
    const text = messageOf(reason);
    const whole = reason instanceof ManagedFailure ? text : `MountVolume.SetUp failed for volume "${name}" : ${text}`;
    return new HostFailure(codeOf(reason) || 'Volume', whole, { cause: reason });
  }
  const withCode = (...codes: string[]) => waits.filter(({ reason }) => codes.includes(codeOf(reason)));
  const unattached = withCode(WAITING.unattached, NO_ROOM);
  const unprocessed = withCode(WAITING.unprocessed);
  const texts = (unprocessed.length > 0 ? unprocessed : waits.slice(0, 1)).map(({ reason }) => messageOf(reason));
  const which = `unmounted volumes=[${namesOf(failures)}], unattached volumes=[${namesOf(unattached)}], failed to process volumes=[${namesOf(unprocessed)}]`;
  if (isFull) {
    const why = unprocessed.length > 0 ? texts.join('; ') : 'context deadline exceeded';
    return new HostFailure(NO_ROOM, `Node has reached its volume attachment limit, rejecting pod. ${which}: ${why}`);
  }
  return new HostFailure(
    unprocessed.length > 0 ? WAITING.unprocessed : WAITING.timeout,
    `Unable to attach or mount volumes: ${which}: ${texts.join('; ')}`,
  );
}

function namesOf(volumes: readonly { name: string }[]): string {
  return volumes
    .map(({ name }) => name)
    .sort()
    .join(' ');
}
