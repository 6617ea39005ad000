import type { AnyJournaled } from './journaled-machine.ts';
import { admission } from './admission.ts';
import { claims } from './claims.ts';
import { containerGc } from './container-gc.ts';
import { csi } from './csi.ts';
import { devices } from './devices.ts';
import { eviction } from './eviction.ts';
import { housekeeping } from './housekeeping.ts';
import { imageGc } from './image-gc.ts';
import { lease } from './lease.ts';
import { looks } from './looks.ts';
import { nodeObject } from './node-object.ts';
import { node } from './node.ts';
import { pods } from './pods.ts';
import { pulls } from './pulls.ts';
import { shutdown } from './shutdown.ts';
import { status } from './status.ts';
import { supervisor } from './supervisor.ts';
import { volumeManager } from './volume-manager.ts';

/** All machines that a journal holds. Whoever stands here is replayed. */
export const JOURNALED: readonly AnyJournaled[] = [
  ...[pods, supervisor, node, looks, pulls, imageGc, containerGc, eviction, shutdown, devices, claims, csi],
  ...[admission, housekeeping, status, nodeObject, lease, volumeManager],
];

/** The machines that there is one of, by the name that they have among the pods' UIDs: `@node`. */
export const SINGLES: ReadonlyMap<string, AnyJournaled> = new Map(
  JOURNALED.filter(({ many }) => !many).map((machine) => [`@${machine.name}`, machine]),
);
