import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { hostEffects } from '../../../actors/host/effects/host-effects.ts';
import type { HostSettings } from '../../../actors/host/files/host-settings.ts';

test("a container's own /etc/hosts is overwritten in place and not read, however long it made it", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-hosts-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'etc-hosts');
  writeFileSync(path, 'mine');
  chmodSync(path, 0o600);
  // Longer than any text may be: reading it failed, so that the container never started again. It takes no room on disk.
  truncateSync(path, 600 * 1024 * 1024);
  const { ino } = statSync(path);
  await hostEffects['host.PrepareContainer'](
    {
      ...{ podUid: 'u1', containerName: 'c', logDirectory: join(dir, 'logs'), containerLogDirectory: 'c' },
      ...{ terminationLogPath: '', subPaths: [], hostsFile: { path, content: 'whole\n' } },
    },
    {} as HostSettings,
  );
  assert.equal(readFileSync(path, 'utf8'), 'whole\n');
  const now = statSync(path);
  assert.deepEqual([now.ino, now.mode & 0o777], [ino, 0o644]);
});
