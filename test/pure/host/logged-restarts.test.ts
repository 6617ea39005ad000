import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { hostEffects } from '../../../actors/host/effects/host-effects.ts';
import type { HostSettings } from '../../../actors/host/files/host-settings.ts';

test('logs that are there tell how often a container was restarted, and its files are of that number', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-logged-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const logs = join(dir, 'logs/c');
  const prepare = (attempt?: number) =>
    hostEffects['host.PrepareContainer'](
      {
        ...{ podUid: 'u1', containerName: 'c', logDirectory: join(dir, 'logs'), containerLogDirectory: 'c' },
        ...{
          terminationLogPath: join(dir, 'containers/c/00000000'),
          subPaths: [],
          ...(attempt !== undefined && { attempt }),
        },
      },
      {} as HostSettings,
    );
  assert.deepEqual(await prepare(0), { subPaths: {} });
  for (const name of ['0.log', '9.log', '16.log.20260101-000000.gz', 'notes', 'x40.log', '99999999999.log'])
    writeFileSync(join(logs, name), '');
  mkdirSync(join(logs, '70.log'));
  assert.deepEqual(await prepare(0), { subPaths: {}, attempt: 17 });
  assert.ok(existsSync(join(dir, 'containers/c/00000011')));
  assert.deepEqual(await prepare(17), { subPaths: {} });
  assert.deepEqual(await prepare(), { subPaths: {} }, 'one that the runtime tells of is not looked for');
});
