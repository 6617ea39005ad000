import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { unmountBelow } from '../../../actors/host/files/mounts.ts';
import { explainFromJournal } from '../../../actors/inspect/explain/explain-from-journal.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { startFakeApiServer } from '../../simulated/api/support/fake-api-server.ts';
import type { FakeApiServer } from '../../simulated/api/support/fake-api-server.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { NODE_NAME, TestNode } from '../agent/support/test-node.ts';
import { ENDS_BADLY, podOf, shell } from '../agent/support/test-pod.ts';

const PODS = { group: '', version: 'v1', resource: 'pods' };

/** Writes so many MiB, then runs on. */
const fills = (path: string, mib: number): string =>
  `dd if=/dev/zero of=${path} bs=1048576 count=${mib}; ${ENDS_BADLY}`;

describe('limits on local storage, on real containers', () => {
  let clean: MachineState;
  let server: FakeApiServer;
  let node: TestNode;

  before(async () => {
    clean = await machineState();
    server = await startFakeApiServer();
    node = await TestNode.make({
      flags: ['--kubeconfig', server.kubeconfigPath],
      // Nothing of the disk is short, whatever machine this is.
      config: { volumeStatsAggPeriod: '2s', evictionHard: { 'nodefs.available': '1' } },
    });
    await node.startAgent();
  });
  after(async () => {
    await node.agent.kill();
    await unmountBelow(node.rootDir);
    await node.stop();
    await server.close();
    await assertNothingLeft(clean);
  });

  function put(name: string, script: string, more: Record<string, unknown> = {}, limit?: string): void {
    const resources = limit === undefined ? {} : { resources: { limits: { 'ephemeral-storage': limit } } };
    const mounts = 'volumes' in more ? { volumeMounts: [{ name: 'data', mountPath: '/data' }] } : {};
    const pod = podOf(name, [shell('c', script, { ...resources, ...mounts })], { nodeName: NODE_NAME, ...more });
    server.put(PODS, { ...pod, status: {} } as object);
  }
  const podNamed = (name: string) => server.get({ ...PODS, namespace: 'default' }, name) as unknown as Pod | undefined;
  /** Container and restarts of a pod that is ready, null of any other. */
  const lives = (name: string) => {
    const status = podNamed(name)?.status;
    const container = status?.containerStatuses?.[0];
    return status?.phase === 'Running' && container?.ready === true
      ? { id: container.containerID, restarts: container.restartCount }
      : null;
  };
  const evicted = (name: string) =>
    waitFor(
      `${name} to be evicted`,
      () => {
        const { status } = podNamed(name) ?? {};
        return status?.reason === 'Evicted' && status.phase === 'Failed' ? status : undefined;
      },
      () => `${JSON.stringify(podNamed(name)?.status)} ${String(node.agent.tail())}`,
    );

  it('ends who fills an emptyDir or a writable layer over its limit, and leaves the neighbours alone', async () => {
    const volumes = [{ name: 'data', emptyDir: { sizeLimit: '5Mi' } }];
    put('volume-neighbour', fills('/data/file', 1), { volumes });
    put('layer-neighbour', fills('/file', 1), {}, '5Mi');
    const neighbours = ['volume-neighbour', 'layer-neighbour'];
    await waitFor('the neighbours to run', () => (neighbours.every((name) => lives(name) !== null) ? true : undefined));
    const before = neighbours.map(lives);
    put('volume-filler', fills('/data/file', 20), { volumes });
    put('layer-filler', fills('/file', 20), {}, '5Mi');

    const volume = await evicted('volume-filler');
    assert.equal(volume.message, 'Usage of EmptyDir volume "data" exceeds the limit "5Mi". ');
    const layer = await evicted('layer-filler');
    assert.equal(layer.message, 'Pod ephemeral local storage usage exceeds the total limit of containers 5Mi. ');
    assert.deepEqual(neighbours.map(lives), before);

    const why = await explainFromJournal({
      pod: 'default/layer-filler',
      journals: [node.journalDir],
      now: Date.now(),
    });
    assert.ok(
      why.causes.some(({ text }) =>
        /^it was seen to use \d+\w* of local storage \(ephemeralpodfs\.limit\)$/.test(text),
      ),
    );
  });
});
