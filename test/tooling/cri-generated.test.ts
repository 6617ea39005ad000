import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const cri = join(import.meta.dirname, '../../cri');

function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

test('cri/generated is what cri/codegen.sh makes of cri/proto', (t) => {
  const fresh = mkdtempSync(join(tmpdir(), 'cri-generated-'));
  t.after(() => {
    rmSync(fresh, { recursive: true });
  });
  execFileSync(join(cri, 'codegen.sh'), [fresh]);
  const generated = join(cri, 'generated');
  assert.deepEqual(files(generated), files(fresh));
  for (const file of files(fresh))
    assert.ok(
      readFileSync(join(generated, file)).equals(readFileSync(join(fresh, file))),
      `${file} differs: run cri/codegen.sh`,
    );
});
