import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { pino } from 'pino';
import { type PodSources, type PodSourcesOptions, createPodSources } from '../../../actors/pods/sources/pod-sources.ts';
import { PATIENCE_MS, until as waitUntil } from '../../tools/wait-for.ts';

const doc = (name: string, image = 'x:1'): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  containers:\n  - {name: a, image: "${image}"}\n`;

interface Rig {
  folder: string;
  sources: PodSources;
  /** `ADD web-n`, in the order told. */
  told: string[];
  errors: string[];
  write: (name: string, text: string) => Promise<void>;
  /** The same, whole at once: a file that is read while it is written has an error of its own. */
  place: (name: string, text: string) => Promise<void>;
  /** Waits until `told` is exactly this; the test's own time limit is the only one. */
  expect: (...want: string[]) => Promise<void>;
  until: (done: () => boolean) => Promise<void>;
}

async function rig(
  t: TestContext,
  options: Partial<PodSourcesOptions> & { at?: string; prepare?: (root: string) => Promise<void> } = {},
): Promise<Rig> {
  const root = await mkdtemp(join(tmpdir(), 'actorlet-sources-'));
  const folder = join(root, options.at ?? '');
  await options.prepare?.(root);
  const told: string[] = [];
  const errors: string[] = [];
  const sources = createPodSources({
    staticPodPath: folder,
    fileCheckFrequencyMs: 60_000,
    httpCheckFrequencyMs: 60_000,
    nodeName: 'n',
    log: pino({ level: 'silent' }),
    now: () => 0,
    onUpdate: ({ op, pods }) => {
      told.push(...(pods.length === 0 ? [`${op} nothing`] : pods.map((pod) => `${op} ${pod.metadata?.name ?? ''}`)));
    },
    onError: (error) => errors.push(error.message),
    ...options,
  });
  sources.start();
  t.after(async () => {
    await sources.stop();
    await rm(root, { recursive: true, force: true });
  });
  const until = (done: () => boolean): Promise<void> => waitUntil(() => done() || t.signal.aborted, done.toString());
  return {
    folder,
    sources,
    told,
    errors,
    write: (name, text) => writeFile(join(folder, name), text),
    place: async (name, text) => {
      await writeFile(`${root}.partial`, text);
      await rename(`${root}.partial`, join(folder, name));
    },
    until,
    expect: async (...want) => {
      await until(() => told.length >= want.length);
      assert.deepEqual(told.splice(0), want);
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const LIMIT = { timeout: PATIENCE_MS };

test('create, edit, delete', LIMIT, async (t) => {
  const { folder, write, expect, sources } = await rig(t);
  await expect('ADD nothing');
  assert.equal(sources.allSourcesReady(), true);
  await write('web.yaml', doc('web'));
  await expect('ADD web-n');
  await write('web.yaml', doc('web', 'x:2'));
  await expect('REMOVE web-n', 'ADD web-n');
  await unlink(join(folder, 'web.yaml'));
  await expect('REMOVE web-n');
});

test('what is there at the start comes as one ADD', LIMIT, async (t) => {
  const { expect } = await rig(t, {
    prepare: async (root) => {
      await writeFile(join(root, 'b.yaml'), doc('b'));
      await writeFile(join(root, 'a.json'), JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [] }));
      await writeFile(join(root, 'c.yaml'), `${doc('c')}---\n${doc('d')}`);
    },
  });
  await expect('ADD b-n', 'ADD c-n', 'ADD d-n');
});

test('a touched or reformatted file says nothing', LIMIT, async (t) => {
  const { write, expect, told } = await rig(t);
  await expect('ADD nothing');
  await write('web.yaml', doc('web'));
  await expect('ADD web-n');
  await write('web.yaml', doc('web'));
  await write('web.yaml', `# a comment\n${doc('web')}`);
  await write('other.yaml', doc('other'));
  await expect('ADD other-n');
  assert.deepEqual(told, []);
});

