/** Hints for the topology manager and devices given, held against kubelet's own device manager (test/tools/device-hint-vectors). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { deviceHints } from '../../../machines/devices/device-hints.ts';
import { stepDevices } from '../../../machines/devices/device-machine.ts';
import type { DeviceMessage, DeviceOrder } from '../../../machines/devices/device-messages.ts';
import { idsOf, NO_DEVICES } from '../../../machines/devices/device-state.ts';
import type { DeviceStep } from '../../../machines/devices/device-state.ts';
import type { TopologyHint } from '../../../machines/resource-managers/topology/hints.ts';
import { atUid } from '../../../machines/supervisor/uid-table.ts';

const GPU = 'example.com/gpu';
const EMPTY = { envs: {}, mounts: [], devices: [], annotations: {}, cdiDevices: [] };

interface Container {
  init?: true;
  count: number;
  hints: string[] | null;
  /** What the topology manager says, as a mask; 0: nothing. */
  affinity: number;
  asked?: string[];
  given?: string[];
  refused?: string;
}

/** A line of the record. */
interface Case {
  nodes: number[];
  prefers?: true;
  devices: { nodes?: number[]; sick?: true }[];
  pods: { hints: string[] | null; whole: number; containers: Container[]; gone?: number[] }[];
}

const CASES = gunzipSync(readFileSync(new URL('kubelet-vectors.jsonl.gz', import.meta.url)))
  .toString()
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Case);

type Without<M> = M extends unknown ? Omit<M, 'at'> : never;

const texts = (hints: readonly TopologyHint[] | null): string[] | null =>
  hints && hints.map(({ nodes, preferred }) => `${nodes ?? 0}${preferred ? '!' : ''}`);

/** What the plugin of the record likes: the last ones. */
function liked({ available, mustInclude, size }: Extract<DeviceOrder, { type: 'plugin.prefer' }>): string[] {
  const out = [...mustInclude].sort();
  for (const id of [...available].sort().reverse()) if (out.length < size && !out.includes(id)) out.push(id);
  return out;
}

/** The machine of this agent, made to go through what kubelet's manager went through. */
class Replay {
  private state = NO_DEVICES;
  readonly of: Case;
  readonly alive: string[] = [];

  constructor(of: Case) {
    this.of = of;
    const options = { preStart: false, prefers: of.prefers === true };
    this.take({ type: 'plugin.came', resource: GPU, options });
    const devices = of.devices.map(({ nodes = [], sick }, i): [string, { healthy: boolean; nodes: number[] }] => [
      `d${String(i).padStart(2, '0')}`,
      { healthy: sick !== true, nodes },
    ]);
    this.take({ type: 'plugin.told', resource: GPU, devices: Object.fromEntries(devices) });
  }

  hints(uid: string, container: string | null, count: number, reusable: readonly string[]): string[] | null {
    return texts(deviceHints(this.state, this.of.nodes, { uid, container, resource: GPU, count, reusable }));
  }

  /** Gives a pod its devices; what happened with each of its containers. */
  pod(number: number): { hints: string[] | null; containers: Container[] } {
    const uid = `p${number}`;
    const known = this.of.pods[number];
    assert.ok(known !== undefined);
    for (const gone of known.gone ?? [])
      if (this.alive.includes(`p${gone}`)) this.alive.splice(this.alive.indexOf(`p${gone}`), 1);
    this.alive.push(uid);
    const steps = known.containers.map(({ init, count }, i): DeviceStep => ({
      container: `c${i}`,
      kind: init ? 'init' : 'regular',
      resource: GPU,
      count,
    }));
    const out: Container[] = [];
    let orders = this.take({
      ...{ type: 'pod.asks', uid, steps, active: this.alive, running: [] },
      alignment: { nodes: this.of.nodes, ofPod: null },
    });
    // Devices of pods that are gone are free from that moment on, as kubelet collects them before it makes hints.
    const hints = this.hints(uid, null, known.whole, []);
    for (;;) {
      const order = orders.at(-1);
      const at = known.containers[out.length - 1];
      switch (order?.type) {
        case 'affinity.ask': {
          const of = known.containers[out.length];
          const told = order.hints?.[GPU];
          const none = told?.length === 1 && told[0]?.nodes === null;
          out.push({
            ...(of?.init && { init: true }),
            count: of?.count ?? 0,
            hints: none ? null : texts(told ?? []),
            affinity: of?.affinity ?? 0,
          });
          orders = this.take({ type: 'affinity.told', nodes: of?.affinity || null });
          break;
        }
        case 'plugin.prefer': {
          const { available, mustInclude, size } = order;
          const last = out.at(-1);
          if (last)
            (last.asked ??= []).push(`${[...available].sort().join()}|${[...mustInclude].sort().join()}|${size}`);
          orders = this.take({ type: 'plugin.prefers', ids: liked(order) });
          break;
        }
        case 'plugin.allocate':
          orders = this.take({ type: 'plugin.gave', response: EMPTY });
          break;
        case 'pod.refused': {
          const last = out.at(-1);
          if (last) last.refused = order.message;
          return { hints, containers: this.given(uid, out) };
        }
        case 'pod.granted':
          return { hints, containers: this.given(uid, out) };
        default:
          throw new Error(`${order?.type ?? 'nothing'} after ${JSON.stringify(at)}`);
      }
    }
  }

  private given(uid: string, containers: Container[]): Container[] {
    return containers.map((container, i) => {
      const grant = atUid(this.state.grants, uid)?.[`c${i}`]?.[GPU];
      return grant === undefined ? container : { ...container, given: idsOf(grant).sort() };
    });
  }

  private take(message: Without<DeviceMessage>): DeviceOrder[] {
    const { state, outputs } = stepDevices(this.state, { ...message, at: 0 });
    this.state = state;
    return outputs.filter(({ type }) => type !== 'checkpoint.write' && type !== 'capacity.changed');
  }
}

/** Where the plugin likes none kubelet takes any of several devices: then the first container's number of them counts, and luck what follows. */
function told(of: Case, containers: readonly Container[]): unknown[] {
  if (of.prefers === true) return [...containers];
  return containers.slice(0, 1).map(({ given, ...rest }) => ({ ...rest, given: given?.length }));
}

test(`hints, questions to the plugin and devices given are those of kubelet for ${CASES.length} drawn machines`, () => {
  const seen = { hints: 0, asked: 0, given: 0, refused: 0 };
  for (const [i, of] of CASES.entries()) {
    const replay = new Replay(of);
    for (const [number, { hints, containers }] of of.pods.entries()) {
      const ours = replay.pod(number);
      const where = `case ${i + 1}, pod ${number}`;
      assert.deepEqual(ours.hints, hints, where);
      assert.deepEqual(told(of, ours.containers), told(of, containers), where);
      for (const each of containers) {
        if ((each.hints?.length ?? 0) > 0) seen.hints++;
        if (each.asked !== undefined) seen.asked++;
        if (each.given !== undefined) seen.given++;
        if (each.refused !== undefined) seen.refused++;
      }
      if (of.prefers !== true) break;
    }
  }
  assert.ok(CASES.length >= 2_000);
  for (const [what, times] of Object.entries(seen)) assert.ok(times > 500, `${what} ${times} times`);
});
