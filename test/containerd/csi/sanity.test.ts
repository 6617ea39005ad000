/** The CSI driver of our tests keeps to the specification: csi-sanity judges it, with real mounts. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { CsiDriver } from '../../tools/csi-driver/csi-driver.ts';
import { lacksTool, referenceTool } from '../../tools/reference-tool.ts';

test('csi-sanity passes on the driver', { skip: await lacksTool('csi-sanity') }, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'csi-sanity-'));
  const driver = new CsiDriver({
    ...{ name: 'sanity.csi.example.com', socket: join(dir, 'csi.sock'), dir: join(dir, 'volumes'), showing: 'bind' },
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
});