test('bad among good: one error, the good run', LIMIT, async (t) => {
  const { place, expect, errors, until, sources } = await rig(t);
  await expect('ADD nothing');
  await place('all.yaml', `${doc('a')}---\n${doc('b').replace('image', 'imagee')}---\n${doc('c')}`);
  await expect('ADD a-n', 'ADD c-n');
  await until(() => errors.length > 0);
  assert.equal(errors.length, 1);
  assert.match(
    errors[0] ?? '',
    /SRC001: Cannot use pod default\/b in .*all\.yaml, document 2: spec\.containers\[0\]\.image: Required value\./,
  );
  assert.equal(sources.lastErrors().file?.length, 1);
  await place('all.yaml', `${doc('a')}---\n${doc('b')}---\n${doc('c')}`);
  await expect('ADD b-n');
  await until(() => sources.lastErrors().file === undefined);
});

test('a half-saved edit keeps the pod', LIMIT, async (t) => {
  const { place, expect, errors, until, told } = await rig(t);
  await expect('ADD nothing');
  await place('web.yaml', doc('web'));
  await expect('ADD web-n');
  await place('web.yaml', 'apiVersion: v1\nkind: Pod\nmetadata: {name');
  await until(() => errors.length === 1);
  assert.match(errors[0] ?? '', /^SRC003/);
  assert.deepEqual(told, []);
  await place('web.yaml', doc('web'));
  await place('next.yaml', doc('next'));
  await expect('ADD next-n');
});

test('a file that stays bad loses its pod after a whole check period', LIMIT, async (t) => {
  const { place, expect, errors } = await rig(t, { fileCheckFrequencyMs: 400 });
  await expect('ADD nothing');
  await place('web.yaml', doc('web'));
  await expect('ADD web-n');
  await place('web.yaml', '');
  await expect('REMOVE web-n');
  assert.equal(errors.length, 1, 'told once, not at each poll');
});

test('rename-over and editors that move the old file away', LIMIT, async (t) => {
  const { folder, write, expect, told } = await rig(t);
  await expect('ADD nothing');
  await write('web.yaml', doc('web'));
  await expect('ADD web-n');
  await writeFile(join(folder, '.web.tmp'), doc('web', 'x:2'));
  await rename(join(folder, '.web.tmp'), join(folder, 'web.yaml'));
  await expect('REMOVE web-n', 'ADD web-n');
  await rename(join(folder, 'web.yaml'), join(folder, '.web.yaml~'));
  await write('web.yaml', doc('web', 'x:2'));
  await write('mark.yaml', doc('mark'));
  await expect('ADD mark-n');
  assert.deepEqual(told, []);
});

test(
  'a file that is removed and put back at once: its pod ends and begins anew, as after a longer while',
  LIMIT,
  async (t) => {
    const { folder, write, expect, told, until } = await rig(t);
    const inAnyOrder = async (...want: string[]) => {
      await until(() => told.length >= want.length);
      assert.deepEqual(told.splice(0).sort(), want.sort());
    };
    await expect('ADD nothing');
    const web = join(folder, 'web.yaml');
    await write('web.yaml', doc('web'));
    await expect('ADD web-n');
    for (let i = 0; i < 3; i++) {
      await unlink(web);
      await write('web.yaml', doc('web'));
      await expect('REMOVE web-n', 'ADD web-n');
    }
    // Out of the folder and in again, as `mv` does to restart a static pod; and by a hidden name.
    for (const away of [`${folder}.away`, join(folder, '.away')]) {
      await rename(web, away);
      await rename(away, web);
      await expect('REMOVE web-n', 'ADD web-n');
    }
    // A new file is made beside it and moved in.
    await unlink(web);
    await writeFile(join(folder, '.web.tmp'), doc('web'));
    await rename(join(folder, '.web.tmp'), web);
    await expect('REMOVE web-n', 'ADD web-n');
    // Two at once: neither is taken for what an editor made of the other.
    await write('other.yaml', doc('other'));
    await expect('ADD other-n');
    await unlink(web);
    await unlink(join(folder, 'other.yaml'));
    await write('web.yaml', doc('web'));
    await write('other.yaml', doc('other'));
    await inAnyOrder('REMOVE web-n', 'REMOVE other-n', 'ADD other-n', 'ADD web-n');
    await unlink(web);
    await unlink(join(folder, 'other.yaml'));
    await write('web.yaml', doc('web'));
    await inAnyOrder('REMOVE other-n', 'REMOVE web-n', 'ADD web-n');
    assert.deepEqual(told, []);
  },
);

