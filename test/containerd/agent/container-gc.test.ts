import assert from 'node:assert/strict';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { unmountBelow } from '../../../actors/host/files/mounts.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { startFakeApiServer } from '../../simulated/api/support/fake-api-server.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import { NODE_NAME, TestNode } from './support/test-node.ts';
import { ENDS_BADLY, podOf, RUNS, shell } from './support/test-pod.ts';

const PODS = { group: '', version: 'v1', resource: 'pods' };
const LINKS = '/var/log/containers';

it('ended containers go beyond what is kept, all of evicted pods, and logs of pods that are gone; what pods go by stays', async () => {
  const clean = await machineState();
  const server = await startFakeApiServer();
  const node = await TestNode.make({
    flags: [
      ...['--kubeconfig', server.kubeconfigPath],
      ...[
        '--maximum-dead-containers-per-container',
        '2',
        '--maximum-dead-containers',
        '3',
        '--minimum-container-ttl-duration',
        '1s',
      ],
    ],
    config: {
      ...{ volumeStatsAggPeriod: '2s', evictionHard: { 'nodefs.available': '1' } },
      featureGates: { KubeletCrashLoopBackOffMax: true },
      crashLoopBackOff: { maxContainerRestartPeriod: '1s' },
    },
  });
  const deadLink = join(LINKS, `gone_default_c-${'0'.repeat(63)}1.log`);
  try {
    await mkdir(join(node.podLogs, 'default_gone_1234', 'c'), { recursive: true });
    await writeFile(join(node.podLogs, 'default_gone_1234', 'c', '0.log'), 'of a pod that nobody knows\n');
    await mkdir(LINKS, { recursive: true });
    await symlink('/no/such/log', deadLink);
    await node.startAgent();
    const put = (name: string, script: string, more: object = {}, mounts: object = {}): void => {
      server.put(PODS, {
        ...podOf(name, [shell('c', script, { ...mounts })], { nodeName: NODE_NAME, ...more }),
        status: {},
      } as object);
    };
    const podNamed = (name: string) =>
      server.get({ ...PODS, namespace: 'default' }, name) as unknown as Pod | undefined;
    const inRuntime = async (name: string) =>
      (await node.containerd.cri.containers()).filter(({ labels }) => labels['io.kubernetes.pod.name'] === name);
    const attempts = async (name: string) =>
      (await inRuntime(name)).map(({ metadata }) => metadata?.attempt ?? -1).sort((a, b) => a - b);

    put('neighbour', RUNS);
    put('crashes', 'if [ $(date +%s) -gt 0 ]; then sleep 1; exit 3; fi');
    put('done', 'exit 0', { restartPolicy: 'Never' });
    const volumes = [{ name: 'data', emptyDir: { sizeLimit: '5Mi' } }];
    const mounts = { volumeMounts: [{ name: 'data', mountPath: '/data' }] };
    put('filler', `dd if=/dev/zero of=/data/f bs=1048576 count=20; ${ENDS_BADLY}`, { volumes }, mounts);
    const status = (name: string) => podNamed(name)?.status;
    await waitFor(
      'filler to be evicted',
      () => (status('filler')?.reason === 'Evicted' ? true : undefined),
      () => node.agent.tail(),
    );
    await waitFor(
      'done to succeed',
      () => (status('done')?.phase === 'Succeeded' ? true : undefined),
      () => node.agent.tail(),
    );
    const fillerUid = podNamed('filler')?.metadata?.uid ?? '';
    const crashed = (): number => status('crashes')?.containerStatuses?.[0]?.restartCount ?? 0;
    await waitFor(
      'five restarts',
      () => (crashed() >= 5 ? true : undefined),
      () => node.agent.tail(),
    );
    // The pod's own actor keeps two dead ones of a name (kubelet's container deletor), besides one that runs or is about to.
    assert.ok((await attempts('crashes')).length <= 3, String(await attempts('crashes')));

    await waitFor(
      'the collector',
      async () => {
        const folders = await readdir(node.podLogs);
        const gone = !folders.some((name) => name.endsWith(fillerUid) || name.endsWith('1234'));
        const links = await readdir(LINKS);
        return gone &&
          (await inRuntime('filler')).length === 0 &&
          !links.includes(`gone_default_c-${'0'.repeat(63)}1.log`)
          ? true
          : undefined;
      },
      () => node.agent.tail(),
    );
    const sandboxes = (await node.sandboxes()).map(({ metadata }) => metadata?.name);
    assert.ok(!sandboxes.includes('filler') && sandboxes.includes('neighbour'), String(sandboxes));
    // What is told of them stays.
    assert.deepEqual([status('filler')?.phase, status('filler')?.reason], ['Failed', 'Evicted']);
    assert.deepEqual(
      [status('done')?.phase, status('done')?.containerStatuses?.[0]?.state?.terminated?.exitCode],
      ['Succeeded', 0],
    );
    assert.equal(status('neighbour')?.containerStatuses?.[0]?.restartCount, 0);
    const before = crashed();
    await waitFor(
      'another restart, counted on',
      () => (crashed() > before ? true : undefined),
      () => node.agent.tail(),
    );
    assert.deepEqual(
      (await node.agentLog()).filter(({ msg }) => String(msg).startsWith('Failed to remove')),
      [],
    );
  } finally {
    await rm(deadLink, { force: true });
    await node.agent.kill();
    await unmountBelow(node.rootDir);
    await node.stop();
    await server.close();
  }
  await assertNothingLeft(clean);
});
