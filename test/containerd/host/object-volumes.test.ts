import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readFile, readdir, readlink, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { hostEffects } from '../../../actors/host/effects/host-effects.ts';
import type { HostSettings } from '../../../actors/host/files/host-settings.ts';
import { mountsIn } from '../../../actors/host/files/mounts.ts';
import type { VolumeOwner, VolumeSetup } from '../../../machines/protocol/effects.ts';
import { AskedObjects, OWNER, POD, mode, prepareSub, withRoot } from './with-root.ts';

const skip = process.getuid?.() !== 0;
const run = promisify(execFile);

const setUp = (settings: HostSettings, volumes: VolumeSetup[], more: { fsGroup?: number; owner?: VolumeOwner } = {}) =>
  hostEffects['host.SetUpVolumes']({ podUid: POD, owner: OWNER, volumes, ...more }, settings);

/** Files of a volume as a reader sees them, by path. */
async function contents(dir: string): Promise<Record<string, string>> {
  const out: Record<string, string> = {};
  const entries = await readdir(join(dir, '..data'), { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name).slice(join(dir, '..data').length + 1);
    out[path] = await readFile(join(dir, path), 'utf8');
  }
  return out;
}

test('configMap: on disk, all keys or items, binary values, modes, fsGroup', { skip }, async () => {
  await withRoot(async ({ settings, pod }) => {
    const main = new AskedObjects();
    main.put('configMap/conf', { a: '1', b: '2' }, { raw: Buffer.from([0, 255, 7]).toString('base64') });
    const volumes: VolumeSetup[] = [
      { name: 'all', kind: 'configMap', object: 'conf', optional: false, defaultMode: 0o644 },
      {
        name: 'some',
        kind: 'configMap',
        object: 'conf',
        optional: true,
        defaultMode: 0o400,
        items: [
          { key: 'a', path: 'deep/er/a' },
          { key: 'b', path: 'b', mode: 0o755 },
          { key: 'none', path: 'none' },
        ],
      },
      { name: 'gone', kind: 'configMap', object: 'no-such', optional: true, defaultMode: 0o644 },
    ];
    const { paths } = await setUp({ ...settings, ask: main.ask }, volumes, { fsGroup: 4321 });
    assert.deepEqual(main.asked, ['object.Get configMap shop conf', 'object.Get configMap shop no-such']);
    const [all = '', some = '', gone = ''] = ['all', 'some', 'gone'].map((name) => paths[name]);
    assert.equal(all, join(pod, 'volumes/kubernetes.io~configmap/all'));
    assert.deepEqual(await readFile(join(all, 'raw')), Buffer.from([0, 255, 7]));
    assert.deepEqual(Object.keys(await contents(all)).sort(), ['a', 'b', 'raw']);
    assert.equal(await mode(join(all, 'a')), 0o644);
    assert.deepEqual(await contents(some), { b: '2', 'deep/er/a': '1' });
    assert.equal(await mode(join(some, 'deep/er/a')), 0o440);
    assert.equal(await mode(join(some, 'b')), 0o755);
    assert.equal((await stat(join(some, 'b'))).gid, 4321);
    assert.equal(await readlink(join(some, 'deep')), '..data/deep');
    assert.deepEqual(await contents(gone), {});
    assert.ok(existsSync(join(pod, 'plugins/kubernetes.io~empty-dir/wrapped_all/ready')));
    assert.deepEqual(await mountsIn(pod), []);
    await hostEffects['host.TearDownPod']({ podUid: POD }, settings);
    assert.ok(!existsSync(pod));
  });
});

