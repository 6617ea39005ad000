import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { conditionOf, isReady, restartsOf, statusOf } from './support/seen.ts';
import { PATIENT, RUNS, podOf, runs, shell } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';

describe('probes, hooks and sidecars on a real node', { concurrency: 10 }, () => {
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

  async function run(pod: string, container: string, script: string): Promise<void> {
    const id = (await node.running(pod))[container];
    assert.ok(id !== undefined, `${container} of ${pod} does not run`);
    const { code, out } = await node.containerd.cri.exec(id, ['sh', '-c', script]);
    assert.equal(code, 0, out);
  }

  /** The container's first process is told to end; whoever tells it may end with it. */
  async function end(pod: string, container: string): Promise<void> {
    const id = (await node.running(pod))[container];
    assert.ok(id !== undefined, `${container} of ${pod} does not run`);
    await node.containerd.cri.exec(id, ['sh', '-c', 'kill 1']);
  }

  /** A volume of the node into which containers write what must be seen after their end. */
  async function diary(
    pod: string,
  ): Promise<{ volumes: object[]; mount: { volumeMounts: object[] }; lines: () => Promise<string[]> }> {
    const dir = join(node.rootDir, `diary-${pod}`);
    await mkdir(dir);
    return {
      volumes: [{ name: 'diary', hostPath: { path: dir } }],
      mount: { volumeMounts: [{ name: 'diary', mountPath: '/diary' }] },
      lines: async () => (await readFile(join(dir, 'lines'), 'utf8')).trimEnd().split('\n'),
    };
  }

  const quick = { periodSeconds: 1, timeoutSeconds: PATIENT.timeoutSeconds, failureThreshold: 1 };

  it('readiness follows its probe up and down, and never restarts', async () => {
    const readinessProbe = { exec: { command: ['test', '-e', '/tmp/ready'] }, ...quick };
    await node.write('ready.json', podOf('ready', [runs('a', { readinessProbe }), runs('b')]));
    const first = await node.waitPod(
      'ready',
      'running, not ready',
      (p) => statusOf(p, 'a').started === true && statusOf(p, 'b').ready,
    );
    assert.deepEqual(
      [first.status?.phase, statusOf(first, 'a').ready, conditionOf(first, 'Ready')],
      ['Running', false, 'False'],
    );
    await run('ready', 'a', 'touch /tmp/ready');
    await node.waitPod('ready', 'ready', isReady);
    await run('ready', 'a', 'rm /tmp/ready');
    const again = await node.waitPod('ready', 'no longer ready', (p) => !isReady(p));
    assert.deepEqual(restartsOf(again), { a: 0, b: 0 });
    const events = await waitFor('its event', async () =>
      (await node.events('ready')).find((e) => e.startsWith('Unhealthy: Readiness probe failed')),
    );
    assert.ok(events);
  });

  it('httpGet and tcpSocket probes, by number and by name of the port', async () => {
    const server = 'mkdir -p /w; echo ok > /w/healthy; exec httpd -f -p 8080 -h /w';
    const ports = [{ name: 'web', containerPort: 8080 }];
    await node.write(
      'net.json',
      podOf('net', [
        shell('http', server, {
          ports,
          readinessProbe: { httpGet: { path: '/healthy', port: 'web' }, ...quick },
          // it takes a moment to listen
          startupProbe: { httpGet: { path: '/healthy', port: 8080 }, periodSeconds: 1, ...PATIENT },
          livenessProbe: { httpGet: { path: '/healthy', port: 8080 }, ...quick, failureThreshold: 2 },
        }),
        shell('tcp', 'while :; do nc -l -p 9090 </dev/null >/dev/null 2>&1; done', {
          readinessProbe: { tcpSocket: { port: 9090 }, periodSeconds: 1, failureThreshold: 5 },
        }),
        runs('closed', { readinessProbe: { tcpSocket: { port: 9999 }, ...quick } }),
        runs('absent', { readinessProbe: { httpGet: { path: '/nothing', port: 8080 }, ...quick } }),
      ]),
    );
    const pod = await node.waitPod('net', 'two ready', (p) => statusOf(p, 'http').ready && statusOf(p, 'tcp').ready);
    assert.deepEqual([statusOf(pod, 'closed').ready, statusOf(pod, 'absent').ready], [false, false]);
    const events = await waitFor(
      'events of the bad ones',
      async () => {
        const all = await node.events('net');
        const refused = all.find(
          (e) =>
            e.startsWith('Unhealthy: Readiness probe failed: dial tcp') &&
            e.includes(':9999: connect: connection refused'),
        );
        const missing = all.find(
          (e) => e === 'Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 404',
        );
        return refused && missing ? all : undefined;
      },
      async () => (await node.events('net')).join('\n'),
    );
    assert.ok(events.length > 0);
    // the page goes: the server is restarted, and only it
    await run('net', 'http', 'rm /w/healthy');
    const after = await node.waitPod(
      'net',
      'server restarted',
      (p) => statusOf(p, 'http').restartCount === 1 && statusOf(p, 'http').ready,
    );
    assert.deepEqual(restartsOf(after), { http: 1, tcp: 0, closed: 0, absent: 0 });
  });

  it('a failed liveness probe restarts its container within the grace period of the probe', async () => {
    const book = await diary('alive');
    const script = 'trap "echo term >> /diary/lines" TERM; while :; do sleep 0.1; done';
    const livenessProbe = {
      exec: { command: ['sh', '-c', 'test ! -e /tmp/sick || { echo "I am sick"; exit 1; }'] },
      ...quick,
      failureThreshold: 2,
      terminationGracePeriodSeconds: 5,
    };
    await node.write(
      'alive.json',
      podOf('alive', [shell('a', script, { livenessProbe, ...book.mount }), runs('b')], {
        // longer than anybody waits here
        terminationGracePeriodSeconds: 600,
        volumes: book.volumes,
      }),
    );
    await node.waitPod('alive', 'ready', isReady);
    const before = await node.running('alive');
    await run('alive', 'a', 'touch /tmp/sick');
    const pod = await node.waitPod('alive', 'restarted', (p) => statusOf(p, 'a').restartCount === 1 && isReady(p));
    assert.equal(statusOf(pod, 'a').lastState?.terminated?.exitCode, 137);
    assert.deepEqual(await book.lines(), ['term']);
    assert.equal((await node.running('alive'))['b'], before['b']);
    const events = await node.events('alive');
    assert.ok(
      events.some((e) => e.startsWith('Unhealthy: Liveness probe failed: I am sick')),
      events.join('\n'),
    );
    assert.ok(events.includes('Killing: Container a failed liveness probe, will be restarted'), events.join('\n'));
  });

  it('a startup probe holds the others back, and restarts what does not come up', async () => {
    const startupProbe = {
      exec: { command: ['test', '-e', '/tmp/up'] },
      periodSeconds: 1,
      ...PATIENT,
      failureThreshold: 90,
    };
    const livenessProbe = { exec: { command: ['test', '-e', '/tmp/up'] }, ...quick };
    await node.write('slow.json', podOf('slow', [runs('a', { startupProbe, livenessProbe })]));
    await node.write(
      'stuck.json',
      podOf('stuck', [runs('a', { startupProbe: { ...startupProbe, failureThreshold: 2 } })]),
    );
    const first = await node.waitPod(
      'slow',
      'running, not started',
      (p) => statusOf(p, 'a').state?.running !== undefined,
    );
    assert.equal(statusOf(first, 'a').started, false);
    await node.waitPod('stuck', 'restarted', (p) => statusOf(p, 'a').restartCount >= 1);
    assert.ok((await node.events('stuck')).includes('Killing: Container a failed startup probe, will be restarted'));
    const slow = await node.waitPod('slow', 'still waited for', (p) => statusOf(p, 'a').started === false);
    assert.deepEqual(restartsOf(slow), { a: 0 });
    await run('slow', 'a', 'touch /tmp/up');
    const up = await node.waitPod('slow', 'started and ready', (p) => isReady(p) && statusOf(p, 'a').started === true);
    assert.deepEqual(restartsOf(up), { a: 0 });
  });

  it('a container starts after the postStart hooks of those before it, also when one fails and after a restart', async () => {
    const book = await diary('order');
    const note = (what: string) => `echo ${what} >> /diary/lines`;
    const hook = (what: string) => ({
      lifecycle: { postStart: { exec: { command: ['sh', '-c', `sleep 2; ${what}`] } } },
    });
    const box = (name: string, more: Record<string, unknown> = {}) =>
      shell(name, `${note(name)}; ${RUNS}`, { ...more, ...book.mount });
    await node.write(
      'order.json',
      podOf(
        'order',
        [box('first', hook(note('first-hook'))), box('second', hook(`${note('second-hook')}; false`)), box('third')],
        {
          volumes: book.volumes,
          initContainers: [
            box('side', { restartPolicy: 'Always', ...hook(note('side-hook')) }),
            shell('init', note('init'), book.mount),
          ],
        },
      ),
    );
    await node.waitPod('order', 'third runs', (p) => statusOf(p, 'third').state?.running !== undefined);
    const order = ['side', 'side-hook', 'init', 'first', 'first-hook', 'second', 'second-hook', 'third'];
    assert.deepEqual((await book.lines()).slice(0, order.length), order);
    // the sidecar and the first one end in the same moment: the sidecar's hook comes first again
    const before = (await book.lines()).length;
    await Promise.all(['side', 'first'].map((name) => end('order', name)));
    const again = await waitFor('both again', async () => {
      const lines = (await book.lines()).slice(before).filter((line) => /^(side|first)/.test(line));
      return lines.includes('first-hook') ? lines : undefined;
    });
    assert.deepEqual(again, ['side', 'side-hook', 'first', 'first-hook']);
  });

  it('postStart comes before "started"; one that fails ends its container', async () => {
    const postStart = { exec: { command: ['sh', '-c', 'sleep 1; echo post >> /diary/lines'] } };
    const book = await diary('post');
    await node.write(
      'post.json',
      podOf('post', [runs('a', { lifecycle: { postStart }, ...book.mount })], { volumes: book.volumes }),
    );
    await node.write(
      'bad-post.json',
      podOf('bad-post', [runs('a', { lifecycle: { postStart: { exec: { command: ['false'] } } } })], {
        terminationGracePeriodSeconds: 2,
      }),
    );
    await node.write(
      'nap-post.json',
      podOf('nap-post', [runs('a', { lifecycle: { postStart: { sleep: { seconds: 1 } } } })]),
    );
    await node.waitPod('post', 'ready', (p) => {
      const { started } = statusOf(p, 'a');
      return started === true;
    });
    assert.deepEqual(await book.lines(), ['post']);
    await node.waitPod('bad-post', 'restarted', (p) => statusOf(p, 'a').restartCount >= 1);
    const events = await node.events('bad-post');
    assert.ok(
      events.some((e) => e.startsWith('FailedPostStartHook: ')),
      events.join('\n'),
    );
    await node.waitPod('nap-post', 'ready', isReady);
  });

  it('preStop comes before SIGTERM, and its time counts', async () => {
    const book = await diary('pre');
    const trap = (name: string) =>
      `trap "echo ${name}-term >> /diary/lines; exit 0" TERM; echo up; while :; do sleep 0.1; done`;
    const exec = {
      exec: { command: ['sh', '-c', 'echo hook >> /diary/lines; sleep 1; echo hook-end >> /diary/lines'] },
    };
    await node.write(
      'pre.json',
      podOf('pre', [shell('a', trap('a'), { lifecycle: { preStop: exec }, ...book.mount })], {
        terminationGracePeriodSeconds: 30,
        volumes: book.volumes,
      }),
    );
    const late = await diary('late');
    const endless = { exec: { command: ['sh', '-c', 'echo hook >> /diary/lines; sleep 1000'] } };
    await node.write(
      'late.json',
      podOf('late', [shell('a', trap('a'), { lifecycle: { preStop: endless }, ...late.mount })], {
        terminationGracePeriodSeconds: 6,
        volumes: late.volumes,
      }),
    );
    const nap = await diary('nap');
    await node.write(
      'nap.json',
      podOf('nap', [shell('a', trap('a'), { lifecycle: { preStop: { sleep: { seconds: 2 } } }, ...nap.mount })], {
        terminationGracePeriodSeconds: 30,
        volumes: nap.volumes,
      }),
    );
    for (const name of ['pre', 'late', 'nap']) {
      await node.waitPod(name, 'ready', isReady);
      await waitFor('its trap', async () => ((await node.log(name, 'a')).includes('up') ? true : undefined));
    }
    for (const name of ['pre', 'late', 'nap']) await node.remove(`${name}.json`);
    await node.waitGone('pre', 'late', 'nap');
    assert.deepEqual(await book.lines(), ['hook', 'hook-end', 'a-term']);
    assert.deepEqual(await late.lines(), ['hook', 'a-term']);
    assert.deepEqual(await nap.lines(), ['a-term']);
  });

  it('sidecars start before and end after the others, the last one first', async () => {
    const book = await diary('side');
    const says = (name: string, takes: number) =>
      shell(
        name,
        `echo ${name} >> /diary/lines; trap "echo ${name}-term >> /diary/lines; sleep ${takes}; echo ${name}-end >> /diary/lines; exit 0" TERM; echo up; while :; do sleep 0.1; done`,
        book.mount,
      );
    await node.write(
      'side.json',
      podOf('side', [says('main', 1.5)], {
        terminationGracePeriodSeconds: 30,
        initContainers: [
          {
            ...says('one', 0.5),
            restartPolicy: 'Always',
            startupProbe: { exec: { command: ['test', '-e', '/diary/lines'] }, periodSeconds: 1, ...PATIENT },
          },
          shell('init', 'echo init >> /diary/lines', book.mount),
          {
            ...says('two', 0.5),
            restartPolicy: 'Always',
            // what follows it may not be quicker to write its line
            startupProbe: { exec: { command: ['grep', '-q', 'two', '/diary/lines'] }, periodSeconds: 1, ...PATIENT },
          },
        ],
        volumes: book.volumes,
      }),
    );
    const pod = await node.waitPod('side', 'ready', isReady);
    assert.deepEqual(
      pod.status?.initContainerStatuses?.map((c) => [c.name, c.ready, c.started]),
      [
        ['one', true, true],
        ['init', true, false],
        ['two', true, true],
      ],
    );
    for (const name of ['one', 'two', 'main'])
      await waitFor('its trap', async () => ((await node.log('side', name)).includes('up') ? true : undefined));
    await node.remove('side.json');
    await node.waitGone('side');
    assert.deepEqual(await book.lines(), [
      'one',
      'init',
      'two',
      'main',
      'main-term',
      'main-end',
      'two-term',
      'two-end',
      'one-term',
      'one-end',
    ]);
  });

  it('a sidecar that dies is restarted; one that lives keeps no finished pod', async () => {
    const side = shell('side', RUNS, { restartPolicy: 'Always' });
    await node.write('side-dies.json', podOf('side-dies', [runs('a')], { initContainers: [side] }));
    await node.write(
      'side-job.json',
      podOf('side-job', [shell('a', 'sleep 1; exit 0')], { restartPolicy: 'Never', initContainers: [side] }),
    );
    await node.waitPod('side-dies', 'ready', isReady);
    const before = await node.running('side-dies');
    await node.containerd.cri.stopContainer(before['side'] ?? '');
    await node.waitPod('side-dies', 'sidecar restarted', (p) => isReady(p) && statusOf(p, 'side').restartCount === 1);
    const now = await node.running('side-dies');
    assert.equal(now['a'], before['a']);
    assert.notEqual(now['side'], before['side']);
    const job = await node.waitPod('side-job', 'Succeeded', (p) => p.status?.phase === 'Succeeded');
    assert.equal(statusOf(job, 'a').state?.terminated?.exitCode, 0);
    assert.deepEqual(await node.running('side-job'), {});
  });
});
