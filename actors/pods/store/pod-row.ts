import { z } from 'zod';

/** One line of `actorlet pods`: what a pod is, where its machine stands and what it waits for. */
export interface PodRow {
  namespace: string;
  name: string;
  uid: string;
  /** `status.phase`. */
  phase: string;
  /** State of the pod machine as dotted path. */
  state: string;
  /** Sum over all containers. */
  restarts: number;
  /** Primary pod IP, '' when there is none yet. */
  ip: string;
  /** `status.startTime`, RFC 3339; '' when it has not started. */
  startedAt: string;
  /** What it waits for, in words; '' when for nothing. */
  why: string;
}

/** Body of `/actorlet/pods`. `kind` tells an actorlet agent from anything else that answers on that port. */
export const podRowList = z.object({
  kind: z.literal('ActorletPods'),
  pods: z.array(
    z.object({
      namespace: z.string(),
      name: z.string(),
      uid: z.string(),
      phase: z.string(),
      state: z.string(),
      restarts: z.number(),
      ip: z.string(),
      startedAt: z.string(),
      why: z.string(),
    }),
  ),
});

/** See {@link podRowList}. */
export interface PodRowList {
  kind: 'ActorletPods';
  pods: PodRow[];
}
