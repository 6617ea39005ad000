import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import pino from 'pino';
import { parseProjectLists, projectText, withFolder, withoutFolder } from '../../../actors/host/quota/project-files.ts';
import { ProjectQuotas } from '../../../actors/host/quota/project-quotas.ts';
import { quotaAmount } from '../../../actors/host/quota/quota-commands.ts';
import type { QuotaCommands } from '../../../actors/host/quota/quota-commands.ts';

const folders: string[] = [];
let paths: { projects: string; projid: string };
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'actorlet-projects-'));
  folders.push(folder);
  paths = { projects: join(folder, 'projects'), projid: join(folder, 'projid') };
});
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

const texts = async () => [await readFile(paths.projects, 'utf8'), await readFile(paths.projid, 'utf8')];

/** A file system that counts projects, and what was asked of it. */
class CountingDisk implements QuotaCommands {
  readonly used = new Map<number, { bytes: number; inodes: number }>();
  readonly asked: string[] = [];
  counts = true;
  fails = false;
  counting(): Promise<string | null> {
    return Promise.resolve(this.counts ? '/disk' : null);
  }
  use(_root: string, id: number): Promise<{ bytes: number; inodes: number }> {
    return Promise.resolve(this.used.get(id) ?? { bytes: 0, inodes: 0 });
  }
  give(root: string, folder: string, id: number, limited: boolean): Promise<void> {
    this.asked.push(`give ${root} ${folder} ${id} ${limited}`);
    if (this.fails) return Promise.reject(new Error('exit status 1'));
    this.used.set(id, { bytes: 4096, inodes: 1 });
    return Promise.resolve();
  }
  clear(root: string, id: number): Promise<void> {
    this.asked.push(`clear ${root} ${id}`);
    return Promise.resolve();
  }
}

const quotas = (commands: QuotaCommands) =>
  new ProjectQuotas({ log: pino({ level: 'silent' }), podsDir: '/node/pods', paths, commands });

test('each volume is a project of its own, written down as kubelet does, and gone with its pod', async () => {
  await writeFile(paths.projects, '# ours\n10:/srv/data\n');
  await writeFile(paths.projid, 'data:10\n');
  const disk = new CountingDisk();
  const all = quotas(disk);
  await Promise.all([all.assign('/pods/a/volumes/one', 100), all.assign('/pods/a/volumes/two', 0)]);
  await all.assign('/pods/a/volumes/one', 100);
  await all.assign('/pods/ab/volumes/one', 7);
  assert.deepEqual(disk.asked, [
    'give /disk /pods/a/volumes/one 1048577 true',
    'give /disk /pods/a/volumes/two 1048578 false',
    'give /disk /pods/ab/volumes/one 1048579 true',
  ]);
  assert.deepEqual(await texts(), [
    '# ours\n10:/srv/data\n1048577:/pods/a/volumes/one\n1048578:/pods/a/volumes/two\n1048579:/pods/ab/volumes/one\n',
    'data:10\nvolume1048577:1048577\nvolume1048578:1048578\nvolume1048579:1048579\n',
  ]);
  assert.deepEqual(await all.use('/pods/a/volumes/one'), { bytes: 4096, inodes: 1 });
  await all.release('/pods/a');
  assert.deepEqual(disk.asked.slice(3), ['clear /disk 1048577', 'clear /disk 1048578']);
  assert.deepEqual(await texts(), [
    '# ours\n10:/srv/data\n1048579:/pods/ab/volumes/one\n',
    'data:10\nvolume1048579:1048579\n',
  ]);
  assert.equal(await all.use('/pods/a/volumes/one'), null);
});

test('an id that the file system counts already is given to nobody', async () => {
  const disk = new CountingDisk();
  disk.used.set(1_048_577, { bytes: 0, inodes: 3 });
  await quotas(disk).assign('/pods/a/volumes/one', 1);
  assert.deepEqual(disk.asked, ['give /disk /pods/a/volumes/one 1048578 true']);
  for (let id = 1_048_577; id < 1_048_577 + 200; id++) disk.used.set(id, { bytes: 1, inodes: 0 });
  await quotas(disk).assign('/pods/a/volumes/two', 1);
  assert.equal(disk.asked.length, 1);
});

