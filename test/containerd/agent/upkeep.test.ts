import assert from 'node:assert/strict';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { RuntimeServiceService, ContainerConfig } from '../../../cri/generated/runtime/v1/api.ts';
import { BUSYBOX_IMAGE } from '../../../cri/private-containerd/own-images.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { isReady } from './support/seen.ts';
import { podOf, runs, shell } from './support/test-pod.ts';
import { NODE_NAME, TestNode } from './support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';

describe('upkeep of a real node', { concurrency: 4 }, () => {
  let clean: MachineState;
  let node: TestNode;
  let server: Server;
  /** What the URL source serves; null while it is out of order. */
  let served: object | null = null;
  const asked: string[] = [];
  before(async () => {
    clean = await machineState();
    server = createServer((request, reply) => {
      asked.push(String(request.headers['x-token']));
      if (served === null) reply.writeHead(503).end();
      else reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(served));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    node = await TestNode.make({
      config: {
        staticPodURL: `http://127.0.0.1:${port}/pods`,
        staticPodURLHeader: { 'X-Token': ['open-sesame'] },
        httpCheckFrequency: '1s',
        containerLogMaxSize: '20Ki',
        containerLogMaxFiles: 3,
        containerLogMonitorInterval: '3s',
      },
    });
    await node.startAgent();
  });
  after(async () => {
    await node.stop();
    await new Promise((resolve) => server.close(resolve));
    await assertNothingLeft(clean);
  });

  it('removes pods that no source names, once every source has spoken, and no other container', async () => {
    const { cri } = node.containerd;
    const labels = {
      'io.kubernetes.pod.name': 'lost',
      'io.kubernetes.pod.namespace': 'default',
      'io.kubernetes.pod.uid': 'lost-uid',
    };
    const lost = await cri.runSandbox({
      name: 'lost',
      uid: 'lost-uid',
      labels,
      cgroupParent: `${node.cgroupRoot}/kubepods/podlost-uid`,
    });
    const created = await cri.call(RuntimeServiceService.createContainer, {
      podSandboxId: lost.id,
      sandboxConfig: lost.config,
      config: ContainerConfig.fromPartial({
        metadata: { name: 'c', attempt: 0 },
        image: { image: BUSYBOX_IMAGE },
        command: ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 0.1; done'],
        labels: { ...labels, 'io.kubernetes.container.name': 'c' },
        annotations: { 'io.kubernetes.pod.terminationGracePeriod': '3' },
        linux: { resources: {}, securityContext: { namespaceOptions: { network: 0, pid: 1, ipc: 0 } } },
      }),
    });
    await cri.call(RuntimeServiceService.startContainer, { containerId: created.containerId });
    const foreign = await cri.runSandbox({ name: 'foreign' });
    const foreignId = await cri.runContainer(foreign, 'c', ['sleep', '100000']);

    // a pod of the source that speaks runs meanwhile; nothing is taken away
    await node.write('early.json', podOf('early', [runs('a')]));
    await node.waitPod('early', 'ready', isReady);
    // Nothing is taken away: four relists.
    await sleep(4_000);
    assert.ok((await node.containers()).some((c) => c.id === created.containerId && c.running));

    served = { apiVersion: 'v1', kind: 'PodList', items: [podOf('from-url', [runs('a')])] };
    await waitFor(
      'the end of the lost pod',
      async () => ((await node.sandboxes()).some((s) => s.id === lost.id) ? undefined : true),
      () => node.agent.tail(),
    );
    assert.ok(!(await node.containers()).some((c) => c.id === created.containerId));
    await node.waitPod('from-url', 'ready', isReady);
    assert.ok(asked.every((token) => token === 'open-sesame'));
    // an answer that fails changes nothing; a list without the pod ends it
    const running = await node.running('from-url');
    served = null;
    const before = asked.length;
    await waitFor('more questions', () => (asked.length > before + 2 ? true : undefined));
    assert.deepEqual(await node.running('from-url'), running);
    served = { apiVersion: 'v1', kind: 'PodList', items: [] };
    await node.waitGone('from-url');

    assert.ok((await node.containers()).some((c) => c.id === foreignId && c.running));
    assert.ok((await node.running('early'))['a']);
    await cri.removeSandbox(foreign.id);
  });

  it('rotates logs by size, keeps so many, and loses no line', async () => {
    // 100 bytes a line, some 20 KB a second
    const script =
      'i=0; while :; do for k in 1 2 3 4 5 6 7 8 9 10; do i=$((i+1)); printf "%08d %091d\\n" $i 0; done; sleep 0.05; done';
    await node.write('talks.json', podOf('talks', [shell('a', script)], { terminationGracePeriodSeconds: 15 }));
    const pod = await node.waitPod('talks', 'ready', isReady);
    const before = await node.running('talks');
    const dir = join(node.podLogs, `default_talks-${NODE_NAME}_${pod.metadata?.uid ?? ''}`, 'a');
    const parts = await waitFor(
      'rotated logs, one of them compressed',
      async () => {
        const names = (await readdir(dir)).sort();
        return names.length === 3 && names.some((n) => n.endsWith('.gz')) ? names : undefined;
      },
      async () => (await readdir(dir)).join(' '),
    );
    assert.ok(parts.includes('0.log'), parts.join(' '));
    assert.ok(
      parts.every((n) => /^0\.log(\.\d{8}-\d{6}(\.gz)?)?$/.test(n)),
      parts.join(' '),
    );
    await node.remove('talks.json');
    await waitFor('it terminates', async () =>
      (await node.machineState('talks')).startsWith('terminating') ? true : undefined,
    );
    const numbers: number[] = [];
    const names = (await readdir(dir)).filter((n) => n !== '0.log' && !n.endsWith('.tmp')).sort();
    for (const name of names) {
      // a part that has just been compressed stands there twice
      if (names.includes(`${name}.gz`)) continue;
      const raw = await readFile(join(dir, name)).catch(() => null);
      if (raw === null) continue;
      const text = (name.endsWith('.gz') ? gunzipSync(raw) : raw).toString('utf8');
      for (const line of text.split('\n')) if (line !== '') numbers.push(Number(line.split(' ')[3]));
    }
    const gaps = numbers.slice(1).filter((n, i) => n !== (numbers[i] ?? 0) + 1);
    assert.deepEqual(gaps, [], 'lines that were lost between the parts');
    assert.ok(numbers.length > 100);
    assert.equal(Object.keys(before).length, 1);
    await node.waitGone('talks');
  });

  it('tells when the machine lacks memory, and not when a pod does', async () => {
    const events = async () =>
      (await readFile(node.agent.logFile, 'utf8')).split('\n').filter((line) => line.includes('SystemOOM'));
    const limits = { resources: { limits: { memory: '20Mi' } } };
    await node.write(
      'greedy.json',
      podOf('greedy', [shell('a', 'tail /dev/zero', limits)], { restartPolicy: 'Never' }),
    );
    // By its exit code: containerd's word that it was for want of memory may come after the exit, and the reason is `Error` then.
    await node.waitPod('greedy', 'killed', (pod) =>
      JSON.stringify(pod.status?.containerStatuses ?? []).includes('"exitCode":137'),
    );
    // The machine cannot be made to lack memory without harm to others: its log is told that it does, by a process that never was.
    const pid = 1_000_000_000 + process.pid;
    for (const line of [
      'actorlet-test invoked oom-killer: gfp_mask=0x140cca, order=0, oom_score_adj=0',
      `oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/,task=actorlet-test,pid=${pid},uid=0`,
      `Out of memory: Killed process ${pid} (actorlet-test) total-vm:1kB, anon-rss:0kB, UID:0`,
    ])
      await writeFile('/dev/kmsg', line);
    const told = `System OOM encountered, victim process: actorlet-test, pid: ${pid}`;
    await waitFor('the event', async () => (await events()).find((line) => line.includes(told)));
    assert.deepEqual(
      (await events()).filter((line) => line.includes('victim process: tail')),
      [],
    );
    await node.remove('greedy.json');
    await node.waitGone('greedy');
  });
});
