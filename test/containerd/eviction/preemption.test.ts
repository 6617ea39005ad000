import assert from 'node:assert/strict';
import { it } from 'node:test';
import { unmountBelow } from '../../../actors/host/files/mounts.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { startFakeApiServer } from '../../simulated/api/support/fake-api-server.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { NODE_NAME, TestNode } from '../agent/support/test-node.ts';
import { podOf, runs } from '../agent/support/test-pod.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';

const PODS = { group: '', version: 'v1', resource: 'pods' };

it('a critical static pod gets in on a full node: what it displaces has ended before it begins, and leaves nothing', async () => {
  const clean = await machineState();
  const server = await startFakeApiServer();
  const node = await TestNode.make({
    flags: ['--kubeconfig', server.kubeconfigPath],
    config: { maxPods: 2, evictionHard: { 'nodefs.available': '1' } },
  });
  try {
    await node.startAgent();
    const put = (name: string, more: object = {}): void => {
      const resources = { resources: { requests: { memory: name === 'asks' ? '20Mi' : '10Mi' } } };
      server.put(PODS, {
        ...podOf(name, [runs('c', resources)], { nodeName: NODE_NAME, ...more }),
        status: {},
      } as object);
    };
    const statusOf = (name: string) =>
      (server.get({ ...PODS, namespace: 'default' }, name) as unknown as Pod | undefined)?.status;
    const ready = (name: string) =>
      waitFor(
        `${name} to run`,
        () => (statusOf(name)?.containerStatuses?.[0]?.ready === true ? true : undefined),
        () => node.agent.tail(),
      );
    for (const name of ['asks', 'modest']) put(name);
    for (const name of ['asks', 'modest']) await ready(name);
    await node.write('critical.json', podOf('critical', [runs('c')]));
    await ready(`critical-${NODE_NAME}`);

    const gone = statusOf('modest');
    // It ended with 0, which counts (e2e_node "CriticalPod").
    assert.deepEqual([gone?.phase, gone?.reason, gone?.message], ['Succeeded', undefined, undefined]);
    assert.equal(gone?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason, 'TerminationByKubelet');
    const ended = Date.parse(String(gone?.containerStatuses?.[0]?.state?.terminated?.finishedAt));
    const started = Date.parse(
      String(statusOf(`critical-${NODE_NAME}`)?.containerStatuses?.[0]?.state?.running?.startedAt),
    );
    assert.ok(ended <= started, `${ended} ${started}`);
    assert.equal(statusOf('asks')?.phase, 'Running');
    assert.equal(statusOf('asks')?.containerStatuses?.[0]?.restartCount, 0);
    // The collector takes what is left of it at its next pass, as of an evicted pod.
    await waitFor(
      'what is left of modest to go',
      async () => {
        const left = (await node.containerd.cri.containers()).filter(
          ({ labels }) => labels['io.kubernetes.pod.name'] === 'modest',
        );
        return left.length === 0 ? true : undefined;
      },
      () => node.agent.tail(),
    );
  } finally {
    await node.agent.kill();
    await unmountBelow(node.rootDir);
    await node.stop();
    await server.close();
  }
  await assertNothingLeft(clean);
});
