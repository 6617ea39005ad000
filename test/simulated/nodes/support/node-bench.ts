import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { fleetClock } from '../../../../actors/node/fleet/fleet-clock.ts';
import type { ProfileInput } from '../../../../actors/node/fleet/profile/profile-schema.ts';
import type { SimulatedNode } from '../../../../actors/node/fleet/simulated-node.ts';
import type { Pod } from '../../../../machines/protocol/api-types.ts';
import { StandInApi } from '../../../tools/stand-in-api.ts';
import { startedNode } from './started-node.ts';
import { waitFor } from '../../../tools/wait-for.ts';

/** How many times as fast as the machine's the clock of these nodes runs: back-off and grace periods are not to be waited for. */
export const SPEED = 10;

/** An event that a node told. */
export interface ToldEvent {
  reason: string;
  message: string;
  type: string;
  about: string;
}

/** What the agent asked its runtime for, in this order: `start c`, `stop c grace=30`, `exec c: words`. */
export type Asked = string;

/** A simulated node, `n-0`, over a stand-in for the API server. */
export interface NodeBench {
  api: StandInApi;
  node: SimulatedNode;
  events: ToldEvent[];
  /** Statuses of each pod, each as it was told. */
  statuses: (name: string) => NonNullable<Pod['status']>[];
  asked: Asked[];
  /** Makes a pod on the node; what is not said is one container `c` that runs. */
  create: (name: string, spec?: object) => void;
  /** Puts another spec (or other fields of it) in place, as a write of the API server, of which it counts the generation. */
  change: (name: string, spec: object) => void;
  pod: (name: string) => Pod | undefined;
  /** Waits until the pod is so; what it throws counts as "not yet". */
  until: (name: string, what: string, holds: (pod: Pod) => boolean) => Promise<Pod>;
  running: (name: string) => Promise<Pod>;
  gone: (name: string) => Promise<true>;
  event: (about: string, reason: string, message?: RegExp) => Promise<ToldEvent>;
}

/** Starts it; it ends with the test. @param settings further fields of the KubeletConfiguration */
export async function nodeBench(
  t: Pick<TestContext, 'after'>,
  profile: ProfileInput = {},
  settings: Record<string, unknown> = {},
): Promise<NodeBench> {
  const api = new StandInApi();
  const events: ToldEvent[] = [];
  const told = new Map<string, NonNullable<Pod['status']>[]>();
  api.onChange = (resource, name, object) => {
    if (object === null) return;
    // Of an event that came again only its count is sent.
    if (resource === 'events' && 'involvedObject' in object) {
      const { reason, message, type, involvedObject } = object as unknown as Omit<ToldEvent, 'about'> & {
        involvedObject: { name: string };
      };
      events.push({ reason, message, type, about: involvedObject.name });
    }
    if (resource === 'pods') told.set(name, [...(told.get(name) ?? []), (object as Pod).status ?? {}]);
  };
  const { node } = await startedNode(t, {
    ...{ api, clock: fleetClock(SPEED), settings: { clusterDNS: ['10.96.0.10'], ...settings } },
    profile: { groups: [{ name: 'n', machine: { cpus: 4, memory: '8Gi' } }], ...profile },
  });
  const bench: NodeBench = {
    ...{ api, node, events },
    statuses: (name) => told.get(name) ?? [],
    asked: askedOf(node),
    create: (name, spec = {}) =>
      void api.put('pods', {
        metadata: { name, namespace: 'd', generation: 1, creationTimestamp: new Date().toISOString() },
        spec: { nodeName: 'n-0', containers: [{ name: 'c', image: 'app:1' }], ...spec },
      }),
    change: (name, spec) => {
      const { metadata, ...rest } = api.get('pods', name, 'd') ?? assert.fail(`no pod ${name}`);
      const generation = Number(metadata['generation']) + 1;
      api.put('pods', { ...rest, metadata: { ...metadata, generation }, spec: { ...rest.spec, ...spec } });
    },
    pod: (name) => api.get('pods', name, 'd') as Pod | undefined,
    until: (name, what, holds) =>
      waitFor(
        `${name} ${what}`,
        () => {
          const pod = bench.pod(name);
          return pod !== undefined && holds(pod) ? pod : undefined;
        },
        () => `${JSON.stringify(bench.pod(name)?.status)}\n${JSON.stringify(events)}\n${bench.asked.join('\n')}`,
      ),
    running: (name) => bench.until(name, 'to be ready', isReady),
    gone: (name) => waitFor(`${name} to be gone`, () => (bench.pod(name) === undefined ? true : undefined)),
    event: (about, reason, message = /./) =>
      waitFor(
        `event ${reason} (${String(message)}) of ${about}`,
        () => events.find((each) => each.about === about && each.reason === reason && message.test(each.message)),
        () => JSON.stringify(events),
      ),
  };
  return bench;
}

/** Its condition Ready is True. */
export function isReady({ status }: Pod): boolean {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
}

/** Notes what the agent asks the runtime for from now on. */
function askedOf({ machine }: SimulatedNode): Asked[] {
  const asked: Asked[] = [];
  const calls = machine.runtime.client.runtime as unknown as Record<string, (request: never) => Promise<unknown>>;
  const nameOf = (id: string): string => machine.runtime.core.containers.find(id)?.metadata.name ?? '';
  const note = (method: string, words: (request: Record<string, unknown>) => Asked): void => {
    const call = calls[method];
    assert.ok(call !== undefined, method);
    calls[method] = (request, ...more: []) => {
      asked.push(words(request));
      return call(request, ...more);
    };
  };
  note('startContainer', ({ containerId }) => `start ${nameOf(String(containerId))}`);
  note(
    'stopContainer',
    ({ containerId, timeout }) => `stop ${nameOf(String(containerId))} grace=${Number(timeout ?? 0)}`,
  );
  note(
    'execSync',
    ({ containerId, cmd }) => `exec ${nameOf(String(containerId))}: ${(cmd as string[] | undefined)?.join(' ')}`,
  );
  return asked;
}
