import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { hostEffects } from '../../../actors/host/effects/host-effects.ts';
import { mount, mountsIn, unmount } from '../../../actors/host/files/mounts.ts';
import { makeRootShared } from '../../../actors/host/files/shared-root.ts';
import { removeOrphanFolders } from '../../../actors/host/housekeeping/orphan-folders.ts';
import { OrphanRounds } from '../../../actors/host/housekeeping/orphans.ts';
import { AskedObjects, OWNER, withRoot } from './with-root.ts';

const skip = process.getuid?.() !== 0;

test(
  'folders of pods that vanished go with their mounts; a live, a foreign and a busy one stay',
  { skip },
  async () => {
    await withRoot(async ({ settings, root }) => {
      const main = new AskedObjects();
      main.put('secret/key', { a: 'b' });
      const make = async (podUid: string) => {
        const { paths } = await hostEffects['host.SetUpVolumes'](
          {
            podUid,
            owner: OWNER,
            volumes: [
              { name: 'disk', kind: 'emptyDir', medium: '' },
              { name: 'key', kind: 'secret', object: 'key', optional: false, defaultMode: 0o644 },
            ],
          },
          { ...settings, ask: main.ask },
        );
        return paths;
      };
      const pods = join(settings.rootDir, 'pods');
      const precious = join(root, 'precious');
      await mkdir(precious);
      await writeFile(join(precious, 'data'), 'x');
      const gone = await make('gone');
      const live = await make('live');
      const busy = await make('busy');
      // A bind mount on the same file system in the volume, as a container with Bidirectional propagation leaves one.
      await mkdir(join(gone['disk'] ?? '', 'inner'));
      await mount(precious, join(gone['disk'] ?? '', 'inner'), '', ['bind']);
      const foreign = join(pods, 'foreign/volumes/kubernetes.io~csi/data/mount');
      await mkdir(foreign, { recursive: true });
      await mkdir(join(pods, 'unused/volumes/kubernetes.io~csi'), { recursive: true });
      await symlink(precious, join(pods, 'link'));
      await writeFile(join(pods, 'file'), '');

      let now = 0;
      const orphans = new OrphanRounds({
        alive: (uid) => uid === 'live',
        clock: { now: () => 1_000_000 + now, steady: () => now },
      });
      const folders = { once: () => removeOrphanFolders(orphans, settings, settings.log) };
      const cwd = process.cwd();
      process.chdir(busy['key'] ?? '');
      try {
        assert.deepEqual(await folders.once(), { found: 4, left: 2 });
      } finally {
        process.chdir(cwd);
      }
      assert.ok(!existsSync(join(pods, 'gone')));
      assert.ok(!existsSync(join(pods, 'unused')));
      assert.equal(await readFile(join(precious, 'data'), 'utf8'), 'x');
      assert.equal(await readFile(join(live['key'] ?? '', 'a'), 'utf8'), 'b');
      assert.ok(existsSync(foreign));
      assert.ok(existsSync(join(busy['disk'] ?? '')));
      assert.ok(existsSync(join(pods, 'link')));
      // What failed waits before it is tried again.
      assert.deepEqual(await folders.once(), { found: 2, left: 2 });
      now = 2_000;
      assert.deepEqual(await folders.once(), { found: 2, left: 1 });
      assert.ok(!existsSync(join(pods, 'busy')));
      assert.deepEqual(
        (await mountsIn(root)).map((entry) => entry.mountPoint),
        [live['key']],
      );
    });
  },
);

test(
  'the root directory becomes a shared mount once, unless something is mounted in it already',
  { skip },
  async () => {
    await withRoot(async ({ settings }) => {
      const { rootDir, log } = settings;
      await mkdir(join(rootDir, 'inner'), { recursive: true });
      // Whatever the node has, the folder starts on a private mount.
      await mount(rootDir, rootDir, '', ['bind']);
      await mount('--make-private', rootDir, '', []);
      await mkdir(join(rootDir, 'dir/inner'), { recursive: true });
      const dir = join(rootDir, 'dir');
      await mount('tmpfs', join(dir, 'inner'), 'tmpfs', []);
      assert.equal(await makeRootShared(dir, log), false);
      await unmount(join(dir, 'inner'));
      assert.equal(await makeRootShared(dir, log), true);
      assert.equal(await makeRootShared(dir, log), false);
      const [entry] = await mountsIn(dir);
      assert.deepEqual([entry?.mountPoint, entry?.shared], [dir, true]);
    });
  },
);
