import { join } from 'node:path';
import { ActorletError } from '../../machines/errors/define.ts';
import { pluginErrors } from '../../machines/errors/plugin-errors.ts';
import { resourceGroundOf } from '../../machines/resource-managers/resource-ground.ts';
import { messageOf } from '../../machines/values/message-of.ts';
import { PodResourcesServer } from '../serve/pod-resources/pod-resources-server.ts';
import type { ShownNode } from './edges.ts';
import type { Part } from './lifecycle.ts';
import type { NodeGround } from './node-ground.ts';

/** The pod-resources API of a node. One that has no place for its socket says so and goes on without. */
export function podResourcesPart(
  { rootDir, featureGates, metrics, log, resources: rules }: NodeGround,
  { store, admission, devices, claims }: ShownNode,
): Part {
  const folder = join(rootDir, 'pod-resources');
  const ground = rules === undefined ? null : resourceGroundOf(rules);
  const tellsClaims = featureGates.enabled('KubeletPodResourcesDynamicResources');
  const server = new PodResourcesServer({
    ...{ folder, metrics },
    pods: () => store.list(),
    active() {
      const uids = new Set(admission.active());
      return store.list().filter(({ metadata }) => uids.has(metadata?.uid ?? ''));
    },
    // One that has ended is in the store until the API server forgets it, and has nothing any more.
    podNamed(namespace, name) {
      const pod = store.named(namespace, name);
      return pod !== undefined && admission.active().includes(pod.metadata?.uid ?? '') ? pod : undefined;
    },
    facts: () => ({
      ...{ devices: devices?.state ?? null, resources: admission.resources.state, ground },
      claims: tellsClaims ? (claims?.state ?? null) : null,
      extended: featureGates.enabled('DRAExtendedResource'),
      active: new Set(admission.active()),
    }),
    gates: {
      get: featureGates.enabled('KubeletPodResourcesGet'),
      listActive: featureGates.enabled('KubeletPodResourcesListUseActivePods'),
    },
  });
  return {
    name: 'pod resources',
    phase: 'work',
    start: () =>
      server.start().catch((error: unknown) => {
        const params = { folder, problem: messageOf(error) };
        log.error({ err: new ActorletError(pluginErrors.noFolder, params, { cause: error }) }, 'Pod resources');
      }),
    stop: () => server.stop(),
  };
}
