import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const LAUNCHER = fileURLToPath(new URL('../../../bin/actorlet', import.meta.url));
const arch = process.arch === 'arm64' ? 'arm64' : 'x64';

function run(file: string, env: NodeJS.ProcessEnv): Promise<{ code: number | null; out: string; pid: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, ['one', 'two words'], { env });
    let out = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (out += data.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, pid: child.pid ?? 0 }));
  });
}

describe('bin/actorlet', () => {
  let dir: string;
  const plain = { PATH: '/usr/bin:/bin' };

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'launcher-'));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  async function makePackage(
    root: string,
    main: 'bin/actorlet.ts' | 'dist/bundled/bin/actorlet.js' | null,
  ): Promise<string> {
    await mkdir(join(root, 'bin'), { recursive: true });
    await copyFile(LAUNCHER, join(root, 'bin/actorlet'));
    await chmod(join(root, 'bin/actorlet'), 0o755);
    if (main !== null) {
      await mkdir(dirname(join(root, main)), { recursive: true });
      await writeFile(
        join(root, main),
        'console.log(JSON.stringify({ pid: process.pid, args: process.argv.slice(2) }));\n',
      );
    }
    return join(root, 'bin/actorlet');
  }

  async function addNode(folder: string): Promise<void> {
    await mkdir(join(folder, `node-linux-${arch}`, 'bin'), { recursive: true });
    await symlink(process.execPath, join(folder, `node-linux-${arch}`, 'bin/node'));
  }

  it('is found by the name of kubelet when it was started by it', async () => {
    const root = join(dir, 'in-its-place');
    const launcher = await makePackage(root, 'bin/actorlet.ts');
    await addNode(join(root, 'node_modules'));
    const named = fileURLToPath(new URL('../../../bin/commands/process-name.ts', import.meta.url));
    await writeFile(
      join(root, 'bin/actorlet.ts'),
      `import { readFileSync } from 'node:fs';
       import { nameProcess } from '${named}';
       nameProcess(process.env, ['--v=2']);
       const of = (what) => String(readFileSync('/proc/self/' + what)).replaceAll('\\0', ' ').trim();
       console.log(process.env.ACTORLET_CALLED + ', ' + of('comm') + ': ' + of('cmdline'));\n`,
    );
    const link = join(root, 'kubelet');
    await symlink(launcher, link);
    assert.equal((await run(link, plain)).out.trim(), 'kubelet, kubelet: kubelet --v=2');
    assert.match((await run(launcher, plain)).out, /^undefined, (?!kubelet)[^:]+: (?!kubelet)/);
  });

  it('runs the sources of a checkout in its own process, with all arguments', async () => {
    const root = join(dir, 'checkout');
    const launcher = await makePackage(root, 'bin/actorlet.ts');
    await addNode(join(root, 'node_modules'));
    const { code, out, pid } = await run(launcher, plain);
    assert.equal(code, 0, out);
    assert.deepEqual(JSON.parse(out), { pid, args: ['one', 'two words'] });
  });

  it('runs the compiled package through the link in .bin, with the Node hoisted beside it', async () => {
    const modules = join(dir, 'app', 'node_modules');
    const launcher = await makePackage(join(modules, 'actorlet'), 'dist/bundled/bin/actorlet.js');
    await addNode(modules);
    await mkdir(join(modules, '.bin'));
    await symlink('../actorlet/bin/actorlet', join(modules, '.bin/actorlet'));
    const { code, out } = await run(join(modules, '.bin/actorlet'), plain);
    assert.equal(code, 0, out);
    assert.match(out, /two words/);
    assert.equal((await run(launcher, plain)).code, 0);
  });

  it('takes $ACTORLET_NODE first, and refuses one that is too old', async () => {
    const launcher = await makePackage(join(dir, 'chosen'), 'dist/bundled/bin/actorlet.js');
    assert.equal((await run(launcher, { ...plain, ACTORLET_NODE: process.execPath })).code, 0);
    const old = join(dir, 'old-node');
    await writeFile(old, '#!/bin/sh\n[ "$1" = -p ] && echo 20 || echo v20.1.0\n', { mode: 0o755 });
    const { code, out } = await run(launcher, { ...plain, ACTORLET_NODE: old });
    assert.equal(code, 1);
    assert.match(out, /old-node is not a Node\.js 24 or newer \(it is: v20\.1\.0\)/);
  });

  it('takes the node on PATH when it is new enough, and says what to do when none is', async () => {
    const launcher = await makePackage(join(dir, 'path'), 'dist/bundled/bin/actorlet.js');
    const newBin = join(dir, 'new-bin');
    await mkdir(newBin);
    await symlink(process.execPath, join(newBin, 'node'));
    assert.equal((await run(launcher, { PATH: `${newBin}:/usr/bin:/bin` })).code, 0);
    const oldBin = join(dir, 'old-bin');
    await mkdir(oldBin);
    await writeFile(join(oldBin, 'node'), '#!/bin/sh\n[ "$1" = -p ] && echo 20 || echo v20.1.0\n', { mode: 0o755 });
    const { code, out } = await run(launcher, { PATH: `${oldBin}:/usr/bin:/bin` });
    assert.equal(code, 1);
    assert.match(out, /needed and was not found \(node on PATH is v20\.1\.0\)[^]*npm ci/);
  });

  it('says so when the package has no program in it', async () => {
    const launcher = await makePackage(join(dir, 'empty'), null);
    const { code, out } = await run(launcher, { ...plain, ACTORLET_NODE: process.execPath });
    assert.equal(code, 1);
    assert.match(out, /installation is not complete/);
  });
});
