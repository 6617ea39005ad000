import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { lacksTool, referenceTool } from '../../tools/reference-tool.ts';

const skip = await lacksTool('cri-contract');
const root = join(import.meta.dirname, '../../..');
const buf = join(root, `node_modules/@bufbuild/buf-linux-${arch() === 'arm64' ? 'aarch64' : 'x64'}/bin/buf`);

/** Compares the proto files in `folder` with the contract in Kubernetes' own Go package. */
async function compare(folder: string): Promise<{ status: number | null; stdout: string }> {
  const built = spawnSync(buf, ['build', folder, '--as-file-descriptor-set', '-o', '-'], { maxBuffer: 1 << 24 });
  assert.equal(built.status, 0, built.stderr.toString());
  const compared = spawnSync(await referenceTool('cri-contract'), { input: built.stdout });
  return { status: compared.status, stdout: compared.stdout.toString() };
}

test('each service, method, message, field and enum value is that of Kubernetes 1.35', { skip }, async () => {
  const { status, stdout } = await compare(join(root, 'cri/proto'));
  assert.equal(status, 0, stdout);
  assert.match(stdout, /^\d+ elements agree$/m);
});

test('a field with another number or type is found', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cri-contract-'));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  const ours = readFileSync(join(root, 'cri/proto/runtime/v1/api.proto'), 'utf8');
  const changed = ours.replace('string host_ip = 4;', 'string host_ip = 5;').replace('uint32 attempt = 4;', '');
  mkdirSync(join(folder, 'runtime/v1'), { recursive: true });
  writeFileSync(join(folder, 'runtime/v1/api.proto'), changed);
  const { status, stdout } = await compare(folder);
  assert.equal(status, 1);
  assert.match(stdout, /^runtime\.v1\.PortMapping\.host_ip: is "field 5, .*", must be "field 4, /m);
  assert.match(stdout, /^runtime\.v1\.PodSandboxMetadata\.attempt: is "", must be "field 4, /m);
});
