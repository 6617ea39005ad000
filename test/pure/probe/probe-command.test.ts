/** What the command of an exec probe is: kubelet replaces its `$(NAME)`s from the container's spec. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Probe } from '../../../machines/protocol/api-types.ts';
import { ALL_BEHAVIOUR, BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import { ProbeBench } from './probe-bench.ts';

const container: Container = {
  name: 'c',
  image: 'img:1',
  env: [
    { name: 'PORT', value: '80' },
    { name: 'EMPTY' },
    { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    { name: 'TWICE', value: 'first' },
    { name: 'TWICE', value: '$(PORT)' },
  ],
};
const WRITTEN = ['check', '$(PORT)-$(NODE)-$(EMPTY)', '$$(PORT)', '$(MISSING)', '$(TWICE)', '$PORT'];
const EXPANDED = ['check', '80--', '$(PORT)', '$(MISSING)', '$(PORT)', '$PORT'];

function bench(probe: Partial<Probe> = {}, kind: 'liveness' | 'readiness' | 'startup' = 'readiness'): ProbeBench {
  const made = new ProbeBench(kind, { exec: { command: WRITTEN }, ...probe });
  made.over.container = container;
  made.look();
  return made;
}
const commands = (made: ProbeBench) => made.effects.flatMap((e) => (e.type === 'cri.ExecSync' ? [e.params.cmd] : []));
const messages = (made: ProbeBench) =>
  made.effects.flatMap((e) => (e.type === 'event.Record' ? [e.params.message] : []));

test('names stand for what the spec sets them to: empty when it comes from elsewhere, as written when there is none', () => {
  for (const kind of ['liveness', 'readiness', 'startup'] as const) {
    const made = bench({}, kind);
    made.ring();
    assert.deepEqual(commands(made), [EXPANDED]);
  }
});

test('a command that ran too long is told as it was run', () => {
  const made = bench();
  made.ring();
  made.failed('cri.ExecSync', 'DeadlineExceeded');
  assert.deepEqual(messages(made), [
    'Readiness probe failed: command timed out: "check 80-- $(PORT) $(MISSING) $(PORT) $PORT" timed out after 1s',
  ]);
});

test('the command and the time that it may take are told as Go writes them', () => {
  const told = (behaviour: number[]) => {
    const made = bench({ timeoutSeconds: 60, exec: { command: ['a\u0007b', '\u00e9'] } });
    made.over.settings = { behaviour };
    made.ring();
    made.failed('cri.ExecSync', 'DeadlineExceeded');
    return messages(made)[0]?.replace('Readiness probe failed: command timed out: ', '');
  };
  assert.equal(told([...ALL_BEHAVIOUR]), String.raw`"a\ab é" timed out after 1m0s`);
  const before = ALL_BEHAVIOUR.filter((n) => n !== BEHAVIOUR.timeoutsAreGos);
  assert.equal(told(before), String.raw`"a\u0007b é" timed out after 60s`, 'as logs of before have it');
});

test('a command that would be longer than any message to the runtime is not run', () => {
  const made = bench({ exec: { command: ['$(LONG)'.repeat(40)] } });
  made.over.container = { ...container, env: [{ name: 'LONG', value: 'x'.repeat(500_000) }] };
  made.ring();
  assert.deepEqual(commands(made), []);
  assert.equal(made.state, 'waiting');
});

test('as logs of before have it: the command is run as written', () => {
  const made = bench();
  made.over.settings = { behaviour: [7] };
  made.ring();
  assert.deepEqual(commands(made), [WRITTEN]);
});
