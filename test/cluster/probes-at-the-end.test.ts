import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { PATIENT, runs, shell } from '../containerd/agent/support/test-pod.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Pod } from './support/api-objects.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { apiPod } from './support/manifests.ts';

const NODE = 'alpha';
const cluster = withCluster({ nodes: [{ name: NODE }] });

/** A folder of the node into which containers write a line each time. */
async function diary(pod: string) {
  const dir = join(cluster.node(NODE).dir, `diary-${pod}`);
  await mkdir(dir);
  const lines = async () => (await readFile(join(dir, 'lines'), 'utf8').catch(() => '')).trimEnd().split('\n');
  return {
    volumes: [{ name: 'diary', hostPath: { path: dir } }],
    mount: { volumeMounts: [{ name: 'diary', mountPath: '/diary' }] },
    /** Waits until it has all of these. */
    has: (...wanted: string[]) =>
      waitFor(wanted.join(), async () => {
        const all = await lines();
        return wanted.every((each) => all.includes(each)) ? true : undefined;
      }),
    /** How often each line was written between the first of these two and the second. */
    between: async (from: string, to: string) => {
      const all = await lines();
      const count: Record<string, number> = {};
      for (const line of all.slice(all.indexOf(from) + 1, all.indexOf(to))) count[line] = (count[line] ?? 0) + 1;
      return count;
    },
  };
}

const note = (what: string) => `echo ${what} >> /diary/lines`;
const exec = (script: string) => ({ exec: { command: ['sh', '-c', script] } });
/** Asked over HTTP: kubelet 1.35 runs no commands for probes of a pod that ends (the context of its worker is over by then). */
const probe = (port: number, what: string) => ({
  httpGet: { path: `/cgi-bin/note?${what}`, port },
  periodSeconds: 1,
  ...PATIENT,
});
/** Notes by which probe it is asked; a startup probe is told no. */
const ANSWER = [
  '#!/bin/sh',
  'echo "$QUERY_STRING" >> /diary/lines',
  'case "$QUERY_STRING" in *-start) echo "Status: 503 Not yet";; esac',
  'echo "Content-Type: text/plain"',
  'echo',
].join('\n');
const probed = (name: string, port: number, mount: object, more: object = {}) =>
  shell(
    name,
    `mkdir -p /w/cgi-bin; cat > /w/cgi-bin/note <<'END'\n${ANSWER}\nEND\nchmod +x /w/cgi-bin/note; httpd -f -p ${port} -h /w & trap "kill $!; exit 0" TERM; wait $!`,
    { livenessProbe: probe(port, `${name}-live`), readinessProbe: probe(port, `${name}-ready`), ...mount, ...more },
  );
const slowEnd = { lifecycle: { preStop: exec(`${note('hook')}; sleep 5; ${note('hook-end')}`) } };
const quick = { ...PATIENT, periodSeconds: 1, failureThreshold: 1 };

// These mostly wait, each in a namespace of its own.
describe('probes while a pod ends', { concurrency: true }, () => {
  test('deleted: sidecars are probed on, regular containers for readiness only; what had not started has not by that', async () => {
    const space = await cluster.space('deleted');
    const book = await diary('deleted');
    const pod = apiPod(
      'p',
      [
        probed('main', 8081, book.mount, slowEnd),
        probed('unstarted', 8083, book.mount, {
          startupProbe: probe(8083, 'unstarted-start'),
          lifecycle: { preStop: exec('sleep 8') },
        }),
      ],
      {
        terminationGracePeriodSeconds: 60,
        initContainers: [probed('side', 8082, book.mount, { restartPolicy: 'Always' })],
        volumes: book.volumes,
      },
    );
    const made = await space.create<Pod>(pod);
    await book.has('main-live', 'main-ready', 'side-live', 'side-ready', 'unstarted-start');
    await space.remove('Pod', 'p');
    await book.has('hook');
    const shown = await space.waitPod('p', 'is being deleted', (p) => p.metadata?.deletionTimestamp !== undefined);
    await book.has('hook-end');
    const late = (await space.pod('p')) ?? shown;
    for (const { status } of [shown, late]) {
      const unstarted = status?.containerStatuses?.find(({ name }) => name === 'unstarted');
      assert.deepEqual([unstarted?.started, unstarted?.ready], [false, false]);
    }
    const count = await book.between('hook', 'hook-end');
    const often = (what: string) => count[what] ?? 0;
    assert.ok(often('side-live') >= 2 && often('side-ready') >= 2 && often('main-ready') >= 2, JSON.stringify(count));
    // One that was under way may be written late.
    assert.ok(often('main-live') <= 1 && often('unstarted-start') <= 1, JSON.stringify(count));
    assert.equal(often('unstarted-ready') + often('unstarted-live'), 0, JSON.stringify(count));
    await space.waitGone(made);
  });

  test('over its deadline: nothing is probed any more', async () => {
    const space = await cluster.space('deadline');
    const book = await diary('deadline');
    const pod = apiPod('p', [probed('main', 8081, book.mount, slowEnd)], {
      activeDeadlineSeconds: 20,
      terminationGracePeriodSeconds: 60,
      initContainers: [probed('side', 8082, book.mount, { restartPolicy: 'Always' })],
      volumes: book.volumes,
    });
    await space.create(pod);
    await book.has('side-live', 'hook-end');
    const count = await book.between('hook', 'hook-end');
    // Each probe may be at its last run when the hook begins.
    for (const [what, often] of Object.entries(count)) assert.ok(often <= 1, `${what}: ${JSON.stringify(count)}`);
  });

  test('its work is done: its sidecars are probed until they have ended', async () => {
    const space = await cluster.space('done');
    const book = await diary('done');
    const main = shell('main', 'until grep -q side-live /diary/lines; do sleep 0.1; done', book.mount);
    const pod = apiPod('p', [main], {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 60,
      initContainers: [probed('side', 8082, book.mount, { restartPolicy: 'Always', ...slowEnd })],
      volumes: book.volumes,
    });
    await space.create(pod);
    await book.has('hook-end');
    const count = await book.between('hook', 'hook-end');
    assert.ok((count['side-live'] ?? 0) >= 2 && (count['side-ready'] ?? 0) >= 2, JSON.stringify(count));
    await space.waitPod('p', 'Succeeded', ({ status }) => status?.phase === 'Succeeded');
  });

  test('the last regular container is stopped for good by its probe: its sidecar is not restarted meanwhile', async () => {
    const space = await cluster.space('last');
    const book = await diary('last');
    const preStop = exec(`${note('hook')}; sleep 20; ${note('hook-end')}`);
    const main = runs('main', {
      lifecycle: { preStop },
      livenessProbe: { ...exec('! grep -q sick /diary/lines'), ...quick },
      ...book.mount,
    });
    // It ends soon after the other has fallen sick.
    const side = shell('side', `${note('side')}; sleep 6; ${note('sick')}; sleep 8; exit 1`, {
      restartPolicy: 'Always',
      ...book.mount,
    });
    await space.create(
      apiPod('p', [main], {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 120,
        initContainers: [side],
        volumes: book.volumes,
      }),
    );
    await book.has('hook-end');
    assert.deepEqual(await book.between('hook', 'hook-end'), {});
    const pod = await space.waitPod('p', 'ended', ({ status }) =>
      ['Succeeded', 'Failed'].includes(status?.phase ?? ''),
    );
    assert.equal(pod.status?.initContainerStatuses?.[0]?.restartCount, 0);
  });
});
