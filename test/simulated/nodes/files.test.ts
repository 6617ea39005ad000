import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { mountsBelow } from '../../../cri/private-containerd/mount-points.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { StandInApi } from '../../tools/stand-in-api.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { startedNode } from './support/started-node.ts';

/** A tmpfs is mounted, and files get owners. */
const skip = process.getuid?.() !== 0;

/** A node whose containers play their commands on real files, over a stand-in for the API server. */
async function started(t: TestContext) {
  const api = new StandInApi();
  const { fleet, node, dir } = await startedNode(t, {
    api,
    profile: {
      groups: [{ name: 'n' }],
      runtime: { containers: [{ match: {}, attempts: [{ plays: true }] }] },
      files: true,
    },
  });
  const pod = (name: string) => api.get('pods', name, 'd') as Pod | undefined;
  const become = (name: string, phase: string) =>
    waitFor(`${name} to be ${phase}`, () => {
      const found = pod(name);
      return Promise.resolve(found?.status?.phase === phase ? found : undefined);
    });
  return { api, fleet, node, pod, become, rootDir: join(dir, 'nodes/n-0') };
}

/** The configMap that the pods show. */
function put(api: StandInApi): void {
  const map = { metadata: { name: 'm', namespace: 'd' }, data: { key: 'value' } };
  api.put('configmaps', map);
}

function podOf(name: string, script: string, more: object = {}) {
  return {
    metadata: { name, namespace: 'd' },
    spec: {
      ...more,
      ...{ nodeName: 'n-0', restartPolicy: 'Never', enableServiceLinks: false, terminationGracePeriodSeconds: 1 },
      securityContext: { fsGroup: 1234 },
      containers: [
        {
          ...{ name: 'c', image: 'app:1', command: ['sh', '-c', script] },
          ...{ terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' },
          volumeMounts: [
            { name: 'conf', mountPath: '/conf' },
            { name: 'mem', mountPath: '/mem' },
            { name: 'host', mountPath: '/host' },
            { name: 'mem', mountPath: '/part', subPath: 'a/b' },
          ],
        },
      ],
      volumes: [
        { name: 'conf', configMap: { name: 'm', defaultMode: 0o400 } },
        { name: 'mem', emptyDir: { medium: 'Memory' } },
        { name: 'host', hostPath: { path: '/tmp', type: '' } },
      ],
    },
  };
}

test(
  'volumes, subPaths, hosts files and messages of a node with files are real, and none is of this machine',
  { skip },
  async (t) => {
    const { api, pod, become, rootDir } = await started(t);
    put(api);
    api.put('pods', podOf('a', 'echo in > /part/f; cat /mem/a/b/f > /host/f; sleep 3600'));
    const written = await waitFor('the container to write', () =>
      readFile(join(rootDir, 'hosts/tmp/f'), 'utf8').catch(() => undefined),
    );
    assert.equal(written, 'in\n');
    assert.equal((await stat(join(rootDir, 'hosts/tmp'))).mode & 0o7777, 0o1777);
    const [uid = ''] = await readdir(join(rootDir, 'pods'));
    const folder = join(rootDir, 'pods', uid);
    const key = await stat(join(folder, 'volumes/kubernetes.io~configmap/conf/key'));
    assert.deepEqual([key.gid, key.mode & 0o777], [1234, 0o440]);
    assert.match(await readFile(join(folder, 'etc-hosts'), 'utf8'), /^127\.0\.0\.1\tlocalhost/m);
    api.put('pods', podOf('b', 'cat /conf/key > /dev/termination-log'));
    const ended = await become('b', 'Succeeded');
    assert.equal(ended.status?.containerStatuses?.[0]?.state?.terminated?.message, 'value');
    // On the network of the node a pod has the node's hosts file, with a word about it.
    api.put('pods', podOf('h', 'cat /etc/hosts > /dev/termination-log', { hostNetwork: true }));
    const onHost = await become('h', 'Succeeded');
    const hosts = await readFile(join(rootDir, 'hosts/etc/hosts'), 'utf8');
    const given = onHost.status?.containerStatuses?.[0]?.state?.terminated?.message ?? '';
    assert.ok(given.endsWith(hosts), given);
    for (const name of ['a', 'b', 'h']) api.end(name, 'd');
    await waitFor('nothing of them to be left', async () => {
      const left = await readdir(join(rootDir, 'pods'));
      return pod('a') === undefined && pod('h') === undefined && left.length === 0 ? true : undefined;
    });
    assert.deepEqual(await mountsBelow(rootDir), []);
  },
);

test(
  'what is in memory is gone with the power, what is on the disk is not; a fleet that ends leaves neither',
  { skip },
  async (t) => {
    const { api, fleet, node, become, rootDir } = await started(t);
    put(api);
    api.put('pods', podOf('a', 'sleep 3600'));
    await become('a', 'Running');
    assert.ok((await mountsBelow(rootDir)).length > 0);
    await writeFile(join(rootDir, 'hosts/tmp/kept'), '');
    await node.die();
    assert.deepEqual(await mountsBelow(rootDir), []);
    await stat(join(rootDir, 'hosts/tmp/kept'));
    await fleet.stop(false);
    assert.deepEqual(
      (await readdir(rootDir)).filter((name) => name === 'pods' || name === 'hosts'),
      [],
    );
  },
);
