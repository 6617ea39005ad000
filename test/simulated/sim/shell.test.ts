import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Mount } from '../../../cri/generated/runtime/v1/api.ts';
import { ContainerFiles, FileProblem } from '../../../cri/sim/play/container-files.ts';
import type { ProcessIo } from '../../../cri/sim/play/process-io.ts';
import { playableScript, Shell } from '../../../cri/sim/play/shell.ts';

const ROOT = { uid: 0, gid: 0, groups: [10] };
const SETTINGS = { user: ROOT, sysctls: {}, privileged: false, noNewPrivileges: true };

/** Runs a script without waiting for its sleeps. */
async function sh(text: string, env: Record<string, string> = {}, files = new ContainerFiles([], false, ROOT)) {
  const script = playableScript(text);
  assert.ok(script !== undefined, `not played: ${text}`);
  const slept: number[] = [];
  const sleep = (ms: number): Promise<void> => {
    slept.push(ms);
    return Promise.resolve();
  };
  const io: ProcessIo = { files, ...SETTINGS, sysctls: { 'kernel.shm_rmid_forced': '1' }, sleep };
  let out = '';
  let err = '';
  const streams = { input: '', out: (more: string) => void (out += more), err: (more: string) => void (err += more) };
  const code = await new Shell('/bin/sh', io, new Map(Object.entries(env))).run(script, streams);
  return { code, out, err, slept };
}

test('words: quotes, variables, substitution, splitting', async () => {
  const env = { A: 'x y', EMPTY: '' };
  assert.equal((await sh(`echo "$A" '$A' \${A}z $EMPTY end`, env)).out, 'x y $A x yz end\n');
  assert.equal((await sh('echo "a\\"b" \\"c\\" $(id -u)-$(id -G)', env)).out, 'a"b "c" 0-0 10\n');
  assert.equal((await sh('N=3; M=$N$N; echo $M; N=4 env; echo $N', { N: '1' })).out, '33\nN=4\n3\n');
  const missing = await sh('echo "${NOPE:?}"; echo on');
  assert.deepEqual([missing.code, missing.out], [2, '']);
});

test('lists, conditions, functions and loops', async () => {
  assert.equal((await sh('true && echo a || echo b; false && echo c || echo d')).out, 'a\nd\n');
  assert.equal((await sh('false; echo $?; exit 7; echo never')).code, 7);
  assert.equal((await sh('if [ 2 -eq 1 ]; then\n echo a\nelse echo b\nfi')).out, 'b\n');
  assert.equal((await sh('f() {\n echo "in f"\n}\nf | cat; f')).out, 'in f\nin f\n');
  const loop = "while [ $(cat /n | wc -l /n | awk {'print $1'}) -lt 3 ]; do echo x >> /n; done; cat /n";
  assert.equal((await sh(`touch /n; ${loop}`)).out, 'x\nx\nx\n');
  assert.equal((await sh('[[ "a" == "a" ]] && test -f /none || echo "not there"')).out, 'not there\n');
  assert.equal((await sh('sleep 10 & exit 1')).code, 1);
  assert.deepEqual((await sh('sleep 2.5')).slept, [2500]);
  const readOnly = new ContainerFiles([], true, ROOT);
  assert.equal((await sh('echo a > /file', {}, readOnly)).err, "/bin/sh: can't create /file: Read-only file system\n");
  const denied = await sh('ip link add dummy0 type dummy || true');
  assert.deepEqual([denied.code, denied.err], [0, 'ip: RTNETLINK answers: Operation not permitted\n']);
  assert.equal((await sh('/bin/sysctl kernel/shm_rmid_forced')).out, 'kernel.shm_rmid_forced = 1\n');
});

