import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../../../cri/private-containerd/binaries.ts';
import { assertNothingLeft, machineState } from '../../containerd/support/machine-state.ts';
import type { MachineState } from '../../containerd/support/machine-state.ts';

const DEMO = fileURLToPath(new URL('../../../bin/demo', import.meta.url));
const FAKE = fileURLToPath(new URL('./fake-agent.ts', import.meta.url));

interface Ended {
  code: number | null;
  out: string;
}

/** Runs bin/demo; `onOutput` may act on what it has written so far. */
function demo(
  args: string[],
  options: { env?: NodeJS.ProcessEnv; uid?: number; onOutput?: (out: string, pid: number) => void } = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(DEMO, args, { env: options.env ?? process.env, uid: options.uid });
    let out = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data: Buffer) => {
        out += data.toString();
        options.onOutput?.(out, child.pid ?? 0);
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out }));
  });
}

describe('bin/demo', { concurrency: false }, () => {
  let dir: string;
  let clean: MachineState;
  let withFake: (fault: string) => NodeJS.ProcessEnv;

  before(async () => {
    clean = await machineState();
    dir = await mkdtemp(join(tmpdir(), 'demo-test-'));
    const launcher = join(dir, 'fake-agent');
    await writeFile(launcher, `#!/bin/sh\nexec "${process.execPath}" "${FAKE}" "$@"\n`, { mode: 0o755 });
    withFake = (fault) => ({ ...process.env, TMPDIR: dir, ACTORLET_DEMO_AGENT: launcher, FAKE_AGENT: fault });
  });
  after(async () => {
    await rm(dir, { recursive: true, force: true });
    await assertNothingLeft(clean);
  });

  async function assertTidy(): Promise<void> {
    assert.deepEqual(
      (await readdir(dir)).filter((name) => name.startsWith('actorlet-demo-')),
      [],
    );
    await assertNothingLeft(clean);
  }

  it('--check shows each state and the logs, leaves the journal, cleans up and exits 0', async () => {
    const journal = join(dir, 'journal.jsonl');
    const { code, out } = await demo(['--check', '--journal', journal], { env: withFake('') });
    assert.equal(code, 0, out);
    assert.match(out, /s {2}syncing\.creatingSandbox\n.*s {2}syncing\.running\n/);
    assert.match(out, /web: web: serving "hello from actorlet"/);
    assert.match(out, /replay: identical/);
    assert.match(out, /check passed/);
    assert.equal(await readFile(journal, 'utf8'), '{"n":1}\n{"n":2}\n');
    await assertTidy();
  });

  it('without --check, Ctrl-C ends it with 0 and removes everything', async () => {
    let told = false;
    const { code, out } = await demo([], {
      env: withFake(''),
      onOutput: (soFar, pid) => {
        if (told || !soFar.includes('Ctrl-C')) return;
        told = true;
        process.kill(pid, 'SIGINT');
      },
    });
    assert.equal(code, 0, out);
    assert.match(out, /removed everything the demo made/);
    await assertTidy();
  });

  for (const [fault, words] of [
    ['exits', /the agent ended with exit code 3[^]*Nothing works today/],
    ['never-up', /pod hello-\w+-demo is not as wanted: phase Pending/],
    ['leaves-logs', /left behind: \/var\/log\/pods\/default_hello-/],
  ] as const) {
    it(`exits with 1 and cleans up when the agent ${fault.replace('-', ' ')}`, async () => {
      const { code, out } = await demo(['--check', '--timeout', fault === 'never-up' ? '10' : '60'], {
        env: withFake(fault),
      });
      assert.equal(code, 1, out);
      assert.match(out, words);
      await assertTidy();
    });
  }

  it('names the packages that are missing', async () => {
    const bin = await mkdtemp(join(dir, 'bin-'));
    for (const name of ['sh', 'dirname', 'readlink', 'uname', 'id', 'mktemp', 'cp', 'rm']) {
      const file = await findProgram(name);
      if (file !== null) await symlink(file, join(bin, name));
    }
    const { code, out } = await demo(['--check', '--no-install'], { env: { PATH: bin } });
    assert.equal(code, 1, out);
    assert.match(out, /missing Debian packages: containerd .*\n.*apt-get install containerd/);
  });

  it('says so when it does not run as root', async () => {
    const { code, out } = await demo(['--check'], { uid: 65534 });
    assert.equal(code, 1, out);
    assert.match(out, /must run as root/);
  });

  it('refuses a root dir that is not empty, and wrong flags', async () => {
    const full = await demo(['--root-dir', '/etc'], {});
    assert.equal(full.code, 2);
    assert.match(full.out, /\/etc is not empty/);
    const wrong = await demo(['--nonsense'], {});
    assert.equal(wrong.code, 2);
    assert.match(wrong.out, /--nonsense/);
  });
});
