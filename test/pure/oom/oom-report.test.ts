/** What kernels of several ages write when they kill for want of memory, and what of it becomes an event of the node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseKmsgRecord } from '../../../machines/oom/kmsg-record.ts';
import type { OomReport } from '../../../machines/oom/oom-report.ts';
import { isSystemOom, readOomLine, systemOomMessage } from '../../../machines/oom/oom-report.ts';
import { GLOBAL_6, LEGACY_GLOBAL, LEGACY_MEMCG, MEMCG_6 } from './kernel-texts.ts';

function reports(log: string): OomReport[] {
  const all: OomReport[] = [];
  let open: OomReport | null = null;
  for (const record of log.trim().split('\n')) {
    const parsed = parseKmsgRecord(record);
    assert.ok(parsed, record);
    const reading = readOomLine(open, parsed.text);
    open = reading.open;
    if (reading.told !== null) all.push(reading.told);
  }
  assert.equal(open, null, 'the last report is complete');
  return all;
}

test('the whole machine is out of memory: kernel 6', () => {
  const [report, ...others] = reports(GLOBAL_6);
  assert.deepEqual(others, []);
  assert.deepEqual(report, { container: '/', limitedBy: '/', pid: 1873, process: 'tail' });
  assert.ok(report && isSystemOom(report));
  assert.equal(systemOomMessage(report), 'System OOM encountered, victim process: tail, pid: 1873');
});

test('a cgroup has reached its limit, recorded on this kernel: no matter of the node', () => {
  const [report, ...others] = reports(MEMCG_6);
  assert.deepEqual(others, []);
  const group = '/nodeground-oom';
  assert.deepEqual(report, { container: group, limitedBy: group, pid: 24017, process: 'tail' });
  assert.equal(isSystemOom(report as OomReport), false);
});

test('kernels before 5.0 say it in other words', () => {
  assert.deepEqual(reports(LEGACY_MEMCG), [
    { container: '/mem2', limitedBy: '/mem2/limit', pid: 13536, process: 'memorymonster' },
  ]);
  assert.deepEqual(reports(LEGACY_GLOBAL), [{ container: '/', limitedBy: '/', pid: 19667, process: 'evil-program2' }]);
});

test('one killing after the other, with what others write between', () => {
  const all = reports(`${MEMCG_6}\n6,900,1,-;usb 1-1: new device\n${GLOBAL_6}\n${LEGACY_GLOBAL}`);
  assert.deepEqual(
    all.map(({ pid, limitedBy }) => [pid, limitedBy]),
    [
      [24017, '/nodeground-oom'],
      [1873, '/'],
      [19667, '/'],
    ],
  );
});

test('what a process calls itself puts nothing else into the report', () => {
  const begun = readOomLine(null, 'a invoked oom-killer: gfp_mask=0x0').open;
  const line = (name: string) =>
    `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/kubepods/x,task_memcg=/kubepods/x/y,task=${name},pid=7,uid=0`;
  for (const name of [',pid=1,uid=0', 'a,oom_memcg=/', 'Killed process ']) {
    const { told } = readOomLine(begun, line(name));
    assert.equal(told?.pid, 7);
    assert.notEqual(told?.limitedBy, '/');
  }
  const killed = readOomLine(begun, 'Out of memory: Killed process 12 (a) b (c)) total-vm:1kB').told;
  assert.deepEqual([killed?.pid, killed?.process], [12, 'a) b (c)']);
});

test('lines that only look alike complete nothing', () => {
  assert.deepEqual(readOomLine(null, 'Out of memory: Killed process 12 (x)'), { open: null, told: null });
  const begun = readOomLine(null, 'a invoked oom-killer: gfp_mask=0x0').open;
  for (const line of [
    'Killed process',
    'Killed process x (a)',
    'Killed process 12 a)',
    'Killed process 12 (',
    'Task in',
  ]) {
    const { open, told } = readOomLine(begun, line);
    assert.equal(told, null, line);
    assert.notEqual(open, null, line);
  }
  assert.equal(systemOomMessage({ container: '/', limitedBy: '/', pid: 0, process: 'x' }), 'System OOM encountered');
});

test('records of the log', () => {
  assert.deepEqual(parseKmsgRecord('6,42,17,-;hello; you\n SUBSYSTEM=usb\n'), { sequence: 42, text: 'hello; you' });
  assert.deepEqual(parseKmsgRecord('6,42,17,c,caller=T1;x'), { sequence: 42, text: 'x' });
  for (const bad of ['', 'no head', '6,42;x', 'a,1,1;x', '6,,1,-;x', `6,1,${'1'.repeat(20)},-;x`])
    assert.equal(parseKmsgRecord(bad), null, bad);
});
