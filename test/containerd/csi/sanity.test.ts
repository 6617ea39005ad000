/** The CSI driver of our tests keeps to the specification: csi-sanity judges it, with real mounts. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { CsiDriver, DISK_CAPABILITIES } from '../../tools/csi-driver/csi-driver.ts';
import type { NodeTraits } from '../../tools/csi-driver/node-service.ts';
import type { Showing } from '../../tools/csi-driver/volume-store.ts';
import { lacksTool, referenceTool } from '../../tools/reference-tool.ts';

const skip = await lacksTool('csi-sanity');

test('csi-sanity passes on the driver with folders', { skip }, async (t) => {
  await judged(t, 'bind');
});

test('csi-sanity passes on the driver with disks, and no loop device is left', { skip }, async (t) => {
  const dir = await judged(t, 'disk', { capabilities: DISK_CAPABILITIES });
  assert.equal(execFileSync('losetup', ['-l'], { encoding: 'utf8' }).includes(dir), false);
});

async function judged(t: TestContext, showing: Showing, traits: Partial<NodeTraits> = {}): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'csi-sanity-'));
  const driver = new CsiDriver({
    ...{ name: 'sanity.csi.example.com', socket: join(dir, 'csi.sock'), dir: join(dir, 'volumes'), showing },
    traits,
  });
  t.after(() => {
    driver.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  await driver.start();
  const places = ['--csi.stagingdir', join(dir, 'staging'), '--csi.mountdir', join(dir, 'mount')];
  const { stdout } = await promisify(execFile)(
    await referenceTool('csi-sanity'),
    ['--csi.endpoint', join(dir, 'csi.sock'), ...places, '--ginkgo.no-color'],
    { maxBuffer: 16 << 20 },
  ).catch((error: unknown) => {
    throw new Error((error as { stdout: string }).stdout);
  });
  const [, passed = '0'] = /SUCCESS! -- (\d+) Passed \| 0 Failed/.exec(stdout) ?? [];
  assert.ok(Number(passed) >= 50, stdout);
  assert.equal(readFileSync('/proc/self/mountinfo', 'utf8').includes(dir), false);
  return dir;
}
