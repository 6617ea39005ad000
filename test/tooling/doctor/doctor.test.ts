import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { checkCgroups } from '../../../actors/configure/doctor/check-cgroups.ts';
import { checkPorts } from '../../../actors/configure/doctor/check-network.ts';
import { checkNode, checkRoot, checkSwap } from '../../../actors/configure/doctor/check-process.ts';
import { checkRuntime } from '../../../actors/configure/doctor/check-runtime.ts';
import { examineMachine, formatResults } from '../../../actors/configure/doctor/examine.ts';

describe('actorlet doctor', () => {
  let dir: string;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'doctor-'));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  it('fails for a user that is not root and for an old Node', () => {
    assert.equal(checkRoot(1000).level, 'fail');
    assert.equal(checkRoot(0).level, 'ok');
    assert.equal(checkNode('20.20.2').level, 'fail');
    assert.equal(checkNode('24.0.0').level, 'ok');
  });

  it('finds a port that is in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    try {
      const used = await checkPorts([port]);
      assert.deepEqual([used.level, used.detail], ['fail', `in use: ${port}`]);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
    assert.equal((await checkPorts([port])).level, 'ok');
  });

  it('fails without cgroups and names missing controllers of version 2', async () => {
    assert.deepEqual(
      (await checkCgroups(join(dir, 'nothing'))).map(({ level }) => level),
      ['fail'],
    );
    await writeFile(join(dir, 'cgroup.controllers'), 'cpu cpuset\n');
    const [, controllers] = await checkCgroups(dir);
    assert.deepEqual([controllers?.level, controllers?.detail], ['fail', 'missing: memory, pids']);
  });

  it('fails for a runtime that does not answer, and for a root dir that is too long for a socket', async () => {
    const dead = { rootDir: dir, ports: [], endpoint: `unix://${dir}/none.sock` };
    assert.equal((await checkRuntime(dead))[0]?.level, 'fail');
    const [runtime] = await checkRuntime({ rootDir: `/${'x'.repeat(100)}`, ports: [] });
    assert.equal(runtime?.level, 'fail');
    assert.match(runtime?.detail ?? '', /RTM003/);
    assert.match(runtime?.cure ?? '', /shorter --root-dir/);
  });

  it('warns of swap', async () => {
    const file = join(dir, 'swaps');
    await writeFile(file, 'Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n');
    assert.equal((await checkSwap(file)).level, 'warn');
  });

  it('prints one line each, and a cure for all that is not ok', async () => {
    const results = await examineMachine({ rootDir: dir, ports: [] });
    assert.ok(results.length >= 12);
    for (const { level, cure } of results) assert.equal(cure === undefined, level === 'ok');
    const lines = formatResults(results).split('\n');
    assert.equal(lines.length, results.length);
    for (const line of lines) assert.match(line, /^(ok {2}|warn|fail) {2}\S+ +\S/);
  });
});
