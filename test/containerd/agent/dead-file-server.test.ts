import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePorts } from '../../../bin/demo-steps/free-ports.ts';
import { bench, manifest, running, until } from '../../simulated/agent/support/bench.ts';
import { mountDeadServer } from '../../tools/dead-server.ts';

const skip = process.getuid?.() !== 0 || !existsSync('/dev/fuse');

const mounts = (name: string) => ({ volumeMounts: [{ name, mountPath: '/data' }] });

test(
  'eight pods on a file server that never answers: other pods start, names are found, and all pages answer',
  { skip },
  async (t) => {
    const server = createServer((_, response) => response.end('ok'));
    await new Promise<void>((resolve) => server.listen(0, resolve));
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const [readOnlyPort = 0] = await freePorts(1);
    const b = await bench(t, { config: { readOnlyPort, address: '127.0.0.1', volumeStatsAggPeriod: 1000 } });
    const dead = join(b.dir, 'dead');
    await mkdir(dead);
    const ends = [(await mountDeadServer(dead)).end];
    try {
      const hostPath = (name: string) => ({ path: join(dead, name), type: 'Directory' });
      await b.put(
        'hang.yaml',
        ...Array.from({ length: 8 }, (_, n) =>
          manifest(`hang${n}`, { volumes: [{ name: 'v', hostPath: hostPath(`${n}`) }] }, mounts('v')),
        ),
      );
      await until(
        'eight pods that wait for their volumes',
        async () => (await b.agent.rows()).filter(({ state }) => state === 'syncing.mountingVolumes').length === 8,
      );
      const get = { host: 'localhost', port, path: '/' };
      await b.put(
        'goes.yaml',
        manifest(
          'goes',
          { volumes: [{ name: 'scratch', emptyDir: {} }] },
          { ...mounts('scratch'), readinessProbe: { httpGet: get } },
        ),
      );
      await running(b, 1, (name) => name === 'goes-node');
      // The same in a volume that is measured, as a container with Bidirectional propagation mounts it.
      const uid = (await b.agent.pods()).find((pod) => pod.metadata?.name === 'goes-node')?.metadata?.uid ?? '';
      const inner = join(b.dir, 'root/pods', uid, 'volumes/kubernetes.io~empty-dir/scratch/inner');
      await mkdir(inner);
      ends.unshift((await mountDeadServer(inner)).end);
      const page = async (path: string) => (await fetch(`http://127.0.0.1:${readOnlyPort}${path}`)).text();
      const summary = await until('the volume in the summary', async () => {
        const text = await page('/stats/summary');
        return text.includes('"scratch"') ? text : null;
      });
      assert.match(summary, /"nodeName": "node"/);
      assert.match(await page('/metrics/cadvisor'), /^machine_memory_bytes/m);
      assert.match(await page('/metrics'), /^kubelet_running_pods /m);
      // A pod that hangs ends when it is told to.
      await b.remove('hang.yaml');
      await until('the end of those that hang', async () => (await b.agent.tracked()) === 1);
    } finally {
      for (const end of ends) await end();
    }
  },
);
