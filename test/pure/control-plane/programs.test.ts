import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { findPrograms } from '../../../bin/control-plane/programs.ts';
import { readNodesDemoOptions } from '../../../bin/nodes-demo-steps/options.ts';

/** A folder with these files, which can be executed. */
async function place(t: TestContext, files: readonly string[]): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'programs-'));
  t.after(() => rm(dir, { recursive: true }));
  for (const file of files) {
    await mkdir(join(dir, file, '..'), { recursive: true });
    await writeFile(join(dir, file), '#!/bin/sh\n', { mode: 0o755 });
  }
  return dir;
}

test('a folder that is named comes before envtest, that before PATH, and last what was built, its newest version', async (t) => {
  const dir = await place(t, [
    ...['own/etcd', 'assets/etcd', 'assets/kube-apiserver', 'path/kube-apiserver', 'path/kube-scheduler'],
    ...['cache/tools/kube-controller-manager-1.9.0/kube-controller-manager'],
    ...['cache/tools/kube-controller-manager-1.35.4/kube-controller-manager', 'cache/tools/kubectl-1.35.4/kubectl'],
    'cache/tools/kube-scheduler-1.35.4/kube-scheduler',
  ]);
  const env = {
    ...{ KUBEBUILDER_ASSETS: join(dir, 'assets'), PATH: join(dir, 'path') },
    ACTORLET_CACHE: join(dir, 'cache'),
  };
  const { paths, missing } = await findPrograms(join(dir, 'own'), env);
  assert.deepEqual(missing, []);
  assert.equal(paths.get('etcd'), join(dir, 'own/etcd'));
  assert.equal(paths.get('kube-apiserver'), join(dir, 'assets/kube-apiserver'));
  assert.equal(paths.get('kube-scheduler'), join(dir, 'path/kube-scheduler'));
  const newest = 'cache/tools/kube-controller-manager-1.35.4/kube-controller-manager';
  assert.equal(paths.get('kube-controller-manager'), join(dir, newest));
});

test('what is nowhere, or cannot be executed, is missing; kubectl may be', async (t) => {
  const dir = await place(t, ['own/etcd', 'own/kube-apiserver', 'own/kube-scheduler']);
  await writeFile(join(dir, 'own/kube-controller-manager-of-ours'), '');
  await writeFile(join(dir, 'own/kube-controller-manager'), '', { mode: 0o644 });
  const env = { PATH: '/nowhere', ACTORLET_CACHE: join(dir, 'cache') };
  const { missing, folders } = await findPrograms(join(dir, 'own'), env);
  // A machine may have some of them where systems have programs.
  assert.ok(
    missing.every((name) => name === 'kube-controller-manager'),
    missing.join(),
  );
  assert.ok(folders.includes(join(dir, 'own')) && folders.includes(join(dir, 'cache/tools')));
});

test('numbers of the demo of nodes are whole and in bounds', () => {
  assert.deepEqual(readNodesDemoOptions(['--count', '5', '--pods', '7', '--timeout', '9']), {
    ...{ check: false, nodes: 5, pods: 7, address: '127.0.0.1', timeoutMs: 9_000 },
  });
  assert.equal(readNodesDemoOptions(['--pods', '0', '--run', 'make test']).run, 'make test');
  for (const [flag, value] of [
    ['--count', '0'],
    ['--pods', '1.5'],
    ['--timeout', 'soon'],
    ['--count', '10001'],
  ] as const)
    assert.throws(() => readNodesDemoOptions([flag, value]), {
      message: new RegExp(`^${flag} ${value.replace('.', '\\.')}: give a whole number from \\d to `),
    });
});