test('secret and projected volumes lie on a tmpfs of the pod’s size and follow their objects', { skip }, async () => {
  await withRoot(async ({ settings, pod }) => {
    const main = new AskedObjects();
    main.put('secret/key', { user: 'me', password: 'hidden' });
    main.put('configMap/kube-root-ca.crt', { 'ca.crt': 'CA' });
    const host = { ...settings, ask: main.ask };
    const owner = { ...OWNER, memoryBytes: 1 << 20 };
    const volumes: VolumeSetup[] = [
      { name: 'key', kind: 'secret', object: 'key', optional: false, defaultMode: 0o600 },
      {
        name: 'kube-api-access',
        kind: 'projected',
        defaultMode: 0o644,
        sources: [
          { kind: 'serviceAccountToken', audience: '', expirationSeconds: 3607, path: 'token' },
          {
            kind: 'configMap',
            object: 'kube-root-ca.crt',
            optional: false,
            items: [{ key: 'ca.crt', path: 'ca.crt' }],
          },
          { kind: 'downwardAPI', files: [{ path: 'namespace', content: 'shop', mode: 0o640 }] },
          { kind: 'secret', object: 'key', optional: false, items: [{ key: 'user', path: 'namespace' }] },
        ],
      },
    ];
    const { paths } = await setUp(host, volumes, { owner });
    const [key = '', access = ''] = [paths['key'], paths['kube-api-access']];
    assert.equal(key, join(pod, 'volumes/kubernetes.io~secret/key'));
    assert.equal(access, join(pod, 'volumes/kubernetes.io~projected/kube-api-access'));
    assert.equal(main.asked.length, 3, 'the secret is asked for once');
    assert.deepEqual(await contents(key), { user: 'me', password: 'hidden' });
    assert.deepEqual(await contents(access), {
      token: `token 1 for shop clerk web ${POD}  3607`,
      'ca.crt': 'CA',
      namespace: 'me',
    });
    assert.equal(await mode(join(access, 'token')), 0o644);
    const mounts = await mountsIn(pod);
    assert.deepEqual(mounts.map(({ mountPoint, fsType }) => `${fsType} ${mountPoint}`).sort(), [
      `tmpfs ${access}`,
      `tmpfs ${key}`,
    ]);
    for (const { superOptions } of mounts) assert.ok(superOptions.includes('size=1024k'), superOptions.join());

    // Nothing changed: nothing is written.
    const version = async () => [await readlink(join(key, '..data')), await readlink(join(access, '..data'))];
    const before = await version();
    await setUp(host, volumes, { owner });
    assert.deepEqual(await version(), before);
    // One changed: only that one is written, and no old version stays.
    main.token = 2;
    await mkdir(join(access, '..2020_01_01_00_00_00.123'));
    await setUp(host, volumes, { owner });
    assert.equal((await version())[0], before[0]);
    assert.notEqual((await version())[1], before[1]);
    assert.match(await readFile(join(access, 'token'), 'utf8'), /^token 2 /);
    const data = await readlink(join(access, '..data'));
    assert.deepEqual((await readdir(access)).sort(), [data, '..data', 'ca.crt', 'namespace', 'token'].sort());
    assert.equal((await mountsIn(pod)).length, 2);
    // A key goes away with its link.
    main.put('secret/key', { user: 'you' });
    await setUp(host, volumes, { owner });
    assert.deepEqual(await contents(key), { user: 'you' });
    await assert.rejects(lstat(join(key, 'password')), { code: 'ENOENT' });
    await hostEffects['host.TearDownPod']({ podUid: POD }, settings);
    assert.ok(!existsSync(pod));
  });
});

test('a token file is private to the pod’s user or group', { skip }, async () => {
  await withRoot(async ({ settings }) => {
    const host = { ...settings, ask: new AskedObjects().ask };
    const volumes = (name: string): VolumeSetup[] => [
      {
        name,
        kind: 'projected',
        defaultMode: 0o644,
        sources: [
          { kind: 'serviceAccountToken', audience: 'vault', expirationSeconds: 600, path: 'token' },
          { kind: 'downwardAPI', files: [{ path: 'name', content: 'x', mode: 0o644 }] },
        ],
      },
    ];
    const made = async (name: string, more: { fsGroup?: number; owner?: VolumeOwner }) => {
      const dir = (await setUp(host, volumes(name), more)).paths[name] ?? '';
      const { uid, gid, mode: bits } = await stat(join(dir, 'token'));
      return { uid, gid, mode: (bits & 0o777).toString(8), other: (await mode(join(dir, 'name'))).toString(8) };
    };
    const owner = { ...OWNER, runAsUser: 1234 };
    assert.deepEqual(await made('user', { owner }), { uid: 1234, gid: 0, mode: '600', other: '644' });
    assert.deepEqual(await made('group', { fsGroup: 77 }), { uid: 0, gid: 77, mode: '640', other: '644' });
    assert.deepEqual(await made('both', { owner, fsGroup: 77 }), { uid: 1234, gid: 77, mode: '640', other: '644' });
  });
});

