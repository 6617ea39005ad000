import type { Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import { rfc3339 } from '../../../machines/values/rfc3339.ts';
import type { FleetClock } from './fleet-clock.ts';

/** Fields of a pod's status that are moments. */
const MOMENTS: ReadonlySet<string> = new Set([
  'startTime',
  'startedAt',
  'finishedAt',
  'lastTransitionTime',
  'lastProbeTime',
]);

/** A status as the API is to have it: its moments are those of the machine's clock, which all others of the cluster go by. */
export function statusOfReal(status: PodStatus, { speed, toReal }: FleetClock): PodStatus {
  return speed === 1 ? status : (mapped(status, (at) => Math.floor(toReal(at) / 1000) * 1000) as PodStatus);
}

/**
 * A pod of the API as the node's machines are to see it: the moments of its status are those of the nodes' clock. They are rounded up to
 * seconds, so that they are the same again when they are told.
 */
export function podOfFleet(pod: Pod, { speed, ofReal }: FleetClock): Pod {
  if (speed === 1 || pod.status === undefined) return pod;
  return { ...pod, status: mapped(pod.status, (at) => Math.ceil(ofReal(at) / 1000) * 1000) as PodStatus };
}

/** A copy with other moments; what has none of them is the same object. */
function mapped(value: unknown, moment: (at: number) => number): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => mapped(item, moment));
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  let same = true;
  const entries = Object.entries(value).map(([name, before]: [string, unknown]) => {
    const after = MOMENTS.has(name) && typeof before === 'string' ? momentOf(before, moment) : mapped(before, moment);
    same &&= after === before;
    return [name, after] as const;
  });
  return same ? value : Object.fromEntries(entries);
}

function momentOf(text: string, moment: (at: number) => number): string {
  const at = Date.parse(text);
  return Number.isNaN(at) ? text : (rfc3339(moment(at)) ?? text);
}