test('a file that is removed and put back while the folder is looked at', LIMIT, async (t) => {
  const { folder, write, expect, told } = await rig(t);
  await expect('ADD nothing');
  const web = join(folder, 'web.yaml');
  await write('web.yaml', doc('web'));
  await expect('ADD web-n');
  for (const ms of [5, 12, 25, 40, 60, 120]) {
    await unlink(web);
    await pause(ms);
    await write('web.yaml', doc('web'));
    await expect('REMOVE web-n', 'ADD web-n');
  }
  assert.deepEqual(told, []);
});

test('a whole folder of files that are removed and put back', LIMIT, async (t) => {
  const { folder, told, until } = await rig(t);
  const names = ['a', 'b', 'c', 'd', 'e'];
  const path = (name: string) => join(folder, name);
  const put = async (name: string, moved: boolean) => {
    const place = path(moved ? `.${name}.yaml.tmp` : `${name}.yaml`);
    await writeFile(place, doc(name));
    if (moved) await rename(place, path(`${name}.yaml`));
  };
  for (const name of names) await put(name, false);
  await until(() => told.filter((line) => line.startsWith('ADD ')).length > names.length - 1);
  for (const ms of [0, 0, 10, 30, 60]) {
    told.splice(0);
    for (const name of names) await unlink(path(`${name}.yaml`));
    await pause(ms);
    for (const [i, name] of names.entries()) await put(name, i % 2 === 0);
    await until(() => names.every((name) => told.includes(`ADD ${name}-n`)));
    for (const name of names)
      assert.deepEqual(
        told.filter((line) => line.endsWith(` ${name}-n`)),
        [`REMOVE ${name}-n`, `ADD ${name}-n`],
      );
  }
});

test('a manifest that names its uid: one put back with other content is not an edit', LIMIT, async (t) => {
  const { folder, write, expect } = await rig(t);
  await expect('ADD nothing');
  const fixed = (image: string) => doc('web', image).replace('{name: web}', '{name: web, uid: web-1}');
  await write('web.yaml', fixed('x:1'));
  await expect('ADD web-n');
  await write('web.yaml', fixed('x:2'));
  await expect('UPDATE web-n');
  await unlink(join(folder, 'web.yaml'));
  await write('web.yaml', fixed('x:3'));
  await expect('REMOVE web-n', 'ADD web-n');
});

test(
  'saving takes no pod away: a file written over, one moved over it, one whose old form is kept',
  LIMIT,
  async (t) => {
    const { folder, write, expect, told } = await rig(t);
    await expect('ADD nothing');
    const web = join(folder, 'web.yaml');
    await write('web.yaml', doc('web'));
    await expect('ADD web-n');
    const saves: (() => Promise<void>)[] = [
      () => write('web.yaml', doc('web')),
      async () => {
        for (const temporary of ['.web.1', 'sedXyz', '.web.2']) {
          await write(temporary, doc('web'));
          await rename(join(folder, temporary), web);
        }
      },
      // As vim does: the backup stands beside the file until that is written.
      async () => {
        await rename(web, `${web}~`);
        await write('web.yaml', doc('web'));
        await unlink(`${web}~`);
      },
    ];
    for (const [i, save] of saves.entries()) {
      await save();
      await write(`mark${i}.yaml`, doc(`mark${i}`));
      await expect(`ADD mark${i}-n`);
    }
    assert.deepEqual(told, []);
  },
);

test('hidden files, folders, links, pipes', LIMIT, async (t) => {
  const { expect, errors, until, told } = await rig(t, {
    at: 'm',
    prepare: async (root) => {
      await mkdir(join(root, 'm', 'sub'), { recursive: true });
      await writeFile(join(root, 'm', '.hidden.yaml'), doc('hidden'));
      await writeFile(join(root, 'm', 'sub', 'x.yaml'), doc('x'));
      await writeFile(join(root, 'real.yaml'), doc('linked'));
      await symlink(join(root, 'real.yaml'), join(root, 'm', 'link.yaml'));
      await symlink(join(root, 'nowhere'), join(root, 'm', 'dangling.yaml'));
    },
  });
  await expect('ADD linked-n');
  await until(() => errors.length === 1);
  assert.match(errors[0] ?? '', /^SRC007: .*\/sub is a folder/);
  assert.deepEqual(told, []);
});

