import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { isReady, restartsOf, statusOf } from './support/seen.ts';
import { PATIENT, podOf, runs } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';

describe('containerd killed under a running agent', { concurrency: false }, () => {
  let clean: MachineState;
  let node: TestNode;
  let restarts = 0;
  before(async () => {
    clean = await machineState();
    node = await TestNode.make({ containerd: { onRestart: () => restarts++ } });
    await node.startAgent();
  });
  after(async () => {
    await node.stop();
    await assertNothingLeft(clean);
  });

  /** `kill -9` of containerd; its supervisor (the harness) starts it again. */
  async function killContainerd(meanwhile: () => Promise<void> = async () => {}): Promise<void> {
    const before = restarts;
    process.kill(node.containerd.containerd.pid, 'SIGKILL');
    await meanwhile();
    await waitFor('containerd serves again', () => (restarts > before ? true : undefined));
    await waitFor('its list of containers', () => node.containers());
  }

  it('the pods go on and are seen again, their probes too; what died meanwhile is restarted', async () => {
    const probe = { exec: { command: ['true'] }, periodSeconds: 1, ...PATIENT };
    const named = (name: string) =>
      podOf(name, [runs('probed', { livenessProbe: probe, readinessProbe: probe }), runs('plain')]);
    await node.write('goes-on.json', named('goes-on'));
    await node.write('loses-one.json', named('loses-one'));
    for (const name of ['goes-on', 'loses-one']) await node.waitPod(name, 'ready', isReady);
    const before = { on: await node.running('goes-on'), lost: await node.running('loses-one') };
    const victim = await pidOf(before.lost['plain'] ?? '');

    await killContainerd(async () => {
      process.kill(victim, 'SIGKILL');
    });
    await node.waitPod(
      'loses-one',
      'one container restarted',
      (p) => isReady(p) && statusOf(p, 'plain').restartCount === 1,
    );
    const lost = await node.running('loses-one');
    assert.equal(lost['probed'], before.lost['probed']);
    assert.notEqual(lost['plain'], before.lost['plain']);
    const pod = await node.waitPod('goes-on', 'ready', isReady);
    assert.deepEqual(await node.running('goes-on'), before.on);
    assert.deepEqual(restartsOf(pod), { probed: 0, plain: 0 });

    // again and again: the agent keeps no connection, no count and no idea of its own that does not hold
    for (let i = 0; i < 3; i++) await killContainerd();
    await node.write('later.json', podOf('later', [runs('a')]));
    await node.waitPod('later', 'ready', isReady);
    await node.waitPod('goes-on', 'ready', isReady);
    assert.deepEqual(await node.running('goes-on'), before.on);
    assert.deepEqual(await node.running('loses-one'), lost);
    const all = await node.containers();
    assert.deepEqual(
      all
        .filter((c) => c.running)
        .map((c) => `${c.pod} ${c.name}`)
        .sort(),
      [
        'goes-on-realnode plain',
        'goes-on-realnode probed',
        'later-realnode a',
        'loses-one-realnode plain',
        'loses-one-realnode probed',
      ],
    );
  });

  it('a pod that starts and one that ends while containerd dies both get there', async () => {
    await node.write('ends.json', podOf('ends', [runs('a')]));
    await node.waitPod('ends', 'ready', isReady);
    for (let round = 0; round < 3; round++) {
      await node.write(
        `starts-${round}.json`,
        podOf(`starts-${round}`, [runs('a'), runs('b')], { initContainers: [runs('i', { command: ['true'] })] }),
      );
      if (round === 0) await node.remove('ends.json');
      await new Promise((resolve) => setTimeout(resolve, 150 + 250 * round));
      await killContainerd();
    }
    for (let round = 0; round < 3; round++) {
      await node.waitPod(`starts-${round}`, 'ready', isReady);
      assert.deepEqual(Object.keys(await node.running(`starts-${round}`)).sort(), ['a', 'b']);
    }
    await node.waitGone('ends');
    for (const file of ['starts-0', 'starts-1', 'starts-2', 'goes-on', 'loses-one', 'later'])
      await node.remove(`${file}.json`);
    await node.waitGone('starts-0', 'starts-1', 'starts-2', 'goes-on', 'loses-one', 'later');
    assert.deepEqual(await node.sandboxes(), []);
    assert.deepEqual(await node.containers(), []);
  });

  it('an agent that starts while containerd is away waits for it', async () => {
    await node.write('waits.json', podOf('waits', [runs('a')]));
    await node.waitPod('waits', 'ready', isReady);
    const before = await node.running('waits');
    await killContainerd(async () => {
      await node.agent.kill();
      await node.startAgent({ wait: false });
    });
    await node.agent.healthy(node.ports.healthzPort);
    await node.waitPod('waits', 'ready', isReady);
    assert.deepEqual(await node.running('waits'), before);
  });

  async function pidOf(id: string): Promise<number> {
    const { readdir, readFile } = await import('node:fs/promises');
    for (const pid of await readdir('/proc')) {
      if (!/^\d+$/.test(pid)) continue;
      const [cgroup, stat] = await Promise.all(
        ['cgroup', 'stat'].map((f) => readFile(`/proc/${pid}/${f}`, 'utf8').catch(() => '')),
      );
      // the container's first process is the child of its shim, which is in another cgroup
      if (cgroup?.includes(id) && / \(sh\) /.test(stat ?? '')) return Number(pid);
    }
    throw new Error(`no process of ${id}`);
  }
});
