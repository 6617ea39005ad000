/** Events of the node out of the kernel's log: each once, whatever else the log says, and never by waiting for it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { machineClock } from '../../../actors/host/time/clock.ts';
import type { KernelLog, KmsgRead } from '../../../actors/resources/oom/kmsg-reader.ts';
import { KmsgReader } from '../../../actors/resources/oom/kmsg-reader.ts';
import { OomWatcher } from '../../../actors/resources/oom/oom-watcher.ts';
import type { OomWatcherOptions } from '../../../actors/resources/oom/oom-watcher.ts';
import { ToldOoms } from '../../../actors/resources/oom/told-ooms.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { GLOBAL_6, MEMCG_6 } from './kernel-texts.ts';

const folder = mkdtempSync(join(tmpdir(), 'oom-'));
after(() => rmSync(folder, { recursive: true }));
const TAIL = 'System OOM encountered, victim process: tail, pid: 1873';

/** A log of these records. */
class FakeLog implements KernelLog {
  readonly reads: KmsgRead[];
  closed = false;
  constructor(...reads: (KmsgRead | string)[]) {
    this.reads = reads.flatMap((read): KmsgRead[] =>
      typeof read === 'string' && read.includes(';')
        ? read.split('\n').map((record) => ({ record }))
        : [read as KmsgRead],
    );
  }
  read(): KmsgRead {
    return this.reads.shift() ?? 'none';
  }
  close(): void {
    this.closed = true;
  }
}

/** A watcher over it, what it told and what it logged. */
function watch(openLog: () => KernelLog, more: Partial<OomWatcherOptions> = {}) {
  const events: string[] = [];
  const lines: { msg: string; reason?: string; err?: { code: string } }[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
  const looks: (() => void)[] = [];
  const watcher = new OomWatcher({
    ...{ log, openLog, inUserNamespace: false, mayLackLog: false },
    clock: { ...machineClock, lookAfter: (_ms, look) => (looks.push(look), { cancel: () => undefined }) },
    record: ({ reason, message }) => events.push(`${reason} ${message}`),
    told: new ToldOoms(join(folder, 'none'), 'boot', log),
    ...more,
  });
  return { watcher, events, lines, again: () => looks.shift()?.() };
}

test('what the machine lacks is told, what a cgroup lacks is not', () => {
  const log = new FakeLog(MEMCG_6, GLOBAL_6);
  const { watcher, events, again } = watch(() => log);
  watcher.start();
  assert.deepEqual(events, [`SystemOOM ${TAIL}`]);
  log.reads.push(...new FakeLog(MEMCG_6, 'lost', GLOBAL_6.replaceAll(',5', ',6')).reads);
  again();
  assert.equal(events.length, 2, 'the log goes on after records that were overwritten');
  watcher.stop();
  assert.ok(log.closed);
});

test('each is told once, also by the next agent, but not after a reboot', () => {
  const path = join(folder, 'oom_watcher_state');
  const quiet = pino({ level: 'silent' });
  const told = (boot = 'one') => new ToldOoms(path, boot, quiet);
  const run = (log: string, state: ToldOoms) => {
    const { watcher, events } = watch(() => new FakeLog(log), { told: state });
    watcher.start();
    watcher.stop();
    return events.length;
  };
  const later = GLOBAL_6.replaceAll(/,5(\d\d),/g, ',7$1,');
  assert.equal(run(GLOBAL_6, told()), 1);
  assert.equal(run(GLOBAL_6, told()), 0);
  assert.equal(run(`${GLOBAL_6}\n${later}`, told()), 1);
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { boot: 'one', sequence: 722 });
  assert.equal(run(GLOBAL_6, told('two')), 1);
  writeFileSync(path, 'x');
  assert.equal(run(GLOBAL_6, told('two')), 1, 'a damaged file is none');
});

test('a file that cannot be written is told with its code, and the event all the same', () => {
  const lines: { err?: { code: string } }[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
  const { watcher, events } = watch(() => new FakeLog(GLOBAL_6, GLOBAL_6), {
    told: new ToldOoms(join(folder, 'no-such-folder', 'state'), 'boot', log),
  });
  watcher.start();
  watcher.stop();
  assert.equal(events.length, 1);
  assert.deepEqual(
    lines.map((line) => line.err?.code),
    ['NOD014'],
  );
});

test('a full log is read in turns of the event loop', async () => {
  const lines = Array.from({ length: 5_000 }, (_, n) => `6,${n},1,-;usb`).join('\n');
  const log = new FakeLog(lines, GLOBAL_6.replaceAll(/,5(\d\d),/g, ',90$1,'));
  const { watcher, events } = watch(() => log);
  watcher.start();
  assert.equal(events.length, 0);
  assert.ok(log.reads.length > 4_000);
  assert.equal(await waitFor('the event', () => events[0]), `SystemOOM ${TAIL}`);
  watcher.stop();
});

test('no log: said once, in kubelet’s words, and nothing else happens', () => {
  const missing = () => new KmsgReader(join(folder, 'missing'));
  for (const [more, words] of [
    [{}, /^Failed to create an oomWatcher$/],
    [{ inUserNamespace: true }, /Hint: enable KubeletInUserNamespace/],
    [{ inUserNamespace: true, mayLackLog: true }, /running in UserNS, ignoring/],
  ] as const) {
    const { watcher, lines } = watch(missing, more);
    watcher.start();
    watcher.stop();
    assert.equal(lines.length, 1);
    assert.match(lines[0]?.msg ?? '', words);
    assert.match(JSON.stringify(lines[0]?.err), /HOST030.*ENOENT/);
  }
});

test('a file in the place of the log ends it', () => {
  const path = join(folder, 'file');
  writeFileSync(path, '');
  const { watcher, lines, again } = watch(() => new KmsgReader(path));
  watcher.start();
  assert.deepEqual(
    lines.map(({ msg, reason }) => [msg, reason]),
    [['Unexpectedly stopped receiving OOM notifications', 'end of file']],
  );
  again();
  assert.equal(lines.length, 1);
});

test('a log that says nothing holds nobody up', () => {
  const path = join(folder, 'fifo');
  execFileSync('mkfifo', [path]);
  const reader = new KmsgReader(path);
  const writer = openSync(path, 'w');
  assert.equal(reader.read(), 'none');
  writeSync(writer, '6,1,1,-;x');
  assert.deepEqual(reader.read(), { record: '6,1,1,-;x' });
  assert.equal(reader.read(), 'none');
  closeSync(writer);
  reader.close();
});