test('the folder appears later, is replaced, vanishes', LIMIT, async (t) => {
  const { folder, expect, errors, until, sources, told } = await rig(t, { at: 'm' });
  await expect('ADD nothing');
  await until(() => errors.length === 1);
  assert.match(errors[0] ?? '', /^SRC008/);
  await mkdir(folder);
  await writeFile(join(folder, 'web.yaml'), doc('web'));
  await expect('ADD web-n');
  await until(() => sources.lastErrors().file === undefined);
  await mkdir(`${folder}.new`);
  await writeFile(join(`${folder}.new`, 'web.yaml'), doc('web'));
  await writeFile(join(`${folder}.new`, 'more.yaml'), doc('more'));
  await rename(folder, `${folder}.old`);
  await rename(`${folder}.new`, folder);
  await expect('ADD more-n');
  await unlink(join(folder, 'more.yaml'));
  await expect('REMOVE more-n');
  assert.deepEqual(told, []);
  await rm(folder, { recursive: true });
  await expect('REMOVE web-n');
  await mkdir(folder);
  await writeFile(join(folder, 'again.yaml'), doc('again'));
  await expect('ADD again-n');
});

test('neither the folder nor its parent exists yet', LIMIT, async (t) => {
  const { folder, expect } = await rig(t, { at: 'a/b' });
  await expect('ADD nothing');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'web.yaml'), doc('web'));
  await expect('ADD web-n');
});

test('one file as the path', LIMIT, async (t) => {
  const { folder, expect } = await rig(t, {
    at: 'web.yaml',
    prepare: (root) => writeFile(join(root, 'web.yaml'), doc('web')),
  });
  await expect('ADD web-n');
  await writeFile(folder, `${doc('web')}---\n${doc('two')}`);
  await expect('ADD two-n');
  await writeFile(`${folder}.tmp`, doc('two'));
  await rename(`${folder}.tmp`, folder);
  await expect('REMOVE web-n');
  await rm(folder);
  await writeFile(folder, doc('two'));
  await expect('REMOVE two-n', 'ADD two-n');
  await rm(folder);
  await expect('REMOVE two-n');
});

test('polling alone finds what no event told (a link whose target changed)', LIMIT, async (t) => {
  let root = '';
  const { expect } = await rig(t, {
    at: 'm',
    fileCheckFrequencyMs: 100,
    prepare: async (made) => {
      root = made;
      await mkdir(join(made, 'm'));
      await writeFile(join(made, 'real.yaml'), doc('one'));
      await symlink(join(made, 'real.yaml'), join(made, 'm', 'link.yaml'));
    },
  });
  await expect('ADD one-n');
  await writeFile(join(root, 'real.yaml'), doc('other'));
  await expect('REMOVE one-n', 'ADD other-n');
});

test('the same pod in two files: the first file wins, one clear error', LIMIT, async (t) => {
  const { place, expect, errors, folder, until } = await rig(t);
  await expect('ADD nothing');
  await place('a.yaml', doc('web'));
  await expect('ADD web-n');
  await place('b.yaml', doc('web'));
  await until(() => errors.length === 1);
  assert.match(errors[0] ?? '', /^SRC009: Pod default\/web-n stands more than once in source file/);
  await unlink(join(folder, 'a.yaml'));
  await expect('REMOVE web-n', 'ADD web-n');
});

test('an unreadable file does not touch the pods of others', LIMIT, async (t) => {
  const { folder, place, expect, errors, until, told } = await rig(t);
  await expect('ADD nothing');
  await place('web.yaml', doc('web'));
  await expect('ADD web-n');
  await symlink('loop.yaml', join(folder, 'loop.yaml'));
  await until(() => errors.length === 1);
  assert.match(errors[0] ?? '', /^SRC005: Cannot read .*loop\.yaml: ELOOP\./);
  await place('more.yaml', doc('more'));
  await expect('ADD more-n');
  assert.deepEqual(told, []);
});
