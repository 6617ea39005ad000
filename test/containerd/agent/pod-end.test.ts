import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { isReady, statusOf } from './support/seen.ts';
import { PATIENT, RUNS, podOf, runs, shell } from './support/test-pod.ts';
import type { ContainerWish } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';

describe('the end of a pod on a real node', { concurrency: 10 }, () => {
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

  /** A volume of the node into which containers write `WHAT SECONDS`, seconds since the machine began. */
  async function diary(pod: string) {
    const dir = join(node.rootDir, `diary-${pod}`);
    await mkdir(dir);
    const lines = async () => (await readFile(join(dir, 'lines'), 'utf8').catch(() => '')).trimEnd().split('\n');
    return {
      volumes: [{ name: 'diary', hostPath: { path: dir } }],
      mount: { volumeMounts: [{ name: 'diary', mountPath: '/diary' }] },
      lines: async () => (await lines()).map((line) => line.split(' ')[0] ?? ''),
      /** When `what` was written, s. */
      times: async (what: string) =>
        (await lines()).filter((line) => line.startsWith(`${what} `)).map((line) => Number(line.split(' ')[1])),
    };
  }
  const note = (what: string) => `read up rest < /proc/uptime; echo "${what} $up" >> /diary/lines`;
  const exec = (script: string) => ({ exec: { command: ['sh', '-c', script] } });

  /** Ignores SIGTERM, and has a preStop hook that never ends. */
  const stubborn = (name: string, mount: object, more: object = {}): ContainerWish =>
    shell(name, `trap '${note(`${name}-term`)}' TERM; echo up; while :; do sleep 0.1; done`, {
      lifecycle: { preStop: exec(`while :; do ${note(`${name}-hook`)}; sleep 0.1; done`) },
      ...mount,
      ...more,
    });

  it('a preStop hook that never ends goes on for two seconds after the SIGTERM, of sidecars too, and is told as failed', async () => {
    const book = await diary('endless');
    await node.write(
      'endless.json',
      podOf('endless', [stubborn('main', book.mount)], {
        terminationGracePeriodSeconds: 3,
        initContainers: ['one', 'two'].map((name) => stubborn(name, book.mount, { restartPolicy: 'Always' })),
        volumes: book.volumes,
      }),
    );
    await node.waitPod('endless', 'ready', isReady);
    for (const name of ['main', 'one', 'two'])
      await waitFor('its trap', async () => ((await node.log('endless', name)).includes('up') ? true : undefined));
    await node.remove('endless.json');
    await node.waitGone('endless');
    const begun: number[] = [];
    for (const name of ['main', 'one', 'two']) {
      const hook = await book.times(`${name}-hook`);
      const [term] = await book.times(`${name}-term`);
      const [first, last] = [hook[0], hook.at(-1)];
      assert.ok(first !== undefined && last !== undefined && term !== undefined, name);
      assert.ok(term - first >= 2.5, `${name} got SIGTERM ${term - first} s after its hook had begun`);
      assert.ok(last - term >= 1.5, `the hook of ${name} lived for ${last - term} s after the SIGTERM`);
      begun.push(term);
    }
    const events = await node.events('endless');
    assert.equal(events.filter((e) => e.startsWith('FailedPreStopHook: ')).length, 3, events.join('\n'));
  });

  it('while the last regular container is stopped for good, its sidecar is not restarted', async () => {
    const book = await diary('last');
    const preStop = exec(`${note('hook')}; while test ! -e /diary/go; do sleep 0.1; done`);
    const livenessProbe = {
      ...exec('test ! -e /diary/sick'),
      periodSeconds: 1,
      timeoutSeconds: PATIENT.timeoutSeconds,
      failureThreshold: 1,
    };
    await node.write(
      'last.json',
      podOf('last', [runs('main', { lifecycle: { preStop }, livenessProbe, ...book.mount })], {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 300,
        initContainers: [shell('side', `${note('side')}; ${RUNS}`, { restartPolicy: 'Always', ...book.mount })],
        volumes: book.volumes,
      }),
    );
    await node.waitPod('last', 'ready', isReady);
    const ids = await node.running('last');
    const inMain = async (script: string) => {
      const { code, out } = await node.containerd.cri.exec(ids['main'] ?? '', ['sh', '-c', script]);
      assert.equal(code, 0, out);
    };
    await inMain('touch /diary/sick');
    await waitFor('the hook', async () => ((await book.lines()).includes('hook') ? true : undefined));
    await node.containerd.cri.stopContainer(ids['side'] ?? '');
    await node.waitPod('last', 'the sidecar has ended', (p) => statusOf(p, 'side').state?.running === undefined);
    await inMain('touch /diary/go');
    const pod = await node.waitPod('last', 'ended', (p) => ['Failed', 'Succeeded'].includes(p.status?.phase ?? ''));
    assert.equal(statusOf(pod, 'side').restartCount, 0);
    assert.deepEqual(
      (await book.lines()).filter((line) => line === 'side'),
      ['side'],
    );
  });
});
