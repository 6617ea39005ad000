import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PodRowList } from '../../../actors/pods/store/pod-row.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { TestRegistry } from '../support/test-registry.ts';
import { isReady } from './support/seen.ts';
import { podOf, runs } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';

const PODS = Array.from({ length: 12 }, (_, i) => `p${i}`);

describe('one pull for all who wait, on containerd', () => {
  let clean: MachineState;
  let node: TestNode;
  let registry: TestRegistry;
  before(async () => {
    clean = await machineState();
    registry = await TestRegistry.start({ open: true });
    node = await TestNode.make();
    await node.startAgent();
  });
  after(async () => {
    await node?.stop();
    await registry?.stop();
    await assertNothingLeft(clean);
  });

  /** What each pod waits for. */
  async function whys(): Promise<string[]> {
    const answer = await fetch(`http://127.0.0.1:${node.ports.readOnlyPort}/actorlet/pods`);
    return ((await answer.json()) as PodRowList).pods.map(({ why }) => why);
  }
  const say = (words: string, count: number) =>
    waitFor(`${count} pods that say ${words}`, async () => {
      const found = (await whys()).filter((why) => why.includes(words));
      return found.length === count ? found : undefined;
    });
  /** How often the image's tag was asked for: each pull does it once. */
  const asked = (repository: string) =>
    registry.gate.passed.filter(({ path }) => path === `/v2/${repository}/manifests/1`).length;

  it('pods of one absent image ask the registry once; a pod behind them says what it waits for; a removed one leaves', async () => {
    const [{ image: shared }, { image: behind }] = [await registry.push('shared'), await registry.push('behind')];
    registry.gate.hold(/\/v2\/shared\/manifests\//);
    for (const name of PODS) await node.write(`${name}.json`, podOf(name, [runs('c', { image: shared })]));
    await say(`c: image ${shared} is being pulled`, PODS.length);
    await node.write('behind.json', podOf('behind', [runs('c', { image: behind })]));
    const [why = ''] = await say(`c: image ${behind} waits to be pulled since `, 1);
    assert.ok(why.endsWith(`, at first in place 1 of the queue: ${shared} was being pulled; now in place 1`), why);
    await node.remove('p0.json');
    await node.waitGone('p0');
    registry.gate.release();
    for (const name of [...PODS.slice(1), 'behind']) await node.waitPod(name, 'ready', isReady);
    assert.deepEqual([asked('shared'), asked('behind')], [1, 1]);
    for (const name of PODS.slice(1)) {
      const pulled = (await node.events(name)).filter((event) => event.startsWith('Pulled: '));
      assert.equal(pulled.length, 1, pulled.join('\n'));
      assert.match(
        pulled[0] ?? '',
        /^Pulled: Successfully pulled image ".*" in \S+ \(\S+ including waiting\)\. Image size: \d+ bytes\./,
      );
    }
    for (const name of [...PODS.slice(1), 'behind']) await node.remove(`${name}.json`);
    for (const name of [...PODS.slice(1), 'behind']) await node.waitGone(name);
  });

  it('a pull that fails is told to each; all come back with the registry', async () => {
    const { image } = await registry.push('away');
    await registry.goAway();
    const names = PODS.slice(0, 4);
    for (const name of names) await node.write(`${name}.json`, podOf(name, [runs('c', { image })]));
    for (const name of names)
      await node.waitPod(name, 'held back', (pod) =>
        (pod.status?.containerStatuses ?? []).some(({ state }) => state?.waiting?.reason === 'ImagePullBackOff'),
      );
    await registry.comeBack();
    for (const name of names) await node.waitPod(name, 'ready', isReady);
    for (const name of names) await node.remove(`${name}.json`);
    for (const name of names) await node.waitGone(name);
  });
});
