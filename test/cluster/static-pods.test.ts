import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podOf, runs, shell } from '../containerd/agent/support/test-pod.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Pod } from './support/api-objects.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { isReadyPod } from './support/seen-pods.ts';

const NODE = 'epsilon';
const cluster = withCluster({ nodes: [{ name: NODE }] });

/** Ignores SIGTERM until `seconds` have passed. */
const slow = (seconds: number, mark = 'up') =>
  shell('c', `trap "sleep ${seconds}; exit 0" TERM; echo ${mark}; while :; do sleep 0.1; done`);
const pathOf = (name: string) => `/api/v1/namespaces/default/pods/${name}-${NODE}`;
const find = (name: string) => cluster.plane().api.find<Pod>(pathOf(name));
const hashOf = ({ metadata }: Pod) => metadata?.annotations?.['kubernetes.io/config.hash'] ?? '';
const restartsOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.restartCount ?? -1;
const idOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.containerID ?? '';

async function mirror(name: string, what: string, fits: (pod: Pod) => boolean = isReadyPod): Promise<Pod> {
  return waitFor(
    `mirror pod ${name}: ${what}`,
    async () => {
      const pod = await find(name);
      return pod !== undefined && fits(pod) ? pod : undefined;
    },
    async () => `${JSON.stringify(await find(name))}\n${await cluster.node(NODE).lastWords()}`,
  );
}

/** Its handler of SIGTERM is set (bit 14 of the caught signals of process 1). */
async function isSet(pod: Pod): Promise<void> {
  await waitFor('its trap is set', async () => {
    const said = await cluster.node(NODE).sh(hashOf(pod), 'c', 'cat /proc/1/status | grep SigCgt');
    return /SigCgt:\s*[0-9a-f]*[4-7c-f][0-9a-f]{3}$/.test(said.trim()) ? true : undefined;
  });
}

describe('the file of a static pod', { concurrency: true }, () => {
  test('removed and put back at once: it runs anew, with restart count 1, and is shown', async () => {
    const node = cluster.node(NODE);
    const manifest = podOf('blink', [runs('c')]);
    await node.writeManifest('blink.json', manifest);
    const first = await mirror('blink', 'ready');
    await node.removeManifest('blink.json');
    await node.writeManifest('blink.json', manifest);
    // Kubernetes' own suite: "should successfully recreate when file is removed and recreated".
    const second = await mirror('blink', 'restarted', (p) => isReadyPod(p) && restartsOf(p) === 1);
    assert.equal(second.status?.phase, 'Running');
    assert.equal(hashOf(second), hashOf(first));
    assert.notEqual(idOf(second), idOf(first));
    await node.removeManifest('blink.json');
    await waitFor('the mirror pod to go', async () => ((await find('blink')) === undefined ? true : undefined));
    await node.waitNothingRuns(hashOf(first));
  });

  test('put back while it ends: its mirror pod shows the old one until it has ended, then the new one', async () => {
    const node = cluster.node(NODE);
    const manifest = podOf('slow', [slow(8)], { terminationGracePeriodSeconds: 20 });
    await node.writeManifest('slow.json', manifest);
    const first = await mirror('slow', 'ready');
    await isSet(first);
    await node.removeManifest('slow.json');
    const ending = Date.now();
    await waitFor('it runs on for a while', async () => {
      const pod = await find('slow');
      assert.equal(pod?.metadata?.uid, first.metadata?.uid, 'the mirror pod stays while the pod ends');
      assert.equal(pod?.status?.phase, 'Running');
      return Date.now() > ending + 3_000 ? true : undefined;
    });
    await node.writeManifest('slow.json', manifest);
    const second = await mirror('slow', 'restarted', (p) => isReadyPod(p) && idOf(p) !== idOf(first));
    // Kubelet has removed what was dead of it when its housekeeping (each 2 s) saw that the file was away.
    if (node.kind === 'actorlet') {
      assert.equal(restartsOf(second), 1);
      assert.equal(second.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 0);
    }
    assert.equal(second.metadata?.uid, first.metadata?.uid, 'there was a pod of that name all the time');
    await node.removeManifest('slow.json');
    await waitFor('the mirror pod to go', async () => ((await find('slow')) === undefined ? true : undefined));
  });

  test('put back once the pod has ended: a new mirror pod, for the same UID of the static pod', async () => {
    const node = cluster.node(NODE);
    const manifest = podOf('later', [runs('c')]);
    await node.writeManifest('later.json', manifest);
    const first = await mirror('later', 'ready');
    await node.removeManifest('later.json');
    await waitFor('the mirror pod to go', async () => ((await find('later')) === undefined ? true : undefined));
    await node.writeManifest('later.json', manifest);
    const second = await mirror('later', 'ready again');
    assert.notEqual(second.metadata?.uid, first.metadata?.uid);
    assert.equal(hashOf(second), hashOf(first));
    assert.equal(second.metadata?.annotations?.['kubernetes.io/config.mirror'], hashOf(first));
    await node.removeManifest('later.json');
    await waitFor('the mirror pod to go', async () => ((await find('later')) === undefined ? true : undefined));
  });

  test('changed again and again while it ends: the last form runs, once the first has had its time', async () => {
    const node = cluster.node(NODE);
    const form = (n: number) =>
      podOf('forms', [slow(n === 0 ? 6 : 0, `form-${n}`)], { terminationGracePeriodSeconds: 20 });
    await node.writeManifest('forms.json', form(0));
    const first = await mirror('forms', 'ready');
    await isSet(first);
    for (let n = 1; n <= 20; n++) {
      await node.writeManifest('forms.json', form(n));
      const shown = await find('forms');
      if (shown?.metadata?.uid === first.metadata?.uid) assert.equal(shown?.status?.phase, 'Running');
    }
    const last = await mirror(
      'forms',
      'the last form',
      (p) => isReadyPod(p) && JSON.stringify(p.spec).includes('form-20'),
    );
    assert.notEqual(last.metadata?.uid, first.metadata?.uid);
    assert.notEqual(hashOf(last), hashOf(first));
    assert.equal(restartsOf(last), 0);
    await node.waitNothingRuns(hashOf(first));
    await node.removeManifest('forms.json');
    await waitFor('the mirror pod to go', async () => ((await find('forms')) === undefined ? true : undefined));
  });

  test('put back with the uid that it names and other content: the old one ends before the new one begins', async () => {
    const node = cluster.node(NODE);
    const metadata = { name: 'fixed-uid', uid: '00000000-aaaa-bbbb-cccc-000000000001' };
    const form = (mark: string) => ({
      ...podOf('fixed-uid', [slow(4, mark)], { terminationGracePeriodSeconds: 20 }),
      metadata,
    });
    await node.writeManifest('fixed-uid.json', form('one'));
    const first = await mirror('fixed-uid', 'ready');
    await isSet(first);
    await node.removeManifest('fixed-uid.json');
    await node.writeManifest('fixed-uid.json', form('two'));
    let most = 0;
    await waitFor(
      'the second form runs',
      async () => {
        const running = (await node.containers(hashOf(first))).filter((c) => c.running);
        most = Math.max(most, running.length);
        return running[0] !== undefined && !idOf(first).endsWith(running[0].id) ? true : undefined;
      },
      async () => node.agentLogs(),
      60_000,
    );
    assert.equal(most, 1, 'two at once');
    const second = await mirror('fixed-uid', 'ready', (p) => isReadyPod(p) && idOf(p) !== idOf(first));
    assert.equal(hashOf(second), hashOf(first));
    await node.removeManifest('fixed-uid.json');
    await waitFor('the mirror pod to go', async () => ((await find('fixed-uid')) === undefined ? true : undefined));
  });
});

