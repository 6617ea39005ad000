import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

const checkout = join(import.meta.dirname, '..', '..', '..');

/** bin/test in a tree of its own, with layers that this file makes up. */
describe('bin/test', () => {
  let root: string;
  let env: NodeJS.ProcessEnv;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'actorlet-bin-test-'));
    for (const name of ['bin/test', '.ci/run', 'test/tools/end-silence.sh', 'package.json', 'package-lock.json'])
      cpSync(join(checkout, name), join(root, name));
    symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'));
    mkdirSync(join(root, 'tmp'));
    // A runner inside a runner: without its parent's context it would report to that instead of running.
    const { NODE_TEST_CONTEXT: _context, CI: _ci, ...rest } = process.env;
    env = {
      ...rest,
      ACTORLET_TEST_NO_INSTALL: '1',
      TMPDIR: join(root, 'tmp'),
      // Else it would write over the logs of the run that this is a part of.
      ACTORLET_TEST_LOGS: '',
      PATH: `${join(root, 'fake')}:${rest['PATH'] ?? ''}`,
    };
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function plant(path: string, source: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), source);
  }
  /** A command of that name in front of the path. */
  function fake(name: string, script: string): void {
    plant(`fake/${name}`, `#!/bin/sh\n${script}\n`);
    chmodSync(join(root, 'fake', name), 0o755);
  }
  function run(
    args: string[],
    more: NodeJS.ProcessEnv = {},
  ): { code: number | null; out: string; last: string | undefined } {
    const done = spawnSync('bash', args, { cwd: tmpdir(), env: { ...env, ...more }, encoding: 'utf8', input: '' });
    const out = done.stdout + done.stderr;
    return { code: done.status, out, last: done.stdout.trimEnd().split('\n').at(-1) };
  }
  const binTest = (...args: string[]): string[] => [join(root, 'bin/test'), ...args];

  const head = `import { test } from 'node:test';\n`;
  const two = `${head}test('a', () => {}); test('b', async (t) => { await t.test('c', () => {}); });\n`;

  it('sums up the layers, ends with the one line, and leaves nothing behind', () => {
    plant('test/pure/deep/two.test.ts', two);
    plant(
      'test/simulated/skips.test.ts',
      `${head}test('d', { skip: 'only on Mars' }, () => {}); test('e', () => {});\n`,
    );
    const { code, out, last } = run(binTest('pure', 'simulated'));
    assert.equal(last, '4 passed, 0 failed, 1 skipped', out);
    assert.equal(code, 0);
    assert.match(out, /^SKIP {2}simulated: d: only on Mars$/m);
    assert.deepEqual(
      readdirSync(join(root, 'tmp')).filter((name) => name.startsWith('actorlet-test')),
      [],
    );
  });

  it('shows the log of a layer that fails', () => {
    plant('test/pure/two.test.ts', two);
    plant('test/pure/bad.test.ts', `${head}test('bad one', () => { throw new Error('what went wrong'); });\n`);
    const { code, out, last } = run(binTest('pure'));
    assert.equal(last, '3 passed, 1 failed, 0 skipped', out);
    assert.notEqual(code, 0);
    assert.match(out, /bad one[^]*what went wrong/);
    assert.match(
      out,
      /----- what failed, in short -----\npure: test at .*bad\.test\.ts.*\npure: ✖ bad one .*\npure: .*what went wrong\n\.\.\. {3}all of it/,
    );
  });

  it('takes a file that cannot be loaded, and a layer without tests, as failed', () => {
    plant('test/pure/broken.test.ts', `import './not-there.ts';\n`);
    const { code, last, out } = run(binTest('pure'));
    assert.equal(last, '0 passed, 1 failed, 0 skipped', out);
    assert.notEqual(code, 0);
    assert.match(run(binTest('tooling')).out, /FAIL {2}tooling: no test\/tooling/);
  });

  it('fails in CI when a test skips for want of something', () => {
    plant('test/pure/two.test.ts', two);
    plant('test/pure/needs.test.ts', `${head}test('d', { skip: 'needs Go' }, () => {});\n`);
    assert.equal(run(binTest('pure')).last, '3 passed, 0 failed, 1 skipped');
    const ci = run([join(root, '.ci/run'), 'pure'], { CI: 'true' });
    assert.equal(ci.last, '3 passed, 1 failed, 0 skipped');
    assert.notEqual(ci.code, 0);
  });

  it('skips a layer that this machine cannot run, with the cure; in CI that is a failure', () => {
    plant('test/pure/two.test.ts', two);
    plant('test/containerd/two.test.ts', two);
    fake('id', 'echo 1000');
    const here = run(binTest('pure', 'containerd'));
    assert.equal(here.last, '3 passed, 0 failed, 1 skipped', here.out);
    assert.equal(here.code, 0);
    assert.match(here.out, /^SKIP {2}containerd: not root; run as root \(sudo bin\/test containerd\)$/m);
    const ci = run(binTest('pure', 'containerd'), { CI: 'true' });
    assert.equal(ci.last, '3 passed, 1 failed, 0 skipped');
    assert.notEqual(ci.code, 0);
  });

  const assets = (...names: string[]): NodeJS.ProcessEnv =>
    Object.fromEntries(names.map((name) => [`TEST_ASSET_${name.toUpperCase().replaceAll(/[.-]/g, '_')}`, '/bin/true']));
  const uses = (tool: string): string => `${head}import { execFileSync } from 'node:child_process';
test('uses ${tool}', () => { execFileSync('test/tools/build.sh', ['${tool}'], { stdio: 'pipe', cwd: ${JSON.stringify(root)} }); });\n`;

  it('a test that uses a tool which nobody builds for its layer fails, also where that tool is there', () => {
    cpSync(join(checkout, 'test/tools/build.sh'), join(root, 'test/tools/build.sh'));
    plant('test/simulated/good.test.ts', uses('kubelet'));
    plant('test/simulated/bad.test.ts', uses('kubectl'));
    const { out, last } = run(binTest('simulated'), assets('kubelet', 'kubectl', 'cri-client', 'cri-contract'));
    assert.equal(last, '1 passed, 1 failed, 0 skipped', out);
    assert.match(out, /build\.sh: a test uses kubectl, which bin\/test does not build for its layer; name it there/);
  });

  it("a layer's tools are built before it begins, each once; one that cannot be had is told to the tests", () => {
    const calls = join(root, 'calls');
    plant(
      'test/tools/build.sh',
      `#!/bin/sh\nif [ -z "$ACTORLET_TEST_TOOLS" ]; then sleep 0.2; echo $1 >> ${calls}; fi\n[ $1 != kubelet ] || { echo no proxy >&2; exit 1; }\n`,
    );
    chmodSync(join(root, 'test/tools/build.sh'), 0o755);
    plant(
      'test/simulated/reads.test.ts',
      `${head}import { readFileSync } from 'node:fs';
test('reads', (t) => { t.diagnostic('tools: ' + readFileSync(${JSON.stringify(calls)}, 'utf8').split('\\n').join(' ')); t.skip('needs kubelet'); });\n`,
    );
    const logs = join(root, 'logs');
    const { out, last } = run(binTest('simulated'), { ACTORLET_TEST_LOGS: logs });
    assert.equal(last, '0 passed, 0 failed, 1 skipped', out);
    const log = readFileSync(join(logs, 'simulated-beside.log'), 'utf8');
    assert.match(log, /tools: cri-client cri-contract kubelet /);
    assert.match(readFileSync(join(logs, 'tools.log'), 'utf8'), /no proxy/);
  });

  const endless = {
    'a handle that is never closed': `${head}test('over', () => { setInterval(() => {}, 1000); });\n`,
    'a loop without end': `${head}test('loops', () => { for (;;); });\n`,
    'an orphan that holds its output': `${head}import { spawn } from 'node:child_process';
test('over', () => { spawn('sleep', ['1000'], { stdio: 'inherit', detached: true }).unref(); });\n`,
  };
  for (const [what, source] of Object.entries(endless))
    it(`ends a test file that does not end by itself, and runs the next one: ${what}`, () => {
      plant('test/simulated/endless.test.ts', source);
      plant('test/simulated/two.test.ts', two);
      plant('test/tools/build.sh', '#!/bin/sh\n');
      chmodSync(join(root, 'test/tools/build.sh'), 0o755);
      const { out, last, code } = run(binTest('simulated'), { ACTORLET_TEST_SILENCE: '4' });
      assert.notEqual(code, 0, out);
      assert.match(last ?? '', /^[34] passed, 1 failed, 0 skipped$/, out);
      assert.match(out, /nothing was said for 4 s: what still runs is ended[^]*(endless\.test\.ts|sleep 1000)/);
    });

  /** Says by which process it ran. */
  const tellsPid = `${head}test('pid', (t) => { t.diagnostic('by process ' + process.pid); });\n`;

  it('pure tests share a process, but for those that need one of their own', () => {
    for (const name of ['a', 'b', 'fuzz/c']) plant(`test/pure/${name}.test.ts`, tellsPid);
    plant('test/pure/hooked.test.ts', `import { registerHooks } from 'node:module'; registerHooks({});\n${tellsPid}`);
    const logs = join(root, 'logs');
    const { out, last } = run(binTest('pure'), { ACTORLET_TEST_LOGS: logs });
    assert.equal(last, '4 passed, 0 failed, 0 skipped', out);
    const processes = (log: string) => readFileSync(join(logs, log), 'utf8').match(/by process \d+/g) ?? [];
    assert.deepEqual([processes('pure-shared.log').length, new Set(processes('pure-shared.log')).size], [2, 1]);
    assert.deepEqual([processes('pure-own.log').length, new Set(processes('pure-own.log')).size], [2, 2]);
  });

  it('quick looks at types, at what changed, at pure tests but the long ones, and at some nodes; each with its time', () => {
    const quick = join(root, 'test/tools/quick-checks.sh');
    cpSync(join(checkout, 'test/tools/quick-checks.sh'), quick);
    const [, nodes = ''] = /^QUICK_SIMULATED="(.*)"$/m.exec(readFileSync(quick, 'utf8')) ?? [];
    for (const path of nodes.split(' '))
      plant(path.endsWith('.ts') ? path : `${path}/some.test.ts`, `${head}test('node', () => {});\n`);
    plant('test/pure/two.test.ts', two);
    plant('test/pure/fuzz/long.test.ts', `${head}test('long', () => { throw new Error('not for quick'); });\n`);
    plant('bin/simulate', '#!/bin/sh\necho "$@"\n');
    chmodSync(join(root, 'bin/simulate'), 0o755);
    plant('tsconfig.json', '{ "compilerOptions": { "noEmit": true, "types": [] }, "include": ["machines"] }\n');
    plant('eslint.config.js', `export default [{ rules: { 'no-var': 'error' } }];\n`);
    plant('machines/old.ts', 'export  const   unchanged = 1;\n');
    plant('.gitignore', 'node_modules\ntmp\nlogs\nmemory\n');
    const git = (...args: string[]) =>
      spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: root, encoding: 'utf8' });
    for (const args of [
      ['init', '-q'],
      ['add', '-A'],
      ['commit', '-qm', 'all'],
    ])
      assert.equal(git(...args).status, 0);
    plant('machines/new.js', 'export const fresh = 1;\n');
    const memory = { XDG_CACHE_HOME: join(root, 'memory') };
    const good = run(binTest('quick'), memory);
    assert.equal(good.code, 0, good.out);
    for (const part of ['tsc', 'prettier', 'eslint', 'pure \\(shared\\)', 'simulated \\(quick\\)', 'simulate'])
      assert.match(good.out, new RegExp(`^ok    ${part}.* \\(\\d+ s, \\d+ s of CPU\\)$`, 'm'));
    assert.doesNotMatch(good.out, /not for quick/);
    plant('machines/bad.ts', `export const bad: number = 'text';\n`);
    plant('machines/new.js', 'var  fresh = 1;\n');
    const bad = run(binTest('quick'), memory);
    for (const part of ['tsc', 'prettier', 'eslint']) assert.match(bad.out, new RegExp(`^FAIL  ${part}$`, 'm'));
    assert.match(bad.out, /bad\.ts.*TS2322[^]*no-var/);
    assert.doesNotMatch(bad.out, /old\.ts/);
    assert.notEqual(bad.code, 0);
    assert.equal(run(binTest('quick', 'pure')).code, 2);
  });

  it('names the layers when asked for one that there is not', () => {
    const { code, out } = run(binTest('pur'));
    assert.equal(code, 2);
    assert.match(out, /no layer "pur"; there are: quick static pure /);
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`${signal} ends all that it started`, async () => {
      const pidFile = join(root, 'pid');
      plant(
        'test/pure/hangs.test.ts',
        `${head}import { spawn } from 'node:child_process'; import { writeFileSync } from 'node:fs';
test('hangs', () => new Promise(() => {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  writeFileSync(${JSON.stringify(pidFile)}, child.pid + ' ' + process.pid);
}));\n`,
      );
      // A group of its own, as a terminal gives it, so that the signal reaches bash and nobody else.
      const runner = spawn('bash', binTest('pure'), { env, stdio: 'ignore', detached: true });
      const ended = new Promise<number | null>((resolve) => runner.once('exit', resolve));
      while (!existsSync(pidFile) || readFileSync(pidFile, 'utf8') === '') await sleep(50);
      const pids = readFileSync(pidFile, 'utf8').split(' ').map(Number);
      runner.kill(signal);
      assert.equal(await ended, 130);
      const alive = pids.filter((pid) => isAlive(pid));
      for (const pid of alive) process.kill(pid, 'SIGKILL');
      assert.deepEqual(alive, []);
      assert.deepEqual(
        readdirSync(join(root, 'tmp')).filter((name) => name.startsWith('actorlet-test')),
        [],
      );
    });
  }
});

/** True for a running process; a zombie that nobody has reaped yet is not. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
