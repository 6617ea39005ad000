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

test("what pods get of the node's files is what stands there when it is asked for", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-hosts-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const [path, nodes, resolver] = ['etc-hosts', 'hosts', 'resolv.conf'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ];
  const prepare = () =>
    hostEffects['host.PrepareContainer'](
      {
        ...{ podUid: 'u1', containerName: 'c', logDirectory: join(dir, 'logs'), containerLogDirectory: 'c' },
        ...{ terminationLogPath: '', subPaths: [] },
        hostsFile: { path, content: 'head\n', nodes: { path: nodes, tail: 'tail\n' } },
      },
      {} as HostSettings,
    );
  await assert.rejects(prepare(), { message: `open ${nodes}: no such file or directory` });
  for (const content of ['a\n', 'b\n']) {
    writeFileSync(nodes, content);
    await prepare();
    assert.equal(readFileSync(path, 'utf8'), `head\n${content}tail\n`);
  }
  const read = (of: string) => hostEffects['host.ReadResolver']({ path: of }, {} as HostSettings);
  await assert.rejects(read(resolver), { message: `open ${resolver}: no such file or directory` });
  await assert.rejects(read(dir), { message: `read ${dir}: is a directory` });
  writeFileSync(resolver, 'nameserver\n');
  await assert.rejects(read(resolver), { message: /nameserver list is empty/ });
  writeFileSync(resolver, 'nameserver 10.0.0.1\n');
  assert.deepEqual(await read(resolver), { nameservers: ['10.0.0.1'], searches: [], options: [] });
});
