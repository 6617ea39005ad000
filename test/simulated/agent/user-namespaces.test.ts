import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { UserNamespaces } from '../../../actors/host/userns/user-namespaces.ts';
import { bench, containerOf, manifest, running, until } from './support/bench.ts';

const OWN_USERS = { hostUsers: false, volumes: [{ name: 'v', emptyDir: {} }] };
const MOUNTS = { volumeMounts: [{ name: 'v', mountPath: '/v' }] };

test('pods with users of their own get blocks of ids, in sandbox, containers and mounts, and keep them', async (t) => {
  const b = await bench(t);
  await b.put('p.yaml', manifest('one', OWN_USERS, MOUNTS), manifest('two', OWN_USERS), manifest('node', {}));
  await running(b, 3);
  const optionsOf = (name: string) => {
    const container = containerOf(b.sim, name);
    const sandbox = container?.sandbox;
    const of = (config: typeof sandbox | typeof container) =>
      config?.config.linux?.securityContext?.namespaceOptions?.usernsOptions;
    assert.deepEqual(of(container), of(sandbox), name);
    return of(sandbox);
  };
  const ids = (hostId: number) => [{ hostId, containerId: 0, length: 65_536 }];
  const first = [optionsOf('one'), optionsOf('two')].map((options) => {
    assert.equal(options?.mode, 0);
    assert.deepEqual(options?.uids, options?.gids);
    return options?.uids[0]?.hostId ?? 0;
  });
  assert.deepEqual(
    first.toSorted((x, y) => x - y),
    [65_536, 131_072],
  );
  assert.equal(optionsOf('node'), undefined);
  const [one = 0] = first;
  for (const mount of containerOf(b.sim, 'one')?.config.mounts ?? [])
    assert.deepEqual([mount.uidMappings, mount.gidMappings], [ids(one), ids(one)], mount.containerPath);
  const pods = join(b.dir, 'root', 'pods');
  const files = async () => {
    const found: string[] = [];
    for (const uid of await readdir(pods))
      found.push(await readFile(join(pods, uid, 'userns'), 'utf8').catch(() => ''));
    return found.filter((text) => text !== '').sort();
  };
  const before = await files();
  assert.equal(before.length, 2);

  // Another agent gives the next pod the third block, and a new container of the first pod its old one.
  await b.agent.kill();
  await b.restart();
  await b.put('q.yaml', manifest('three', OWN_USERS));
  await running(b, 4);
  assert.equal(optionsOf('three')?.uids[0]?.hostId, 196_608);
  b.sim.exitContainer(containerOf(b.sim, 'one')?.id ?? '', 1);
  await until('a new container', () => containerOf(b.sim, 'one')?.config.metadata?.attempt === 1, { agent: b.agent });
  assert.deepEqual(optionsOf('one')?.uids, ids(one));

  // What a pod held is free after it.
  await b.remove('p.yaml');
  await until('their end', async () => (await b.agent.tracked()) === 1);
  await b.put('r.yaml', manifest('four', OWN_USERS));
  await running(b, 2);
  assert.equal(optionsOf('four')?.uids[0]?.hostId, 65_536);
});

test('a runtime whose handler has no user namespaces: the pod is told, and gets no sandbox', async (t) => {
  const handlers = [{ name: '', recursiveReadOnlyMounts: true, userNamespaces: false }];
  const b = await bench(t, { script: { runtime: { handlers } } });
  await b.put('p.yaml', manifest('p', OWN_USERS));
  const text =
    "Failed to create pod sandbox: can't set `spec.hostUsers: false`, runtime does not support user namespaces";
  await until('the event', async () => (await b.agent.events()).some((e) => e.message === text), { agent: b.agent });
  assert.equal(b.sim.state.sandboxes.size, 0);
});

test('the allocation is rebuilt from the files of pods, and refuses what is not as kubelet writes it', async (t) => {
  const rootDir = mkdtempSync(join(tmpdir(), 'actorlet-userns-'));
  t.after(() => rmSync(rootDir, { recursive: true, force: true }));
  const open = (more: object = {}) =>
    UserNamespaces.open({
      rootDir,
      enabled: true,
      range: { first: 65_536, length: 4 * 65_536 },
      idsPerPod: 65_536,
      maxPods: 4,
      handlers: () =>
        Promise.resolve(
          new Map([
            ['', true],
            ['old', false],
          ]),
        ),
      ...more,
    });
  const first = await open();
  // Asked twice at once, the pod has one block.
  const [a, again] = await Promise.all([first.get('a', ''), first.get('a', null)]);
  assert.deepEqual(
    [a, again],
    [
      { hostId: 65_536, length: 65_536 },
      { hostId: 65_536, length: 65_536 },
    ],
  );
  assert.equal((await (await open()).get('b', '')).hostId, 131_072);
  for (const [handler, text] of [
    ['old', /RuntimeClass handler "old" does not support user namespaces$/],
    ['other', /does not support user namespaces: the handler "other" is not known$/],
  ] as const)
    await assert.rejects(first.get('c', handler), { code: 'EUSERNS', message: text });
  await assert.rejects(
    (await open({ handlers: () => Promise.resolve(null) })).get('c', ''),
    /runtime does not support/,
  );
  await assert.rejects(
    (await open({ enabled: false })).get('c', ''),
    /feature gate "UserNamespacesSupport" is disabled/,
  );
  await mkdir(join(rootDir, 'pods', 'z'));
  await writeFile(join(rootDir, 'pods', 'z', 'userns'), '{}');
  await assert.rejects(open(), /invalid user namespace mappings file/);
});
