import { notedBefore } from '../resize/resize-conditions.ts';
import type { Cause } from './explanation.ts';
import type { View } from './view.ts';
import { failed, short } from './words.ts';

/** What a resize in place (KEP-1287) has to say: one that waits for the node, and one that is being put in force. */
export function resizeCauses({ context }: View): Cause[] {
  const causes: Cause[] = [];
  const pending = notedBefore(context.pod, 'PodResizePending', 0);
  if (pending !== undefined) {
    const why = pending.message === '' ? '' : `: ${short(pending.message)}`;
    const text =
      pending.reason === 'Infeasible'
        ? `it asks for other resources, which this node can never give it${why}`
        : `it asks for other resources, and waits until the node has them${why}`;
    causes.push({ at: pending.since, text, kind: 'node' });
  }
  const { resize, tasks } = context;
  if (resize !== undefined) {
    const names = Object.keys(resize.actuated);
    const whose = names.length === 0 ? 'the pod' : names.join(', ');
    const count = tasks['resize']?.failures ?? 0;
    const tried =
      resize.error === '' ? '' : `; the last try ${failed({ count: Math.max(1, count), message: resize.error })}`;
    causes.push({
      at: resize.since,
      text: `the resources of ${whose} are being changed while it runs${tried}`,
      kind: 'node',
    });
  }
  return causes;
}