test('what is missing is told in kubelet’s words, without a value', { skip }, async () => {
  await withRoot(async ({ settings, pod }) => {
    const main = new AskedObjects();
    main.put('secret/key', { password: 'hidden' });
    main.put('configMap/conf', { a: '1' });
    const host = { ...settings, ask: main.ask };
    const fails = (volume: VolumeSetup, text: string, at: HostSettings = host) =>
      assert.rejects(setUp(at, [volume]), { message: `MountVolume.SetUp failed for volume "v" : ${text}` });
    const object = (kind: 'configMap' | 'secret', name: string, key?: string): VolumeSetup => ({
      name: 'v',
      kind,
      object: name,
      optional: false,
      defaultMode: 0o644,
      ...(key !== undefined && { items: [{ key, path: key }] }),
    });
    await fails(object('configMap', 'x'), 'configmap "x" not found');
    await fails(object('secret', 'x'), 'secret "x" not found');
    await fails(object('configMap', 'conf', 'k'), 'configmap references non-existent config key: k');
    await fails(object('secret', 'key', 'k'), 'references non-existent secret key: k');
    await fails(object('secret', 'key', 'constructor'), 'references non-existent secret key: constructor');
    await fails(object('secret', 'key'), 'not supported due to running kubelet in standalone mode', settings);
    const projected = (...sources: Extract<VolumeSetup, { kind: 'projected' }>['sources']): VolumeSetup => ({
      name: 'v',
      kind: 'projected',
      defaultMode: 0o644,
      sources,
    });
    const missing = { optional: false, object: 'x' };
    await fails(projected({ kind: 'secret', ...missing }), 'secret "x" not found');
    await fails(
      projected({ kind: 'secret', ...missing }, { kind: 'configMap', ...missing }, { kind: 'secret', ...missing }),
      '[secret "x" not found, configmap "x" not found]',
    );
    main.put('configMap/bad', { a: '1' });
    await fails(
      { ...object('configMap', 'bad', 'a'), items: [{ key: 'a', path: '../a' }] } as VolumeSetup,
      "invalid path: must not contain '..': ../a",
    );
    const broken = {
      ...settings,
      ask: () => Promise.reject(Object.assign(new Error('no server'), { code: 'Timeout' })),
    };
    await assert.rejects(setUp(broken, [object('secret', 'key')]), { code: 'Timeout', message: /"v" : no server$/ });
    // One that fails leaves the others of the pod in place; the first of the spec is told.
    const two = [
      { ...object('configMap', 'x'), name: 'first' },
      { ...object('configMap', 'conf'), name: 'second' },
    ];
    await assert.rejects(setUp(host, two), { code: 'NotFound', message: /volume "first"/ });
    assert.equal(await readFile(join(pod, 'volumes/kubernetes.io~configmap/second/a'), 'utf8'), '1');
  });
});

test('a container that has the volume mounted sees the update, through nested mount points too', { skip }, async () => {
  await withRoot(async ({ settings, root }) => {
    const main = new AskedObjects();
    main.put('secret/key', { word: 'old' });
    const volumes: VolumeSetup[] = [
      { name: 'key', kind: 'secret', object: 'key', optional: false, defaultMode: 0o644, nested: ['sub/dir'] },
    ];
    const host = { ...settings, ask: main.ask };
    const dir = (await setUp(host, volumes)).paths['key'] ?? '';
    const rootfs = join(root, 'rootfs');
    await mkdir(rootfs);
    // A mount namespace of its own, as a container has: the volume read-only, another mount inside of it.
    const script =
      'mount --bind "$1" "$2" && mount -o remount,bind,ro "$2" && mount -t tmpfs none "$2/sub/dir" && cat "$2/word" && ' +
      'read -r line && cat "$2/word" && ! touch "$2/new" 2>/dev/null';
    const container = execFile('unshare', ['-m', 'sh', '-c', script, 'sh', dir, rootfs]);
    const ended = new Promise<number | null>((resolve) => container.on('exit', resolve));
    let seen = '';
    try {
      const shown = new Promise<void>((resolve) => {
        container.stdout?.on('data', (data: string) => {
          seen += data;
          if (seen === 'old') resolve();
        });
      });
      await Promise.race([shown, ended]);
      assert.equal(seen, 'old');
      main.put('secret/key', { word: '-new' });
      await setUp(host, volumes);
      container.stdin?.end('\n');
      assert.equal(await ended, 0);
      assert.equal(seen, 'old-new');
    } finally {
      container.kill('SIGKILL');
      await ended;
    }
    await hostEffects['host.TearDownPod']({ podUid: POD }, settings);
    assert.deepEqual(await mountsIn(root), []);
  });
});

