import assert from 'node:assert/strict';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { cgroupHierarchies } from '../../../cri/private-containerd/container-remains.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { isReady } from './support/seen.ts';
import { podOf, runs, shell } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';

describe('a removed manifest on a real node', { concurrency: 4 }, () => {
  let clean: MachineState;
  let node: TestNode;
  before(async () => {
    clean = await machineState();
    node = await TestNode.make();
    await node.startAgent();
  });
  after(async () => {
    await node.stop();
    await assertNothingLeft(clean);
  });

  it('sends SIGTERM and lets the container take its time within the grace period', async () => {
    const script =
      'trap "echo got TERM > /keep/out; sleep 2; echo bye >> /keep/out; exit 0" TERM; echo up; while :; do sleep 0.1; done';
    const keep = join(node.rootDir, 'keep-graceful');
    await node.write(
      'graceful.json',
      podOf('graceful', [shell('a', script, { volumeMounts: [{ name: 'keep', mountPath: '/keep' }] })], {
        terminationGracePeriodSeconds: 80,
        volumes: [{ name: 'keep', hostPath: { path: keep, type: 'DirectoryOrCreate' } }],
      }),
    );
    await node.waitPod('graceful', 'ready', isReady);
    await waitFor('its trap is set', async () => ((await node.log('graceful', 'a')).includes('up') ? true : undefined));
    const removed = Date.now();
    await node.remove('graceful.json');
    await node.waitGone('graceful');
    assert.equal(await readFile(join(keep, 'out'), 'utf8'), 'got TERM\nbye\n', 'it was not killed before it was done');
    assert.ok(Date.now() - removed < 75_000, 'nobody waited out the whole grace period');
  });

  it('kills what ignores SIGTERM when the grace period is over, not before', async () => {
    const keep = join(node.rootDir, 'keep-stubborn');
    const script = 'trap "echo term >> /keep/out" TERM; echo up; while :; do date +%s > /keep/alive; sleep 0.2; done';
    await node.write(
      'stubborn.json',
      podOf('stubborn', [shell('a', script, { volumeMounts: [{ name: 'keep', mountPath: '/keep' }] })], {
        terminationGracePeriodSeconds: 8,
        volumes: [{ name: 'keep', hostPath: { path: keep, type: 'DirectoryOrCreate' } }],
      }),
    );
    await node.waitPod('stubborn', 'ready', isReady);
    await waitFor('its trap is set', async () => ((await node.log('stubborn', 'a')).includes('up') ? true : undefined));
    await node.remove('stubborn.json');
    await waitFor('SIGTERM reached it', async () =>
      (await readFile(join(keep, 'out'), 'utf8')) === 'term\n' ? true : undefined,
    );
    const term = (await stat(join(keep, 'out'))).mtimeMs;
    await node.waitGone('stubborn');
    const died = (await stat(join(keep, 'alive'))).mtimeMs;
    // the shell hears of the signal, and tells that it is alive, whenever the machine lets it
    assert.ok(died - term >= 4_000, `it was killed ${died - term} ms after SIGTERM`);
    assert.equal(await readFile(join(keep, 'out'), 'utf8'), 'term\n');
  });

  it('leaves no sandbox, volume, cgroup, log, link or folder', async () => {
    await node.write(
      'tidy.json',
      podOf(
        'tidy',
        [
          runs('a', {
            volumeMounts: [
              { name: 'm', mountPath: '/m' },
              { name: 'd', mountPath: '/d' },
            ],
          }),
          runs('b'),
        ],
        {
          initContainers: [shell('i', 'echo init')],
          volumes: [
            { name: 'm', emptyDir: { medium: 'Memory' } },
            { name: 'd', emptyDir: {} },
          ],
        },
      ),
    );
    const pod = await node.waitPod('tidy', 'ready', isReady);
    const uid = pod.metadata?.uid ?? '';
    const there = async () => ({
      folder: (await readdir(join(node.rootDir, 'pods'))).includes(uid),
      mounts: (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').filter((l) => l.includes(uid)).length > 0,
      logs: (await readdir(node.podLogs)).some((f) => f.endsWith(uid)),
      links: (await node.logLinks()).filter((l) => l.startsWith('tidy-')).length,
      cgroups: (await cgroupsOf(uid)).length > 0,
      runtime: [...(await node.containers()), ...(await node.sandboxes())].some((x) => JSON.stringify(x).includes(uid)),
    });
    const links = await waitFor('a log link for each container', async () => {
      const found = (await node.logLinks()).filter((l) => l.startsWith('tidy-'));
      return found.length === 3 ? found : undefined;
    });
    for (const c of await node.containers('tidy')) {
      assert.ok(links.includes(`tidy-realnode_default_${c.name}-${c.id}.log`), `${c.name} in ${links.join(', ')}`);
    }
    assert.deepEqual(await there(), { folder: true, mounts: true, logs: true, links: 3, cgroups: true, runtime: true });

    await node.remove('tidy.json');
    await node.waitGone('tidy');
    const gone = { folder: false, mounts: false, logs: false, links: 0, cgroups: false, runtime: false };
    await waitFor(
      'all of it to be gone',
      async () => (JSON.stringify(await there()) === JSON.stringify(gone) ? true : undefined),
      async () => JSON.stringify(await there()),
    );
  });

  it('removes a pod that is still starting', async () => {
    await node.write('young.json', podOf('young', [runs('a')], { initContainers: [runs('never-ends')] }));
    await node.waitPod(
      'young',
      'its init container runs',
      (p) => p.status?.initContainerStatuses?.[0]?.state?.running !== undefined,
    );
    await node.remove('young.json');
    await node.waitGone('young');
  });

  it('starts a pod that comes back under its name and UID while it still terminates', async () => {
    const manifest = podOf('back', [shell('a', 'trap "sleep 6; exit 0" TERM; echo up; while :; do sleep 0.1; done')], {
      terminationGracePeriodSeconds: 20,
    });
    await node.write('back.json', manifest);
    await node.waitPod('back', 'ready', isReady);
    const before = (await node.running('back'))['a'];
    await waitFor('its trap is set', async () => ((await node.log('back', 'a')).includes('up') ? true : undefined));
    await node.remove('back.json');
    await waitFor('it terminates', async () =>
      (await node.machineState('back')).startsWith('terminating.') ? true : undefined,
    );
    await node.write('back.json', manifest);
    await waitFor(
      'it runs again',
      async () => {
        const now = (await node.running('back'))['a'];
        return now !== undefined && now !== before ? true : undefined;
      },
      () => node.agent.tail(),
    );
    const pod = await node.waitPod('back', 'ready again', isReady);
    const [status] = pod.status?.containerStatuses ?? [];
    // As with kubelet: its next life counts on, and the end of the one before can be looked at.
    assert.equal(status?.restartCount, 1);
    assert.equal(status.lastState?.terminated?.exitCode, 0);
    assert.deepEqual(await node.log('back', 'a', 0), ['up']);
  });

  it('runs a pod anew whose file is removed and put back at once, and again, and leaves nothing of it', async () => {
    const manifest = podOf('blink', [shell('a', 'trap "exit 0" TERM; echo up; while :; do sleep 0.1; done')]);
    await node.write('blink.json', manifest);
    await node.waitPod('blink', 'ready', isReady);
    for (let count = 1; count <= 3; count++) {
      await waitFor('its trap is set', async () =>
        (await node.log('blink', 'a', count - 1)).includes('up') ? true : undefined,
      );
      await node.remove('blink.json');
      await node.write('blink.json', manifest);
      const pod = await node.waitPod('blink', `ready after ${count} times`, (p) => {
        return isReady(p) && p.status?.containerStatuses?.[0]?.restartCount === count;
      });
      assert.equal(pod.status?.phase, 'Running');
    }
    // The old form of each container but the last is gone, as with a container that is restarted.
    assert.ok((await node.containers('blink')).length <= 2);
    await node.remove('blink.json');
    await node.waitGone('blink');
    assert.deepEqual(
      (await node.logLinks()).filter((link) => link.startsWith('blink-')),
      [],
    );
  });

  it('begins a pod anew that had ended before its file was put back, and one that is never restarted', async () => {
    const slow = 'trap "sleep 3; exit 0" TERM; echo up; while :; do sleep 0.1; done';
    const once = podOf('once', [shell('a', slow)], { restartPolicy: 'Never' });
    const ended = podOf('ended', [runs('a')]);
    await node.write('once.json', once);
    await node.write('ended.json', ended);
    await node.waitPod('ended', 'ready', isReady);
    await node.waitPod('once', 'ready', isReady);
    await waitFor('its trap is set', async () => ((await node.log('once', 'a')).includes('up') ? true : undefined));
    const before = (await node.running('once'))['a'];
    await node.remove('ended.json');
    await node.waitGone('ended');
    await node.remove('once.json');
    await node.write('once.json', once);
    await node.write('ended.json', ended);
    for (const name of ['once', 'ended']) {
      const pod = await node.waitPod(name, 'ready again', (p) => {
        const id = p.status?.containerStatuses?.[0]?.containerID ?? '';
        return isReady(p) && !id.endsWith(`/${before ?? ''}`);
      });
      assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 0, `${name} is another pod`);
    }
    await node.remove('once.json');
    await node.waitGone('once');
  });

  it('starts a pod of that name with other content once the old one has ended', async () => {
    const form = (n: number) =>
      podOf('other', [shell('a', `trap "sleep 4; exit 0" TERM; echo up ${n}; while :; do sleep 0.1; done`)]);
    await node.write('other.json', form(1));
    const first = await node.waitPod('other', 'ready', isReady);
    await waitFor('its trap is set', async () => ((await node.log('other', 'a')).length > 0 ? true : undefined));
    const old = (await node.running('other'))['a'] ?? '';
    await node.remove('other.json');
    for (let n = 2; n <= 5; n++) await node.write('other.json', form(n));
    let most = 0;
    const second = await waitFor('the last form runs', async () => {
      const running = await node.running('other');
      const ids = (await node.containers('other')).filter((c) => c.running).map((c) => c.id);
      most = Math.max(most, ids.length);
      return running['a'] !== undefined && running['a'] !== old ? node.pod('other') : undefined;
    });
    assert.equal(most, 1, 'two at once');
    assert.notEqual(second.metadata?.uid, first.metadata?.uid);
    const pod = await node.waitPod('other', 'ready', isReady);
    assert.match(JSON.stringify(pod.spec), /echo up 5/);
    assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 0);
  });

  async function cgroupsOf(uid: string): Promise<string[]> {
    const out: string[] = [];
    for (const hierarchy of await cgroupHierarchies()) {
      for (const qos of ['', 'burstable', 'besteffort']) {
        const found = await readdir(join(hierarchy, node.cgroupRoot, 'kubepods', qos)).catch(() => []);
        out.push(...found.filter((f) => f.includes(uid)).map((f) => join(hierarchy, f)));
      }
    }
    return out;
  }
});
