import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { RuntimeServiceService } from '../../../cri/generated/runtime/v1/api.ts';
import { lacksTool, referenceTool } from '../../tools/reference-tool.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { isReady, restartsOf, statusOf } from './support/seen.ts';
import { podOf, runs, shell } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';

describe('evented PLEG (KEP-3386) on containerd v2', { skip: await lacksTool('containerd2') }, () => {
  let clean: MachineState;
  let node: TestNode;
  before(async () => {
    const containerd = await referenceTool('containerd2');
    clean = await machineState();
    node = await TestNode.make({ flags: ['--feature-gates', 'EventedPLEG=true'], containerd: { containerd } });
    await node.startAgent();
  });
  after(async () => {
    await node?.stop();
    await assertNothingLeft(clean);
  });

  const metric = async (name: string): Promise<number> => {
    const reply = await fetch(`http://127.0.0.1:${node.ports.readOnlyPort}/metrics`);
    const line = (await reply.text()).split('\n').find((l) => l.startsWith(`${name} `));
    return Number(line?.split(' ').at(-1) ?? 'NaN');
  };
  const stop = (containerId: string) =>
    node.containerd.cri.call(RuntimeServiceService.stopContainer, { containerId, timeout: '0' });
  const relists = () => metric('kubelet_pleg_relist_duration_seconds_count');
  const events = () => metric('kubelet_evented_pleg_connection_latency_seconds_count');
  const connections = () => metric('kubelet_evented_pleg_connection_success_count');
  /** Waits until lists of everything are no longer made each second. */
  const relistsAreRare = () =>
    waitFor('rare relists', async () => {
      const before = await relists();
      await sleep(4_000);
      return (await relists()) === before ? true : undefined;
    });

  it("takes the runtime's cgroup driver (RuntimeConfig)", async () => {
    const told = (await node.agentLog()).filter((l) => l['cgroupDriver'] === 'cgroupfs').map((l) => l['msg']);
    assert.deepEqual(told, ['Using cgroup driver setting received from the CRI runtime']);
  });

  it('starts, restarts and ends pods by events, while nothing is listed', async () => {
    await waitFor('the stream', async () => ((await connections()) >= 1 ? true : undefined));
    await relistsAreRare();
    const before = { relists: await relists(), events: await events() };
    await node.write(
      'live.json',
      podOf('live', [runs('a'), runs('b')], { initContainers: [shell('first', 'exit 0')] }),
    );
    await node.write('once.json', podOf('once', [shell('c', 'exit 3')], { restartPolicy: 'Never' }));
    await node.waitPod('live', 'ready', isReady);
    const failed = await node.waitPod('once', 'failed', (p) => p.status?.phase === 'Failed');
    assert.equal(statusOf(failed, 'c').state?.terminated?.exitCode, 3);

    const { a = '' } = await node.running('live');
    await stop(a);
    const again = await node.waitPod('live', 'ready anew', (p) => isReady(p) && restartsOf(p)['a'] === 1);
    assert.deepEqual(restartsOf(again), { first: 0, a: 1, b: 0 });
    assert.equal(await relists(), before.relists, 'something was listed');
    assert.ok((await events()) >= before.events + 10, 'too few events');

    // A sandbox that somebody else ended is seen as well, and the pod gets another. The agent stops it too, as soon as it
    // sees its containers die; of two calls that take the same network apart one may fail, so the call is made again.
    const [sandbox] = (await node.sandboxes()).filter((s) => s.metadata?.name.startsWith('live-') && s.state === 0);
    await waitFor('the sandbox to be stopped', () => {
      const stopped = node.containerd.cri.call(RuntimeServiceService.stopPodSandbox, {
        podSandboxId: sandbox?.id ?? '',
      });
      return stopped.catch(() => undefined);
    });
    await node.waitPod('live', 'containers in another sandbox', (p) => isReady(p) && restartsOf(p)['a'] === 2);
    await node.remove('once.json');
    await node.waitGone('once');
    assert.equal(await metric('kubelet_running_pods'), 1);
  });

  it('lists each second while the stream is broken, loses nothing, and goes back to events', async () => {
    const steady = await node.running('live');
    const before = { relists: await relists(), errors: await metric('kubelet_evented_pleg_connection_error_count') };
    process.kill(node.containerd.containerd.pid, 'SIGKILL');
    await waitFor('a failed stream', async () =>
      (await metric('kubelet_evented_pleg_connection_error_count')) > before.errors ? true : undefined,
    );
    await waitFor('relists', async () => ((await relists()) > before.relists + 2 ? true : undefined));
    await waitFor('the runtime', () => node.running('live'));
    assert.deepEqual(await node.running('live'), steady, 'containers go on');
    const { b = '' } = steady;
    await stop(b);
    await node.waitPod('live', 'b restarted', (p) => isReady(p) && restartsOf(p)['b'] === 2);

    await waitFor('another stream', async () => ((await connections()) >= 2 ? true : undefined));
    await relistsAreRare();
    const listed = await relists();
    await node.remove('live.json');
    await node.waitGone('live');
    assert.ok((await relists()) <= listed + 1);
    assert.equal(await metric('kubelet_running_pods'), 0);
  });
});
