import type { Pod } from '../protocol/api-types.ts';
import { fullName, hashOf } from './mirror-pod.ts';

/** A mirror pod of the API, as far as it matters here. */
export interface KnownMirror {
  uid: string;
  /** `namespace/name`. */
  fullName: string;
  /** Hash of the static pod it was made for, which is that pod's UID. */
  hash: string;
  /** It has a deletion timestamp. */
  deleting: boolean;
}

/** Where a static pod is in its life; null when the node does not know the UID. */
export type StaticLife = 'running' | 'ending' | 'ended' | null;

/** What is wanted and seen. */
export interface MirrorInput {
  statics: readonly Pod[];
  mirrors: readonly KnownMirror[];
  /** All static sources have spoken: a mirror pod without a static pod is left over. */
  complete: boolean;
  lifeOf: (uid: string) => StaticLife;
}

/** What to do next under one name: a wrong mirror pod goes first, the right one is made in the step after. */
export type MirrorAction = { do: 'create'; pod: Pod } | { do: 'delete'; mirror: KnownMirror };

/** Actions by `namespace/name`, and what is left for later. */
export interface MirrorPlan {
  actions: Map<string, MirrorAction>;
  /** Something waits for a static pod to end. */
  waits: boolean;
  /** A static pod is shown by nothing, because it ended or ends: it may live anew under its UID, when its file is put back. */
  unshown: boolean;
}

/**
 * What has to be done so that each living static pod has one mirror pod of its own version, and nothing else is there
 * (kubelet tryReconcileMirrorPods and its housekeeping): a mirror pod that is marked for deletion or mirrors another
 * version is removed at once, without grace; while a static pod ends its mirror pod stays, since it shows how; an
 * ended static pod gets no new mirror pod.
 */
export function mirrorPlan({ statics, mirrors, complete, lifeOf }: MirrorInput): MirrorPlan {
  const plan: MirrorPlan = { actions: new Map(), waits: false, unshown: false };
  const byName = new Map(statics.map((pod) => [fullName(pod), pod]));
  const held = new Set<string>();
  for (const mirror of mirrors) {
    const pod = byName.get(mirror.fullName);
    const fits = pod !== undefined && mirror.hash === hashOf(pod) && !mirror.deleting;
    if (!fits && pod === undefined && !complete) continue;
    if (!fits && lifeOf(mirror.hash) !== 'ending') plan.actions.set(mirror.fullName, { do: 'delete', mirror });
    else {
      held.add(mirror.fullName);
      plan.waits ||= !fits;
    }
  }
  for (const [name, pod] of byName) {
    const life = lifeOf(pod.metadata?.uid ?? '');
    if (held.has(name) || plan.actions.has(name)) continue;
    if (life === 'ending' || life === 'ended') plan.unshown = true;
    else plan.actions.set(name, { do: 'create', pod });
  }
  return plan;
}
