import { Draws } from './draws.ts';
import { drawnPod } from './pod.ts';
import type { DrawnPod } from './pod.ts';

interface DrawnContainer {
  env?: { valueFrom?: { configMapKeyRef?: unknown; secretKeyRef?: unknown } }[];
  envFrom?: unknown;
  volumeMounts?: { name: string }[];
}

/** Volumes of sources that a static pod may have. */
const OWN_VOLUMES = new Set(['empty', 'empty-memory', 'downward', 'host']);

/**
 * A pod that comes from a manifest, named `s5`: one that refers to no object of the API. A few do nevertheless, which no agent
 * may take (`PreventStaticPodAPIReferences`).
 */
export function drawnStaticPod(seed: number, number: number): DrawnPod {
  const d = new Draws(seed, `static-${String(number)}`);
  const pod = drawnPod(seed, number);
  const { runtimeClassName: _class, automountServiceAccountToken: _token, ...spec } = pod.spec;
  const own = { ...pod, metadata: { ...pod.metadata, name: `s${String(number)}` }, spec };
  return d.chance(0.1) ? own : { ...own, spec: withoutReferences(spec) };
}

function withoutReferences(spec: Record<string, unknown>): Record<string, unknown> {
  const volumes = ((spec['volumes'] ?? []) as { name: string }[]).filter(({ name }) => OWN_VOLUMES.has(name));
  const alone = (containers: unknown) => (containers as DrawnContainer[]).map(withoutReferencesOfIts);
  return {
    ...spec,
    ...('volumes' in spec && { volumes }),
    ...('initContainers' in spec && { initContainers: alone(spec['initContainers']) }),
    containers: alone(spec['containers']),
  };
}

function withoutReferencesOfIts({ envFrom: _from, env, volumeMounts, ...rest }: DrawnContainer): DrawnContainer {
  const refers = ({ valueFrom = {} }: NonNullable<DrawnContainer['env']>[number]) =>
    'configMapKeyRef' in valueFrom || 'secretKeyRef' in valueFrom;
  return {
    ...rest,
    ...(env && { env: env.filter((one) => !refers(one)) }),
    ...(volumeMounts && { volumeMounts: volumeMounts.filter(({ name }) => OWN_VOLUMES.has(name)) }),
  };
}
