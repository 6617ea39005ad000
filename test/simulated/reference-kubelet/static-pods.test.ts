import assert from 'node:assert/strict';
import { mkdtemp, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PodSandboxState } from '../../../cri/generated/runtime/v1/api.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import { startReferenceKubelet } from '../../tools/reference-kubelet.ts';
import type { ReportedPod } from '../../tools/reference-kubelet.ts';

const web = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      { name: 'main', image: 'busybox', command: ['sleep', '3600'] },
      { name: 'side', image: 'docker.io/library/busybox:latest', command: ['sleep', '3600'] },
    ],
  },
};
const prepared = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'prepared', namespace: 'default' },
  spec: {
    terminationGracePeriodSeconds: 1,
    initContainers: [{ name: 'first', image: 'busybox', command: ['true'] }],
    containers: [
      {
        name: 'main',
        image: 'busybox',
        command: ['sleep', '3600'],
        readinessProbe: { exec: { command: ['ready?'] }, periodSeconds: 1 },
      },
    ],
  },
};

/** Waits until `done` holds of the kubelet's pods by name; the limit is only there to end a hopeless test. */
async function eventually(
  kubelet: { pods(): Promise<ReportedPod[]>; log(): Promise<string> },
  what: string,
  done: (pods: Map<string, ReportedPod>) => boolean,
): Promise<Map<string, ReportedPod>> {
  let last: unknown;
  for (let i = 0; i < 900; i++) {
    try {
      const pods = new Map((await kubelet.pods()).map((pod) => [pod.metadata.name, pod]));
      if (done(pods)) return pods;
      last = [...pods.values()].map((pod) => pod.status);
    } catch (error) {
      // Not listening yet, unless it has exited.
      if (!(error instanceof TypeError)) throw error;
      last = error;
    }
    await sleep(200);
  }
  assert.fail(`never: ${what}; last seen ${JSON.stringify(last, null, 1)}\n${(await kubelet.log()).slice(-4000)}`);
}

const runs = (pod: ReportedPod | undefined) =>
  pod?.status.phase === 'Running' && pod.status.containerStatuses?.every((container) => container.ready) === true;

async function start(t: TestContext, featureGates: Record<string, boolean>) {
  const folder = await mkdtemp(join(tmpdir(), 'ref-'));
  const ends = [() => rm(folder, { recursive: true, force: true })];
  // The last started ends first.
  t.after(async () => {
    for (const end of ends.reverse()) await end();
  });
  const socket = join(folder, 'sim.sock');
  const runtime = await startSimulatedRuntime({
    socket,
    seed: 1,
    script: {
      containers: [{ match: { container: 'first' }, attempts: [{ exit: { code: 0 } }] }],
      runtime: { imageFilesystem: { mountpoint: folder } },
    },
  });
  ends.push(() => runtime.stop());
  const kubelet = await startReferenceKubelet({ folder, socket, featureGates });
  ends.push(() => kubelet.stop());
  return { runtime, kubelet };
}

for (const evented of [false, true]) {
  const how = evented ? ', told by events' : '';
  test(`the reference kubelet runs, restarts and ends static pods on the simulated runtime${how}`, async (t) => {
    const { runtime, kubelet } = await start(t, { EventedPLEG: evented });
    await writeFile(join(kubelet.manifests, 'web.json'), JSON.stringify(web));
    await writeFile(join(kubelet.manifests, 'prepared.json'), JSON.stringify(prepared));

    const pods = await eventually(
      kubelet,
      'both pods Running and ready',
      (all) => runs(all.get('web-ref')) && runs(all.get('prepared-ref')),
    );
    const init = pods.get('prepared-ref')?.status.initContainerStatuses?.[0];
    assert.equal(init?.state.terminated?.reason, 'Completed');
    assert.equal(init.state.terminated.exitCode, 0);
    const addresses = [...pods.values()].map((pod) => pod.status.podIP);
    assert.equal(new Set(addresses).size, 2);
    for (const address of addresses) assert.match(address ?? '', /^10\.88\./);

    const side = pods.get('web-ref')?.status.containerStatuses?.find(({ name }) => name === 'side');
    runtime.exitContainer(side?.containerID?.replace(/^.*:\/\//, '') ?? '', 1);
    const restarted = await eventually(kubelet, 'the exited container runs again', (all) => {
      const again = all.get('web-ref')?.status.containerStatuses?.find(({ name }) => name === 'side');
      return again?.restartCount === 1 && again.state.running !== undefined;
    });
    const main = restarted.get('web-ref')?.status.containerStatuses?.find(({ name }) => name === 'main');
    assert.equal(main?.restartCount, 0);

    await unlink(join(kubelet.manifests, 'web.json'));
    await eventually(kubelet, 'the pod without manifest is gone and its sandbox stopped', (all) => {
      const sandboxes = [...runtime.state.sandboxes.values()].filter(({ metadata }) => metadata.name === 'web-ref');
      return !all.has('web-ref') && sandboxes.every(({ state }) => state === PodSandboxState.SANDBOX_NOTREADY);
    });
    assert.ok(runs((await eventually(kubelet, 'the other runs', (all) => all.size === 1)).get('prepared-ref')));
    if (evented) assert.equal(runtime.state.eventStreams, 1);
  });
}