test('a trap of SIGTERM runs once the command of then has ended; without one it is not noticed', async () => {
  const run = async (text: string): Promise<string> => {
    const script = playableScript(text) ?? assert.fail();
    let rounds = 0;
    let out = '';
    const io: ProcessIo = {
      files: new ContainerFiles([], false, ROOT),
      ...SETTINGS,
      sleep: () => {
        if (++rounds === 3) shell.terminate();
        return Promise.resolve();
      },
    };
    const shell = new Shell('/bin/sh', io, new Map());
    const code = await shell.run(script, { input: '', out: (more) => void (out += more), err: () => {} });
    return `${out}${code}`;
  };
  assert.equal(await run('end() { echo bye; exit 3; }\ntrap end SIGTERM\nwhile true; do sleep 1; done'), 'bye\n3');
  assert.equal(await run('trap "sleep 9; exit 4" TERM\nwhile true; do sleep 1; done'), '4');
  assert.equal(await run("trap 'wget x' TERM; echo $?"), '1\n0');
  assert.equal(await run('sleep 1; sleep 1; sleep 1; sleep 1; echo all'), 'all\n0');
});

test('a script with anything unknown is not played at all', () => {
  for (const text of [
    'wget http://x',
    'for x in a b; do echo $x; done',
    'echo `id`',
    'echo *.txt',
    'cat <<E',
    'echo $((1+1))',
    'echo "open',
    'while true; do echo',
    'echo a 2>&1',
    'echo $(nslookup x)',
    'if true; then mkdir /x; fi',
    'echo ${A%%b}',
  ]) {
    assert.equal(playableScript(text), undefined, text);
  }
});

test('files below a mount are real, others in memory, and no link leads out of a mount', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'play-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  for (const name of ['data', 'data/inner', 'ro']) mkdirSync(join(dir, name));
  writeFileSync(join(dir, 'data/a'), 'A');
  writeFileSync(join(dir, 'ro/r'), 'R', { mode: 0o400 });
  writeFileSync(join(dir, 'secret'), 'S');
  symlinkSync('a', join(dir, 'data/link'));
  symlinkSync(join(dir, 'secret'), join(dir, 'data/out'));
  symlinkSync(dir, join(dir, 'data/up'));
  const mount = (containerPath: string, name: string, readonly = false): Mount =>
    Mount.fromPartial({ containerPath, hostPath: join(dir, name), readonly });
  const mounts = [mount('/data', 'data'), mount('/data/ro', 'ro', true), mount('/log', 'secret')];
  const files = new ContainerFiles(mounts, false, ROOT);
  const problem = (act: () => unknown, message: string): void =>
    assert.throws(act, (error: unknown) => error instanceof FileProblem && error.message === message);
  assert.equal(files.read('/data/link').toString(), 'A');
  assert.equal(files.read('/data/ro/r').toString(), 'R');
  files.write('/data/new', '1');
  files.write('/data/new', '2', { append: true });
  assert.equal(readFileSync(join(dir, 'data/new'), 'utf8'), '12');
  files.write('/log', 'S2');
  assert.equal(readFileSync(join(dir, 'secret'), 'utf8'), 'S2');
  files.write('/tmp/own', 'mine');
  assert.equal(files.read('tmp/own').toString(), 'mine');
  assert.ok(!existsSync(join(dir, 'tmp')));
  problem(() => files.read('/data/out'), 'no such file or directory');
  problem(() => files.read('/data/up/secret'), 'no such file or directory');
  problem(() => files.read('/data/../../secret'), 'no such file or directory');
  problem(() => files.write('/data/out', 'x'), 'permission denied');
  problem(() => files.write('/data/up/x', 'x'), 'no such file or directory');
  problem(() => files.write('/data/ro/x', 'x'), 'read-only file system');
  problem(() => files.remove('/data/ro/r'), 'read-only file system');
  problem(() => files.read('/data'), 'is a directory');
  problem(() => new ContainerFiles(mounts, true, ROOT).write('/x', ''), 'read-only file system');
  const nobody = new ContainerFiles(mounts, false, { uid: 65534, gid: 65534, groups: [] });
  problem(() => nobody.read('/data/ro/r'), 'permission denied');
  problem(() => nobody.write('/data/a', 'x'), 'permission denied');
  assert.equal(files.remove('/data/new'), true);
  assert.equal(existsSync(join(dir, 'data/new')), false);
});
