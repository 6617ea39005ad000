import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { KernelFiles } from '../../../actors/host/process/process-cgroup.ts';
import { moveToCgroup, runsInHost } from '../../../actors/host/process/process-cgroup.ts';
import {
  checkRoot,
  checkSwap,
  enterCgroup,
  setOomScore,
  setOpenFiles,
} from '../../../actors/host/process/process-setup.ts';
import { createLogger } from '../../../actors/record/logging/create-logger.ts';

function recorder(): { log: ReturnType<typeof createLogger>; text: () => string } {
  const out: string[] = [];
  const log = createLogger({ format: 'text', verbosity: 2 }, { write: (text) => out.push(text) });
  return { log, text: () => out.join('') };
}

async function withFolder(body: (folder: string) => unknown): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'actorlet-process-'));
  try {
    await body(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function fakeKernel(folder: string, host = true): KernelFiles {
  const proc = join(folder, 'proc');
  for (const pid of ['1', 'self', String(process.pid)]) {
    mkdirSync(join(proc, pid, 'ns'), { recursive: true });
    symlinkSync(pid === '1' || host ? 'pid:[1]' : 'pid:[2]', join(proc, pid, 'ns/pid'));
  }
  writeFileSync(join(proc, String(process.pid), 'cgroup'), '3:cpu,cpuacct:/\n2:cpuset:/\n1:name=systemd:/\n');
  const cgroup = join(folder, 'cgroup');
  for (const name of ['cpu,cpuacct', 'cpuset', 'systemd']) mkdirSync(join(cgroup, name), { recursive: true });
  return { proc, cgroup };
}

test('not root: kubelet’s error in the log, and on it goes', () => {
  const { log, text } = recorder();
  assert.equal(checkRoot(log, 1000), false);
  assert.match(
    text(),
    /^E.*"Kubelet running with insufficient permissions" err=".*uid `0`\. It is being run as 1000\./,
  );
  assert.equal(checkRoot(log, 0), true);
});

test('swap: refused with failSwapOn, else allowed; a missing table means none', async () => {
  await withFolder((folder) => {
    const files = fakeKernel(folder);
    const { log, text } = recorder();
    assert.equal(checkSwap(true, log, files), false);
    writeFileSync(join(files.proc, 'swaps'), 'Filename Type Size Used Priority\n');
    assert.equal(checkSwap(true, log, files), false);
    writeFileSync(join(files.proc, 'swaps'), 'Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n');
    assert.throws(() => checkSwap(true, log, files), /CFG031: running with swap on is not supported.*\/dev\/sda2/);
    assert.equal(checkSwap(false, log, files), true);
    assert.match(text(), /"Swap is on"/);
  });
});

test('the OOM score is written; a failure is a warning', async () => {
  await withFolder((folder) => {
    const files = fakeKernel(folder);
    const { log, text } = recorder();
    assert.equal(setOomScore(-999, log, files), true);
    assert.equal(readFileSync(join(files.proc, 'self/oom_score_adj'), 'utf8'), '-999');
    assert.equal(setOomScore(-999, log, { ...files, proc: join(folder, 'none') }), false);
    assert.match(text(), /^W.*"Failed to ApplyOOMScoreAdj" err="ENOENT/);
  });
});

test('no prlimit: a warning', () => {
  const { log, text } = recorder();
  assert.equal(setOpenFiles(1000, log, '/nowhere/prlimit'), false);
  assert.match(text(), /^W.*"Failed to set rlimit on max file handles" err=".*ENOENT" maxOpenFiles=1000/);
});

test('cgroup v1: into every hierarchy, with CPUs and memory nodes copied down', async () => {
  await withFolder(async (folder) => {
    const files = fakeKernel(folder);
    const cpuset = join(files.cgroup, 'cpuset');
    // The kernel makes these files with the folder; here they must be there before.
    for (const [path, value] of [
      [cpuset, '0-1'],
      [join(cpuset, 'node'), ''],
      [join(cpuset, 'node/agent'), ''],
    ] as const) {
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, 'cpuset.cpus'), value);
      writeFileSync(join(path, 'cpuset.mems'), value);
    }
    await moveToCgroup(process.pid, '/node/agent', 1, files);
    for (const name of ['cpu,cpuacct', 'cpuset', 'systemd']) {
      assert.equal(readFileSync(join(files.cgroup, name, 'node/agent/cgroup.procs'), 'utf8'), String(process.pid));
    }
    assert.equal(readFileSync(join(cpuset, 'node/agent/cpuset.cpus'), 'utf8'), '0-1');
  });
});

test('cgroup v2: into the one hierarchy', async () => {
  await withFolder(async (folder) => {
    const files = fakeKernel(folder);
    writeFileSync(join(files.cgroup, 'cgroup.controllers'), 'memory');
    await moveToCgroup(process.pid, '/node/agent', 2, files);
    assert.equal(readFileSync(join(files.cgroup, 'node/agent/cgroup.procs'), 'utf8'), String(process.pid));
    // Without that its memory could be neither measured nor swap limited.
    for (const above of ['', 'node'])
      assert.equal(readFileSync(join(files.cgroup, above, 'cgroup.subtree_control'), 'utf8'), '+memory');
    assert.equal(existsSync(join(files.cgroup, 'node/agent/cgroup.subtree_control')), false);
  });
});

test('inside a container the agent stays where it is', async () => {
  await withFolder(async (folder) => {
    const files = fakeKernel(folder, false);
    const { log, text } = recorder();
    assert.equal(runsInHost(process.pid, files), false);
    assert.equal(await enterCgroup('/agent', log, files), false);
    assert.equal(existsSync(join(files.cgroup, 'cpuset/agent')), false);
    assert.match(text(), /"PID is not running in the host namespace"/);
  });
});
