/**
 * What kubelet's users meet with volumes that must be given back (kubernetes#85476, #121937): an agent dies between NodeUnpublishVolume and
 * NodeUnstageVolume. The reference, on the same control plane and with the same driver, never unstages, and has the volume detached while it is staged;
 * the agent does not. This test stands for the external attacher.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { SimulatedNode } from '../beside-kubelet/simulated-node.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Pod } from './support/api-objects.ts';
import { ControlPlane } from './support/control-plane.ts';
import { boundClaim, driverOf, STORAGE } from './support/csi-world.ts';
import { apiPod } from './support/manifests.ts';
import type { AgentKind } from './support/node-config.ts';
import { isReadyPod } from './support/seen-pods.ts';
import { Space } from './support/space.ts';

const IMAGE = 'docker.io/library/busybox:latest';
const container = {
  ...{ name: 'c', image: IMAGE, imagePullPolicy: 'IfNotPresent' },
  volumeMounts: [{ name: 'data', mountPath: '/data' }],
};

let plane: ControlPlane;
before(async () => {
  plane = await ControlPlane.start();
});
after(() => plane?.stop());

interface Attachment {
  metadata: { name: string };
  spec: { source: { persistentVolumeName?: string } };
}

/** What became of the volume of the pod that was ending when the agent died. */
interface Told {
  /** The next agent asked the driver to unstage it. */
  unstaged: boolean;
  /** It was detached while the driver had it staged. */
  detachedInUse: boolean;
}

async function dieBeforeUnstage(t: TestContext, agent: AgentKind): Promise<Told> {
  const script = { images: [{ image: IMAGE, present: true }] };
  const node = await SimulatedNode.start(plane, `hole-${agent}`, agent, script);
  t.after(() => node.stop());
  const name = `${agent}.csi.example.com`;
  const driver = await driverOf(plane, node.node, name, { attachRequired: true, fsGroupPolicy: 'File' });
  t.after(() => driver.stop());
  const space = await Space.make(plane, `hole-${agent}`, () => node.node.explain());
  const attachmentOf = async (volume: string): Promise<Attachment | undefined> =>
    (await plane.api.list<Attachment>(`${STORAGE}/volumeattachments`)).find(
      ({ spec }) => spec.source.persistentVolumeName === volume,
    );
  const run = async (pod: string): Promise<{ pod: Pod; volume: string }> => {
    const volume = await boundClaim(plane, space, name, pod);
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: pod } }];
    await space.create(apiPod(pod, [container], { nodeName: node.node.name, volumes }));
    const { metadata } = await waitFor('an attachment', () => attachmentOf(volume));
    await plane.api.patch(`${STORAGE}/volumeattachments/${metadata.name}/status`, { status: { attached: true } });
    return { pod: await space.waitPod(pod, 'ready', isReadyPod), volume };
  };
  const unstages = (volume: string): number => {
    const of = driver.calls.find(
      ({ method, request }) => method === 'NodeStageVolume' && request['volumeId'] === `${volume}-disk`,
    )?.request['stagingTargetPath'];
    return driver.calls.filter(
      ({ method, request }) => method === 'NodeUnstageVolume' && request['stagingTargetPath'] === of,
    ).length;
  };

  const { pod, volume } = await run('first');
  driver.faults.set('NodeUnstageVolume', { hang: true });
  await space.remove('Pod', 'first');
  await waitFor('the call', () => unstages(volume) || undefined);
  await space.waitGone(pod);
  await node.node.kill9();
  driver.faults.set('NodeUnstageVolume', null);
  const asked = unstages(volume);
  await node.node.startAgent();
  await waitFor('the driver to be registered again', () => (driver.told.length > 1 ? true : undefined));
  await node.node.waitReady();
  // Another volume's whole life on the same node: the agent had all the time that it takes to give one back.
  const later = await run('later');
  await space.remove('Pod', 'later');
  await space.waitGone(later.pod);
  await waitFor('the later one to be given back', () => unstages(later.volume) || undefined);
  if (agent === 'actorlet') await waitFor('the first one, too', () => unstages(volume) > asked || undefined);
  await waitFor('the first to be detached', async () =>
    (await attachmentOf(volume)) === undefined ? true : undefined,
  );
  const unstaged = unstages(volume) > asked;
  return { unstaged, detachedInUse: !unstaged };
}

test('with kubelet a volume whose agent died before it was unstaged stays staged, and is detached all the same', async (t) => {
  assert.deepEqual(await dieBeforeUnstage(t, 'kubelet'), { unstaged: false, detachedInUse: true });
});

test('with actorlet the next agent unstages it, and then it is detached', async (t) => {
  assert.deepEqual(await dieBeforeUnstage(t, 'actorlet'), { unstaged: true, detachedInUse: false });
});
