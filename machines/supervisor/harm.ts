import { backOffMs } from '../values/back-off.ts';
import type { Pod } from '../protocol/api-types.ts';
import { podQosClass } from '../qos/qos-class.ts';
import { CONFIG_PREFIX } from '../sources/annotations.ts';

/** What stands in place of the machine's state of a pod that is put aside. */
export const ASIDE = 'aside';

/** What a pod did to the worker threads that hosted it; plain JSON. */
export interface Harm {
  /** Workers that died or hung on it, one soon after the other. */
  deaths: number;
  /** When the last one was replaced, ms since the epoch. */
  at: number;
  /** How often it was put aside for that. */
  asides: number;
  /** While it is put aside: when it is tried again, ms since the epoch; null while it has an actor. */
  until: number | null;
  /** What became of the last worker. */
  problem: string;
}

/** Of a pod that is put aside. */
export type AsideHarm = Harm & { until: number };

/** It is put aside when so many workers in a row have died on it. */
const DEATHS = 2;
/** A death that lies further back is forgotten, ms (as kubelet forgets a container's back-off). */
const FORGOTTEN_MS = 600_000;
/** A death of which nobody can say why counts for the pod that the next worker dies on within this time, ms. */
const UNEXPLAINED_MS = 60_000;
/** Until it is tried again, ms; the longest is kubelet's for a container that crashes. */
const RANGE = { firstMs: 30_000, maxMs: 300_000 };

/**
 * A pod's harm after one more worker died on it.
 * @param unexplained when the worker before died and no pod could be blamed, ms since the epoch; undefined = it did not
 */
export function harmAfter(before: Harm | undefined, at: number, problem: string, unexplained?: number): Harm {
  const known = before !== undefined && at - before.at < FORGOTTEN_MS ? before : undefined;
  const shared = unexplained !== undefined && at - unexplained < UNEXPLAINED_MS ? 1 : 0;
  const deaths = (known?.deaths ?? 0) + 1 + shared;
  const asides = known?.asides ?? 0;
  if (deaths < DEATHS) return { deaths, at, asides, until: null, problem };
  return { deaths, at, asides: asides + 1, until: at + backOffMs(asides + 1, RANGE), problem };
}

/**
 * Its source changed it while it is put aside: it may be well now. Who changes it again and again has no more workers ended
 * than the first wait allows.
 */
export function triedSooner(harm: Harm, at: number): Harm {
  const soonest = Math.max(at, harm.at + RANGE.firstMs);
  return harm.until === null || harm.until <= soonest ? harm : { ...harm, until: soonest };
}

/**
 * A pod that harmed workers and is to end, as little as its end needs: what ends a worker is most likely not in it. Its containers
 * are stopped with its grace period, without its hooks.
 */
export function barePod(pod: Pod): Pod {
  const { metadata, spec } = pod;
  const names = (list: readonly { name: string; image?: string; restartPolicy?: string }[] | undefined) =>
    list?.map(({ name, image, restartPolicy }) => ({
      name,
      ...(image !== undefined && { image }),
      ...(restartPolicy !== undefined && { restartPolicy }),
    }));
  const ofSource = Object.entries(metadata?.annotations ?? {}).filter(([key]) => key.startsWith(CONFIG_PREFIX));
  const { name, namespace, uid, deletionTimestamp, deletionGracePeriodSeconds, creationTimestamp } = metadata ?? {};
  const { restartPolicy, terminationGracePeriodSeconds, hostNetwork, nodeName } = spec ?? {};
  const init = names(spec?.initContainers);
  const ephemeral = names(spec?.ephemeralContainers);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name, namespace, uid, creationTimestamp, annotations: Object.fromEntries(ofSource) },
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
    },
    spec: {
      containers: names(spec?.containers) ?? [],
      ...(init !== undefined && { initContainers: init }),
      ...(ephemeral !== undefined && { ephemeralContainers: ephemeral }),
      ...(restartPolicy !== undefined && { restartPolicy }),
      ...(terminationGracePeriodSeconds !== undefined && { terminationGracePeriodSeconds }),
      ...(hostNetwork !== undefined && { hostNetwork }),
      ...(nodeName !== undefined && { nodeName }),
    },
    // Its cgroup is found by the class, which its resources no longer tell.
    status: { ...(pod.status?.phase !== undefined && { phase: pod.status.phase }), qosClass: podQosClass(pod) },
  } as Pod;
}