test('subPath of a configMap: the file is bound, renewed for the next container, and unmounted', { skip }, async () => {
  await withRoot(async ({ settings, pod, root }) => {
    const main = new AskedObjects();
    main.put('configMap/conf', { 'app.ini': 'one' });
    const volumes: VolumeSetup[] = [
      { name: 'conf', kind: 'configMap', object: 'conf', optional: false, defaultMode: 0o644 },
    ];
    const host = { ...settings, ask: main.ask };
    const volumePath = (await setUp(host, volumes)).paths['conf'] ?? '';
    const prepare = (subPath: string) =>
      prepareSub(settings, root, { key: 'conf/app/0', volumePath, subPath, readOnly: true });
    const target = await prepare('app.ini');
    assert.equal(await readFile(target, 'utf8'), 'one');
    assert.deepEqual(
      (await mountsIn(pod)).map((entry) => entry.mountPoint),
      [target],
    );
    main.put('configMap/conf', { 'app.ini': 'two' });
    await setUp(host, volumes);
    // As kubelet documents: a subPath mount does not follow updates.
    assert.equal(await readFile(target, 'utf8'), 'one');
    assert.equal(await prepare('app.ini'), target);
    assert.equal(await readFile(target, 'utf8'), 'two');
    assert.equal((await mountsIn(pod)).length, 1);
    await hostEffects['host.TearDownPod']({ podUid: POD }, settings);
    assert.ok(!existsSync(pod));
    assert.deepEqual(await mountsIn(root), []);
  });
});

test('a tear-down stops a set-up that waits for an object, and nothing comes back', { skip }, async () => {
  await withRoot(async ({ settings, pod }) => {
    const main = new AskedObjects();
    main.put('secret/key', { a: 'b' });
    let open = (): void => undefined;
    main.gate = new Promise((resolve) => (open = resolve));
    const volumes: VolumeSetup[] = [
      { name: 'mem', kind: 'emptyDir', medium: 'Memory' },
      { name: 'key', kind: 'secret', object: 'key', optional: false, defaultMode: 0o644 },
    ];
    const hung = setUp({ ...settings, ask: main.ask }, volumes);
    const refused = assert.rejects(hung, { code: 'Canceled', message: /the pod is being torn down/ });
    await hostEffects['host.TearDownPod']({ podUid: POD }, settings);
    await refused;
    open();
    await main.gate;
    assert.ok(!existsSync(pod));
    assert.deepEqual(await mountsIn(pod), []);
  });
});

test('a root directory behind a link: mounts are found and unmounted all the same', { skip }, async () => {
  await withRoot(async ({ settings, root }) => {
    const real = join(root, 'real');
    await mkdir(real);
    await symlink(real, settings.rootDir);
    await setUp(settings, [{ name: 'mem', kind: 'emptyDir', medium: 'Memory' }]);
    await setUp(settings, [{ name: 'mem', kind: 'emptyDir', medium: 'Memory' }]);
    assert.equal((await mountsIn(real)).length, 1);
    await hostEffects['host.TearDownPod']({ podUid: POD }, settings);
    assert.deepEqual(await mountsIn(real), []);
    assert.deepEqual(await readdir(join(real, 'pods')), []);
  });
});

test('emptyDir of huge pages', { skip }, async (t) => {
  await withRoot(async ({ settings, root }) => {
    const probe = join(root, 'probe');
    await mkdir(probe);
    try {
      await run('mount', ['-t', 'hugetlbfs', '-o', 'pagesize=2Mi', 'nodev', probe]);
    } catch {
      return t.skip('this kernel has no huge pages of 2 MiB');
    }
    const volumes: VolumeSetup[] = [{ name: 'huge', kind: 'emptyDir', medium: 'HugePages', hugePageSize: '2Mi' }];
    const { paths } = await setUp(settings, volumes);
    await setUp(settings, volumes);
    const mounts = await mountsIn(paths['huge'] ?? '');
    assert.deepEqual(
      mounts.map(({ fsType }) => fsType),
      ['hugetlbfs'],
    );
    assert.ok(mounts[0]?.superOptions.includes('pagesize=2M'), mounts[0]?.superOptions.join());
  });
});
