import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { bench, containerOf, manifest, running, until } from './support/bench.ts';

const skip = spawnSync('git', ['--version']).status !== 0 && 'needs git';
const GATE = { config: { featureGates: { GitRepoVolumeDriver: true } } };

/** A repository with two commits, `1` and `2` in its file; the first is tagged. */
function repository(t: TestContext): { path: string } {
  const path = mkdtempSync(join(tmpdir(), 'actorlet-git-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: path, stdio: 'pipe' });
  git('init', '--quiet');
  for (const content of ['1', '2']) {
    writeFileSync(join(path, 'f'), content);
    git('add', 'f');
    git('commit', '--quiet', '--message', content);
    if (content === '1') git('tag', 'first');
  }
  return { path };
}

const podOf = (gitRepo: object) =>
  manifest('p', { volumes: [{ name: 'v', gitRepo }] }, { volumeMounts: [{ name: 'v', mountPath: '/v' }] });

test('a volume is a clone at its revision, and goes with its pod', { skip }, async (t) => {
  const { path } = repository(t);
  const b = await bench(t, GATE);
  await b.put('p.yaml', podOf({ repository: path, revision: 'first', directory: '.' }));
  await running(b, 1);
  const mounted =
    containerOf(b.sim, 'p')?.config.mounts.find(({ containerPath }) => containerPath === '/v')?.hostPath ?? '';
  assert.match(mounted, /volumes\/kubernetes\.io~git-repo\/v$/);
  assert.equal(readFileSync(join(mounted, 'f'), 'utf8'), '1');
  await b.agent.kill();
  writeFileSync(join(mounted, 'own'), 'of the pod');
  await b.restart();
  await running(b, 1);
  assert.ok(existsSync(join(mounted, 'own')), 'a clone that is ready stays as it is');
  await b.remove('p.yaml');
  await until('the volume has gone', () => !existsSync(mounted), { agent: b.agent });
});

test(
  'without a folder it is named as git does; what fails is told in the words of git, and tried again',
  { skip },
  async (t) => {
    const { path } = repository(t);
    const b = await bench(t, GATE);
    await b.put('p.yaml', podOf({ repository: join(path, 'none'), revision: 'first' }));
    const event = await until(
      'the event',
      async () => (await b.agent.events()).find(({ reason }) => reason === 'FailedMount'),
      { agent: b.agent },
    );
    assert.match(
      event.message,
      /^MountVolume.SetUp failed for volume "v" : failed to exec 'git clone -- .*none': .*does not exist.*: exit status 128$/s,
    );
    execFileSync('git', ['clone', '--quiet', path, join(path, 'none')], { stdio: 'pipe' });
    await running(b, 1);
    const mounted =
      containerOf(b.sim, 'p')?.config.mounts.find(({ containerPath }) => containerPath === '/v')?.hostPath ?? '';
    assert.equal(readFileSync(join(mounted, 'none', 'f'), 'utf8'), '1');
  },
);

test('with the gate off such a pod waits, and is told why', { skip }, async (t) => {
  const b = await bench(t);
  await b.put('p.yaml', podOf({ repository: '/nowhere' }));
  const event = await until(
    'the event',
    async () => (await b.agent.events()).find(({ reason }) => reason === 'FailedMount'),
    { agent: b.agent },
  );
  assert.match(event.message, /git-repo volume plugin has been disabled/);
  assert.equal(containerOf(b.sim, 'p'), undefined);
});
