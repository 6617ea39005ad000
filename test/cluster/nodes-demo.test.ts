import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { clusterTool } from './support/cluster-tool.ts';

const DEMO = fileURLToPath(new URL('../../bin/nodes-demo', import.meta.url));
const EXAMPLES = fileURLToPath(new URL('../../docs/examples/tutorial', import.meta.url));
const PROFILE = fileURLToPath(new URL('../../docs/profiles/bad-release.yaml', import.meta.url));
const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'] as const;

let dir: string;
let programs: string;

/** Runs bin/nodes-demo with its temporary files in the test's folder; `onOutput` may act on what it has written so far. */
function demo(
  args: readonly string[],
  onOutput: (out: string, pid: number) => void = () => undefined,
): Promise<{ code: number | null; out: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(DEMO, ['--no-install', ...args], { env: { ...process.env, TMPDIR: dir } });
    let out = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => {
        out += data.toString();
        onOutput(out, child.pid ?? 0);
      });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out }));
  });
}

/** Nothing of a demo is left: no folder, and no process that has one in its command line. */
async function assertTidy(): Promise<void> {
  const folders = (await readdir(dir)).filter((name) => name.startsWith('actorlet-nodes-demo-'));
  assert.deepEqual(folders, []);
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    assert.ok(!line.includes(join(dir, 'actorlet-nodes-demo-')), line.replaceAll('\0', ' '));
  }
}

describe('bin/nodes-demo', { concurrency: false }, () => {
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'nodes-demo-'));
    programs = join(dir, 'programs');
    await mkdir(programs);
    for (const name of PROGRAMS) await symlink(await clusterTool(name), join(programs, name));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  test('--check brings up control plane, nodes and pods, asks kubectl, and leaves nothing', async () => {
    const { code, out } = await demo([
      '--check',
      '--bin-dir',
      programs,
      '--count',
      '6',
      '--pods',
      '12',
      '--timeout',
      '240',
    ]);
    assert.equal(code, 0, out);
    assert.match(out, /6 nodes Ready[^]*12 pods of deployment\/nodes-demo Ready/);
    assert.match(out, /kubectl logs nodes-demo-\S+: ready to serve/);
    assert.match(out, /kubectl exec nodes-demo-\S+ -- uptime: up since the demo began/);
    assert.match(out, /inspector of all nodes: http:\/\/127\.0\.0\.1:\d+\/\?token=/);
    assert.match(out, /pods and nodes are gone[^]*removed everything the demo made[^]*check passed/);
    await assertTidy();
  });

  test('--run has a command use the nodes, and ends as that does', async () => {
    const flags = ['--bin-dir', programs, '--count', '3', '--pods', '0', '--timeout', '240'];
    const kubectl = `${join(programs, 'kubectl')} --cache-dir /dev/null`;
    const { code, out } = await demo([...flags, '--run', `${kubectl} get nodes -o name; ${kubectl} get pods; exit 7`]);
    assert.equal(code, 1, out);
    assert.match(out, /node\/worker-0\nnode\/worker-1\nnode\/worker-2\n[^]*No resources found/);
    assert.match(out, /exit 7 ended with 7/);
    await assertTidy();
  });

  test('the examples of the tutorial can be applied; what its user has left running does not hold up the end', async () => {
    const kubectl = `${join(programs, 'kubectl')} --cache-dir /dev/null`;
    const flags = ['--bin-dir', programs, '--count', '3', '--pods', '0', '--timeout', '240'];
    const run = [
      `${kubectl} apply --dry-run=server -f ${EXAMPLES}/shop.yaml -f ${EXAMPLES}/batch.yaml`,
      `${kubectl} apply -f ${EXAMPLES}/web.yaml`,
      `${kubectl} rollout status deployment/web`,
    ];
    const { code, out } = await demo([...flags, '--profile', PROFILE, '--run', run.join(' && ')]);
    assert.equal(code, 0, out);
    assert.match(
      out,
      /shop created[^]*packed created[^]*"web" successfully rolled out[^]*removed everything the demo made/,
    );
    await assertTidy();
  });

  test('Ctrl-C while the nodes come ends it and removes everything', async () => {
    let told = false;
    const { code, out } = await demo(['--bin-dir', programs, '--count', '3', '--pods', '3'], (soFar, pid) => {
      if (told || !soFar.includes('control plane up')) return;
      told = true;
      process.kill(pid, 'SIGINT');
    });
    assert.equal(code, 130, out);
    assert.match(out, /ending, please wait[^]*removed everything/);
    await assertTidy();
  });

  test('a part of the control plane that ends is told with its last words', async () => {
    const broken = join(dir, 'broken');
    await mkdir(broken);
    for (const name of PROGRAMS) await symlink(await clusterTool(name), join(broken, name));
    await rm(join(broken, 'kube-apiserver'));
    await writeFile(join(broken, 'kube-apiserver'), '#!/bin/sh\necho no such luck >&2\nexit 3\n', { mode: 0o755 });
    const { code, out } = await demo(['--check', '--bin-dir', broken, '--count', '3', '--pods', '3']);
    assert.equal(code, 1, out);
    assert.match(out, /kube-apiserver ended: \{"code":3[^]*no such luck/);
    await assertTidy();
  });
});
