import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { TRANSPORTS, WORK } from '../support/api-fixture.ts';
import type { ApiFixture } from '../support/api-fixture.ts';

const sum = (data: Buffer) => createHash('sha256').update(data).digest('hex');

/** `kubectl cp`, which is tar through exec. */
export function copyScenarios(api: ApiFixture): void {
  for (const { name, env } of TRANSPORTS) {
    test(`kubectl cp of a folder and back over ${name}`, async () => {
      const dir = await mkdtemp(join(tmpdir(), 'cp-'));
      try {
        const [small, large] = [randomBytes(1), randomBytes(8 << 20)];
        await mkdir(join(dir, 'up', 'inner'), { recursive: true });
        await writeFile(join(dir, 'up', 'small'), small);
        await writeFile(join(dir, 'up', 'inner', 'large file'), large);
        await writeFile(join(dir, 'up', 'empty'), '');
        const there = `/tmp/cp-${name}`;
        const up = await api.kubectl(['cp', join(dir, 'up'), `${WORK}:${there}`, '-c', 'main'], env).mustEnd();
        assert.equal(up.code, 0, up.err);
        const seen = await api
          .kubectl(['exec', WORK, '-c', 'main', '--', 'sha256sum', `${there}/small`, `${there}/inner/large file`], env)
          .mustEnd();
        assert.equal(seen.out, `${sum(small)}  ${there}/small\n${sum(large)}  ${there}/inner/large file\n`, seen.err);
        const down = await api.kubectl(['cp', `${WORK}:${there}`, join(dir, 'down'), '-c', 'main'], env).mustEnd();
        assert.equal(down.code, 0, down.err);
        assert.equal(sum(await readFile(join(dir, 'down', 'inner', 'large file'))), sum(large));
        assert.equal((await readFile(join(dir, 'down', 'empty'))).length, 0);
      } finally {
        await rm(dir, { recursive: true, force: true });
      }
    });
  }
}
