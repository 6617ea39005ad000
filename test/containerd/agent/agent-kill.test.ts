import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { damagesBesideHoles } from '../../tools/journal-holes.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { isReady, restartsOf, statusOf } from './support/seen.ts';
import { PATIENT, RUNS, podOf, runs, shell } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';

const MAIN = fileURLToPath(new URL('../../../bin/actorlet.ts', import.meta.url));
const exec = promisify(execFile);

describe('an agent that ends and comes back', { concurrency: false }, () => {
  let clean: MachineState;
  let node: TestNode;
  before(async () => {
    clean = await machineState();
  });
  after(async () => {
    await assertNothingLeft(clean);
  });

  /** What the agents wrote about all their lives steps to the same states and effects. */
  async function replaysIdentical(): Promise<void> {
    const replayed = exec(process.execPath, [MAIN, 'replay', node.journalDir]);
    const { stdout, stderr } = await replayed.catch((error: unknown) => {
      const { code } = error as { code: number };
      // Something is missing: only where a busy disk was given up, and the agent killed before it could say so.
      assert.equal(code, 3, String(error));
      return error as { stdout: string; stderr: string };
    });
    assert.equal(stdout, 'identical\n', stderr);
    assert.deepEqual(damagesBesideHoles(stderr), []);
  }

  async function withNode(body: () => Promise<void>): Promise<void> {
    node = await TestNode.make();
    try {
      await body();
    } finally {
      await node.stop();
    }
  }

  /** Probes of all kinds, init containers, a sidecar, hooks: much to lose at any moment. */
  function richPod(name: string) {
    const probe = { exec: { command: ['true'] }, periodSeconds: 1, ...PATIENT };
    const init = (n: string) => shell(n, `echo ${n}; sleep 0.2`);
    return podOf(
      name,
      [
        runs('probed', { startupProbe: probe, livenessProbe: probe, readinessProbe: probe }),
        runs('hooked', {
          lifecycle: {
            postStart: { exec: { command: ['sh', '-c', 'sleep 0.2'] } },
            preStop: { exec: { command: ['sh', '-c', 'sleep 0.3'] } },
          },
          volumeMounts: [{ name: 'm', mountPath: '/m' }],
        }),
      ],
      {
        initContainers: [
          init('first'),
          shell('side', RUNS, { restartPolicy: 'Always', readinessProbe: probe }),
          init('second'),
        ],
        volumes: [{ name: 'm', emptyDir: { medium: 'Memory' } }],
      },
    );
  }

  it('killed at any moment while pods start: no container is made twice, no restart is counted', async () => {
    await withNode(async () => {
      const rounds = 5;
      await node.startAgent();
      for (let round = 0; round < rounds; round++) {
        const names = [`r${round}a`, `r${round}b`];
        for (const name of names) await node.write(`${name}.json`, richPod(name));
        // killed again and again, at moments that nobody chose, until the pods run
        for (let kills = 0; kills < 3; kills++) {
          await sleep(randomInt(20, 1_200));
          await node.agent.kill();
          await node.startAgent({ wait: kills === 2 });
        }
        for (const name of names) {
          const pod = await node.waitPod(name, 'ready', isReady);
          const told = await story(name);
          // A start that containerd itself refused or broke is a restart, and rare: the name of the first try is taken.
          if (/failed to create containerd task/.test(told + JSON.stringify(pod.status))) {
            assert.ok(
              Object.values(restartsOf(pod)).every((count) => count <= 1),
              told,
            );
            continue;
          }
          assert.deepEqual(restartsOf(pod), { first: 0, side: 0, second: 0, probed: 0, hooked: 0 }, told);
          const all = await node.containers(name);
          assert.deepEqual(
            all.map((c) => c.name).sort(),
            ['first', 'hooked', 'probed', 'second', 'side'],
            await story(name),
          );
          assert.ok(all.every((c) => c.attempt === 0));
        }
        // and once more while they run and while they are taken away
        const running = await Promise.all(names.map((n) => node.running(n)));
        await node.agent.kill();
        await node.startAgent();
        for (const [i, name] of names.entries()) {
          await node.waitPod(name, 'ready again', isReady);
          assert.deepEqual(await node.running(name), running[i]);
        }
        for (const name of names) await node.remove(`${name}.json`);
        await sleep(randomInt(0, 1_000));
        await node.agent.kill();
        await node.startAgent();
        await node.waitGone(...names);
      }
      await node.agent.terminate();
      await replaysIdentical();
    });

    async function story(name: string): Promise<string> {
      return `${JSON.stringify(await node.containers(name), null, 1)}\n${(await node.events(name)).join('\n')}`;
    }
  });

  it('away while a pod crashes and another is removed: the delay is kept, the pod is taken away', async () => {
    await withNode(async () => {
      await node.startAgent();
      const keep = join(node.rootDir, 'starts');
      await mkdir(keep);
      const script = 'cut -d" " -f1 /proc/uptime >> /keep/starts; exit 3';
      await node.write(
        'crash.json',
        podOf('crash', [shell('a', script, { volumeMounts: [{ name: 'keep', mountPath: '/keep' }] }), runs('b')], {
          volumes: [{ name: 'keep', hostPath: { path: keep } }],
        }),
      );
      await node.write('leaves.json', podOf('leaves', [runs('a')], { terminationGracePeriodSeconds: 2 }));
      await node.write('dies.json', podOf('dies', [runs('a')]));
      await node.waitPod('leaves', 'ready', isReady);
      await node.waitPod('dies', 'ready', isReady);
      await node.waitPod(
        'crash',
        'the 20 s delay',
        (p) => statusOf(p, 'a').state?.waiting?.message?.startsWith('back-off 20s') ?? false,
      );
      const before = await node.running('crash');
      const dead = (await node.containers('dies'))[0]?.id ?? '';

      await node.agent.kill();
      await node.remove('leaves.json');
      await node.containerd.cri.stopContainer(dead);
      await node.startAgent();
      const back = await node.waitPod(
        'crash',
        'its delay again',
        (p) => statusOf(p, 'a').state?.waiting?.reason === 'CrashLoopBackOff',
      );
      // on a busy machine the delay may have ended by itself; what comes after it is twice as long
      assert.match(statusOf(back, 'a').state?.waiting?.message ?? '', /^back-off (20s|40s|1m20s) /);
      await node.waitGone('leaves');
      const dies = await node.waitPod(
        'dies',
        'running again',
        (p) => isReady(p) && statusOf(p, 'a').restartCount === 1,
      );
      assert.notEqual((await node.running('dies'))['a'], dead);
      assert.ok(dies);

      // killed some more while it waits
      for (let i = 0; i < 3; i++) {
        await sleep(randomInt(100, 1_500));
        await node.agent.kill();
        await node.startAgent();
      }
      await node.waitPod(
        'crash',
        'restarted after its delay of 20 s',
        (p) => statusOf(p, 'a').restartCount >= 3 && statusOf(p, 'a').state?.waiting?.reason === 'CrashLoopBackOff',
      );
      // the first start, one without a delay, then after 10 s, 20 s ... whatever agent was there meanwhile
      const starts = (await readFile(join(keep, 'starts'), 'utf8')).trim().split('\n').map(Number);
      const pauses = starts.slice(1).map((at, i) => at - (starts[i] ?? 0));
      assert.ok(pauses.length >= 3, pauses.join(' '));
      for (const [i, pause] of pauses.slice(1).entries()) {
        assert.ok(pause >= 10 * 2 ** i, `pauses of ${pauses.join(', ')} s`);
      }
      assert.equal((await node.running('crash'))['b'], before['b']);
      await node.agent.terminate();
      await replaysIdentical();
    });
  });

  it('a manifest that comes back runs again, whatever an earlier agent remembers of its UID', async () => {
    await withNode(async () => {
      const slow = shell('a', 'trap "sleep 6; exit 0" TERM; while :; do sleep 0.1; done');
      const gone = podOf('gone', [runs('a')]);
      const ending = podOf('ending', [slow], { terminationGracePeriodSeconds: 20 });
      await node.startAgent();
      await node.write('gone.json', gone);
      await node.write('ending.json', ending);
      for (const name of ['gone', 'ending']) await node.waitPod(name, 'ready', isReady);
      await node.remove('gone.json');
      await node.waitGone('gone');
      await node.remove('ending.json');
      await waitFor('ending terminates', async () =>
        (await node.machineState('ending')).startsWith('terminating') ? true : undefined,
      );
      await node.agent.kill();
      await node.write('gone.json', gone);
      await node.write('ending.json', ending);
      await node.startAgent();
      for (const name of ['gone', 'ending']) {
        // Where a busy disk was given up, the next agent may not know that it was ending: its container ends first, and starts again.
        await waitFor(
          `${name} runs`,
          async () => {
            const runs = Object.keys(await node.running(name)).join(' ') === 'a';
            return runs && (await node.machineState(name)) === 'syncing.running' ? true : undefined;
          },
          () => node.agent.tail(),
        );
        assert.deepEqual(Object.keys(await node.running(name)), ['a']);
      }
      await node.agent.terminate();
      await replaysIdentical();
    });
  });

  it('keeps the containers at SIGTERM, ends with 0, and the next one takes them over', async () => {
    await withNode(async () => {
      await node.startAgent();
      await node.write('stays.json', richPod('stays'));
      await node.write(
        'grace.json',
        podOf('grace', [shell('a', 'trap "sleep 6; exit 0" TERM; while :; do sleep 0.1; done')], {
          terminationGracePeriodSeconds: 20,
        }),
      );
      await node.waitPod('stays', 'ready', isReady);
      await node.waitPod('grace', 'ready', isReady);
      const before = await node.running('stays');
      // one of the pods is being stopped meanwhile
      await node.remove('grace.json');
      await waitFor('grace terminates', async () =>
        (await node.machineState('grace')).startsWith('terminating') ? true : undefined,
      );
      assert.deepEqual(await node.agent.terminate(), { code: 0, signal: null });
      assert.deepEqual(await node.running('stays'), before);
      await sleep(500);
      assert.deepEqual(await node.running('stays'), before);

      await node.startAgent();
      const pod = await node.waitPod('stays', 'ready', isReady);
      assert.deepEqual(await node.running('stays'), before);
      assert.deepEqual(restartsOf(pod), { first: 0, side: 0, second: 0, probed: 0, hooked: 0 });
      await node.waitGone('grace');
      assert.deepEqual(await node.agent.terminate(), { code: 0, signal: null });
      await replaysIdentical();
    });
  });
});
