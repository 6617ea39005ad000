import assert from 'node:assert/strict';
import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setVolumeOwnership } from '../../../actors/host/volumes/volume-ownership.ts';
import { folder, memoryLog } from '../journal/journal-fixture.ts';

/** A group that chown(2) takes from nobody, as a server of files may refuse one. */
const REFUSED = 2 ** 33;

test('a file that cannot be given to the group is opened to its own all the same, and told of', async (t) => {
  const dir = folder(t);
  const file = join(dir, 'file');
  writeFileSync(file, '');
  chmodSync(file, 0o600);
  const { log, lines } = memoryLog();
  await setVolumeOwnership(dir, REFUSED, false, log, { podUid: 'u' });
  assert.equal(statSync(file).mode & 0o7777, 0o660);
  assert.equal(statSync(dir).mode & 0o2070, 0o2070);
  assert.equal(lines.length, 2, 'one for each');
});