test('a mirror pod that somebody deletes while its static pod ends, whose file is then put back', async () => {
  const node = cluster.node(NODE);
  const manifest = podOf('both', [slow(8)], { terminationGracePeriodSeconds: 20 });
  await node.writeManifest('both.json', manifest);
  const first = await mirror('both', 'ready');
  await isSet(first);
  await node.removeManifest('both.json');
  await cluster.plane().api.delete(pathOf('both'));
  await node.writeManifest('both.json', manifest);
  const second = await mirror('both', 'ready again', (p) => isReadyPod(p) && idOf(p) !== idOf(first));
  assert.notEqual(second.metadata?.uid, first.metadata?.uid);
  assert.equal(second.metadata?.deletionTimestamp, undefined);
  await node.removeManifest('both.json');
  await waitFor('the mirror pod to go', async () => ((await find('both')) === undefined ? true : undefined));
});

test('the API server is away while files are removed and put back, and the agent is killed', async () => {
  const node = cluster.node(NODE);
  const plane = cluster.plane();
  const quick = podOf('away-quick', [runs('c')]);
  const ending = podOf('away-slow', [slow(8)], { terminationGracePeriodSeconds: 20 });
  await node.writeManifest('away-quick.json', quick);
  await node.writeManifest('away-slow.json', ending);
  const first = { quick: await mirror('away-quick', 'ready'), slow: await mirror('away-slow', 'ready') };
  await isSet(first.slow);
  await plane.stopApiServer();
  await node.removeManifest('away-quick.json');
  await node.removeManifest('away-slow.json');
  await node.waitNothingRuns(hashOf(first.quick));
  await node.writeManifest('away-quick.json', quick);
  await node.writeManifest('away-slow.json', ending);
  const runsAnew = async (before: Pod) =>
    waitFor('it runs anew', async () => {
      const running = (await node.containers(hashOf(before))).filter((c) => c.running && !idOf(before).endsWith(c.id));
      return running.length === 1 ? true : undefined;
    });
  await runsAnew(first.quick);
  await node.kill9();
  await node.startAgent();
  await runsAnew(first.slow);
  await plane.startApiServer();
  for (const [name, before] of [
    ['away-quick', first.quick],
    ['away-slow', first.slow],
  ] as const) {
    const after = await mirror(name, 'ready again', (p) => isReadyPod(p) && idOf(p) !== idOf(before));
    assert.equal(hashOf(after), hashOf(before));
    assert.equal(after.status?.phase, 'Running');
    await node.removeManifest(`${name}.json`);
    await waitFor('the mirror pod to go', async () => ((await find(name)) === undefined ? true : undefined));
  }
});