test('the next agent knows what an earlier one gave, and a project that could not be given is not written down', async () => {
  const disk = new CountingDisk();
  await quotas(disk).assign('/pods/a/volumes/one', 1);
  const next = quotas(disk);
  assert.deepEqual(await next.use('/pods/a/volumes/one'), { bytes: 4096, inodes: 1 });
  await next.assign('/pods/a/volumes/one', 1);
  assert.deepEqual((await texts())[0], '1048577:/pods/a/volumes/one\n');
  disk.fails = true;
  await next.assign('/pods/a/volumes/two', 1);
  assert.deepEqual((await texts())[0], '1048577:/pods/a/volumes/one\n');
  assert.equal(await next.use('/pods/a/volumes/two'), null);
});

test('what an earlier agent left of pods that are gone goes with the next volume; folders of others stay', async () => {
  await writeFile(paths.projects, '7:/elsewhere/gone\n1048577:/node/pods/old/volumes/v\n');
  await writeFile(paths.projid, 'other:7\nvolume1048577:1048577\n');
  const disk = new CountingDisk();
  await quotas(disk).assign('/node/pods/new/volumes/v', 1);
  assert.deepEqual(await texts(), [
    '7:/elsewhere/gone\n1048577:/node/pods/new/volumes/v\n',
    'other:7\nvolume1048577:1048577\n',
  ]);
  await quotas(disk).release('/node/pods/new');
  assert.deepEqual(await texts(), ['7:/elsewhere/gone\n', 'other:7\n']);
});

test('where nothing is counted, or the files are none of ours to write, volumes are walked', async () => {
  const disk = new CountingDisk();
  disk.counts = false;
  await quotas(disk).assign('/pods/a/volumes/one', 1);
  assert.equal(await quotas(disk).use('/pods/a/volumes/one'), null);
  disk.counts = true;
  await symlink('/nowhere', paths.projects);
  await quotas(disk).assign('/pods/a/volumes/one', 1);
  assert.deepEqual(disk.asked, []);
  assert.deepEqual(await readdir(join(paths.projects, '..')), ['projects']);
});

test('who else holds the lock of the files is waited for', async () => {
  await mkdir(join(paths.projects, '..'), { recursive: true });
  await writeFile(paths.projects, '');
  const other = spawn(
    'flock',
    ['-x', paths.projects, 'sh', '-c', 'echo held; read go; echo 5:/other >> "$0"', paths.projects],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  );
  await once(other.stdout, 'data');
  const disk = new CountingDisk();
  const assigned = quotas(disk).assign('/pods/a/volumes/one', 1);
  other.stdin.end('go\n');
  await assigned;
  assert.equal((await texts())[0], '5:/other\n1048577:/pods/a/volumes/one\n');
});

test('what others wrote stays as it is', async () => {
  const [projects, projid] = ['#c\n\nnonsense\n3:/a:b\n', '#x:4\n:7\nname:3\n'];
  const lists = parseProjectLists(projects, projid);
  assert.deepEqual([projectText(lists.projects), projectText(lists.projid)], [projects, projid]);
  assert.deepEqual(
    lists.projects.map(({ id, of }) => [id, of]),
    [
      [null, ''],
      [null, ''],
      [null, ''],
      [3, '/a:b'],
    ],
  );
  const { lists: with2, id } = await withFolder(lists, '/b', () => Promise.resolve(false));
  assert.deepEqual(withoutFolder(with2, '/b'), lists);
  assert.equal(id, 1_048_577);
  assert.equal(withoutFolder(lists, '/nowhere').projects, lists.projects);
});

test("the command's answer is a number after the file system's name", () => {
  assert.equal(quotaAmount('/dev/loop0    1024   0  0   00 [--------] /mnt\n'), 1024);
  assert.equal(quotaAmount('\t  7 0 0 /mnt'), 7);
  assert.equal(quotaAmount('/dev/loop0 12'), 12);
  assert.equal(quotaAmount('/dev/mapper/name-that-is-long\n                  2048  0 0 /mnt\n'), 2048);
  assert.equal(quotaAmount(''), 0);
  assert.throws(() => quotaAmount('xfs_quota: cannot'), /unable to parse quota output/);
});
