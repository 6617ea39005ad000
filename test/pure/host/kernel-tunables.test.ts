/** The kernel's tunables of a node: set, or only checked; in kubelet's words. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { pino } from 'pino';
import { setUpKernelTunables } from '../../../actors/host/kernel/kernel-tunables.ts';
import type { TunablesOptions } from '../../../actors/host/kernel/kernel-tunables.ts';

const GOOD = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};
let folder: string;
let lines: string[];
const path = (name: string) => join(folder, name);
const set = (name: string, value: string) => writeFileSync(path(name), `${value}\n`);
const values = () =>
  Object.fromEntries(Object.keys(GOOD).map((name) => [name, readFileSync(path(name), 'utf8').trim()]));

/** A tunable that can be read, and that not even root can write. */
function locked(name: string): void {
  rmSync(path(name));
  symlinkSync('/proc/sys/kernel/ngroups_max', path(name));
}

function setUp(more: Partial<TunablesOptions> = {}): void {
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  setUpKernelTunables({
    ...{ protect: false, log, inUserNamespace: false, mayNotSet: false, root: true, folder },
    ...more,
  });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tunables-'));
  lines = [];
  for (const [name, value] of Object.entries(GOOD)) {
    mkdirSync(dirname(path(name)), { recursive: true });
    set(name, value);
  }
});
afterEach(() => rmSync(folder, { recursive: true }));

test('as they should be: nothing is written or said', () => {
  setUp();
  setUp({ protect: true });
  assert.deepEqual(lines, []);
  assert.deepEqual(values(), GOOD);
});

test('they are set', () => {
  set('vm/overcommit_memory', '0');
  set('kernel/panic', '-1');
  setUp();
  assert.deepEqual(values(), GOOD);
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /"flag":"vm\/overcommit_memory".*"actualValue":0.*Updating kernel flag/);
});

test('protected, they are the administrator’s: all that are wrong are named, none is set', () => {
  set('vm/overcommit_memory', '0');
  assert.throws(() => setUp({ protect: true }), {
    code: 'HOST031',
    message: /invalid kernel flag: vm\/overcommit_memory, expected value: 1, actual value: 0/,
  });
  set('kernel/panic_on_oops', '0');
  assert.throws(() => setUp({ protect: true, root: false }), {
    message: /\[invalid kernel flag: vm\/overcommit_memory, .*, invalid kernel flag: kernel\/panic_on_oops, .*\]/,
  });
  assert.equal(values()['vm/overcommit_memory'], '0');
});

test('one that is missing or cannot be read is an error in either case', () => {
  rmSync(path('kernel/keys/root_maxkeys'));
  assert.throws(() => setUp(), { message: /ENOENT.*root_maxkeys/ });
  set('kernel/keys/root_maxkeys', 'x');
  assert.throws(() => setUp({ protect: true }), { message: /"x" is no number/ });
});

test('one that cannot be set: an error for root, but not in a user namespace where that is expected', () => {
  locked('kernel/panic');
  assert.throws(() => setUp(), { code: 'HOST031', message: /EACCES/ });
  assert.throws(() => setUp({ inUserNamespace: true }), { message: /EACCES/ });
  assert.match(lines.at(-1) ?? '', /Hint: enable KubeletInUserNamespace/);
  setUp({ inUserNamespace: true, mayNotSet: true });
  assert.match(lines.at(-1) ?? '', /running in UserNS, ignoring/);
  setUp({ root: false });
  assert.match(lines.at(-1) ?? '', /"level":50.*Updating kernel flag failed/);
});
