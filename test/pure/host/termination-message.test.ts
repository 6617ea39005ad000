import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { hostEffects } from '../../../actors/host/effects/host-effects.ts';
import type { HostSettings } from '../../../actors/host/files/host-settings.ts';
import { endedJustNow, FRESH_MS } from '../../../actors/host/logs/quiet-log.ts';
import { parseCriLog } from '../../../actors/host/effects/termination-message.ts';

const settings: HostSettings = {
  rootDir: '/nowhere',
  podLogsDir: '/nowhere',
  containerLogsDir: '/nowhere',
  cgroupVersion: 1,
  cgroupDriver: 'cgroupfs',
  log: pino({ level: 'silent' }),
};
const limits = { maxBytes: 4096, maxLines: 80 };
const T = '2024-01-01T00:00:00.000000001Z';

async function withFiles(content: Record<string, string>, use: (path: (name: string) => string) => Promise<void>) {
  const dir = await mkdtemp(join(tmpdir(), 'actorlet-message-'));
  try {
    for (const [name, text] of Object.entries(content)) await writeFile(join(dir, name), text);
    await use((name) => join(dir, name));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const read = async (path: string, fallbackLogPath?: string, some: object = {}) =>
  (await hostEffects['host.ReadTerminationMessage']({ path, fallbackLogPath, ...limits, ...some }, settings)).message;

test('the file wins and only its end counts', async () => {
  await withFiles({ log: `${T} stdout F from the log\n`, message: `${'x'.repeat(5000)}end` }, async (path) => {
    const message = await read(path('message'), path('log'));
    assert.equal(message.length, 4096);
    assert.ok(message.endsWith('xend'));
  });
});

test('an empty or missing file falls back to the log only when asked to', async () => {
  const log = `${T} stdout F one\n${T} stderr P tw\n${T} stderr F o\nnot a log line\n`;
  await withFiles({ log, empty: '' }, async (path) => {
    assert.equal(await read(path('empty')), '');
    assert.equal(await read(path('gone')), '');
    assert.equal(await read(path('empty'), path('log')), 'one\ntwo\n');
    assert.equal(await read(path('gone'), path('log')), 'one\ntwo\n');
    assert.equal(await read('', path('log')), 'one\ntwo\n');
  });
});

test('the last 80 lines, at most 2048 bytes of them', async () => {
  const lines = Array.from({ length: 3000 }, (_, i) => `${T} stdout F line ${i}`).join('\n');
  await withFiles({ short: `${lines}\n`, long: `${lines}${'y'.repeat(3000)}\n` }, async (path) => {
    const message = await read('', path('short'));
    const got = message.trimEnd().split('\n');
    assert.equal(got.length, 80);
    assert.equal(got[0], 'line 2920');
    assert.equal(got.at(-1), 'line 2999');
    assert.equal(await read('', path('short'), { maxLines: 2 }), 'line 2998\nline 2999\n');
    assert.equal(Buffer.byteLength(await read('', path('long'))), 2048);
  });
});

test('what cannot be read becomes the message', async () => {
  await withFiles({}, async (path) => {
    assert.match(await read(path('')), /^Error on reading termination log .*EISDIR/);
    assert.match(
      await read('', path('none')),
      /^Error on reading termination message from logs: failed to try resolving symlinks in path ".*none": lstat .*none: no such file or directory$/,
    );
  });
});

test('CRI lines: tags with extra parts, empty text, other streams', () => {
  const log = `${T} stdout F:x a\n${T} stdout F \n${T} stdin F no\n${T} stdout P:x b`;
  assert.equal(parseCriLog(Buffer.from(log)).toString(), 'a\n\nb');
});

test('lines that the runtime writes after it told the end are waited for', async () => {
  await withFiles({ log: `${T} stdout F one\n` }, async (path) => {
    setTimeout(() => appendFileSync(path('log'), `${T} stdout F two\n`), 60);
    assert.equal(await read('', path('log')), 'one\ntwo\n');
  });
});

test('a time in which this process got no processor is none in which the runtime wrote nothing', async () => {
  await withFiles({ log: `${T} stdout F one\n` }, async (path) => {
    setTimeout(() => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
      setTimeout(() => appendFileSync(path('log'), `${T} stdout F two\n`), 60);
    }, 10);
    assert.equal(await read('', path('log')), 'one\ntwo\n');
  });
});

test('a log is waited for only when its container has just ended', () => {
  const now = Date.parse('2024-01-01T00:01:00Z');
  assert.ok(endedJustNow(now - 900, now));
  assert.ok(endedJustNow(now + 60_000, now), 'a clock that was set back');
  assert.ok(!endedJustNow(now - FRESH_MS, now));
  assert.ok(!endedJustNow(0, now), 'it has not ended');
});

test('what is no file is not waited for: a FIFO in the place of the message, of the log', async () => {
  await withFiles({ log: `${T} stdout F text\n` }, async (path) => {
    execFileSync('mkfifo', [path('pipe')]);
    assert.equal(
      await read(path('pipe'), path('log')),
      `Error on reading termination log ${path('pipe')}: ${path('pipe')} is not a regular file`,
    );
    // Of our own folder, where no other process is asked.
    const own = join(path('pods'), 'uid/containers/c');
    await mkdir(own, { recursive: true });
    execFileSync('mkfifo', [join(own, '00000000')]);
    const { message } = await hostEffects['host.ReadTerminationMessage'](
      { path: join(own, '00000000'), ...limits },
      { ...settings, rootDir: path('.') },
    );
    assert.match(message, /is not a regular file$/);
    assert.match(await read('', path('pipe')), /^Error on reading termination message from logs: .* regular file$/);
  });
});
