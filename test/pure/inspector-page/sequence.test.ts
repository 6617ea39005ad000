import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StepLine } from '../../../actors/inspect/inspector/inspector-api.ts';
import { durationText, spanText } from '../../../actors/inspect/inspector-page/model/clock-text.ts';
import { lanesOf, stripCells } from '../../../actors/inspect/inspector-page/model/lanes.ts';
import { activations, arrowsOf, heightOf } from '../../../actors/inspect/inspector-page/model/sequence.ts';
import { toneOf } from '../../../actors/inspect/inspector-page/model/state-names.ts';

const STEPS: StepLine[] = [
  {
    index: 0,
    at: 1000,
    message: 'pod.start',
    from: 'sources',
    summary: 'from file',
    before: 'syncing.waitingForRuntime',
    after: 'syncing.creatingSandbox',
    effects: [
      { type: 'cri.RunPodSandbox', key: 'task/sandbox/1', to: 'cri', summary: 'attempt 0', answeredBy: 1 },
      { type: 'status.Publish', key: '', to: 'api', summary: 'Pending' },
    ],
  },
  {
    index: 1,
    at: 1300,
    message: 'effect.failed',
    from: 'cri',
    summary: 'cri.RunPodSandbox',
    before: 'syncing.creatingSandbox',
    after: 'syncing.creatingSandbox',
    effects: [{ type: 'cri.RunPodSandbox', key: 'task/sandbox/2', to: 'cri', summary: 'attempt 1' }],
    answers: { index: 0, key: 'task/sandbox/1', ms: 300, failed: true, error: 'no network' },
  },
];
const at = (i: number) => STEPS[i];

test('what came in is the first arrow, then what is asked for, with its duration once it is answered', () => {
  const [message, effect, status] = arrowsOf(STEPS[0]!, at);
  assert.deepEqual([message?.from, message?.to, message?.text], ['sources', 'pod', 'from file']);
  assert.deepEqual(
    [effect?.to, effect?.text, effect?.ms, effect?.other, effect?.failed],
    ['cri', 'RunPodSandbox attempt 0', 300, 1, true],
  );
  assert.equal(status?.ms, undefined);
  const answer = arrowsOf(STEPS[1]!, at)[0];
  assert.deepEqual([answer?.kind, answer?.ms, answer?.other, answer?.failed], ['answer', 300, 0, true]);
});

test('a step is as high as its arrows', () => {
  assert.ok(heightOf(STEPS[0]!) > heightOf(STEPS[1]!));
});

test('lanes at work: until the outcome, or without end; effects without outcome do not count', () => {
  assert.deepEqual(activations(0, 2, at), [
    { lane: 'cri', from: 0, arrow: 1, to: 1, failed: true },
    { lane: 'cri', from: 1, arrow: 1, to: Infinity, failed: false },
  ]);
  assert.equal(activations(2, 3, at).length, 1, 'what began above the view and goes on is in it');
});

test('only lanes that take part are drawn', () => {
  assert.deepEqual(lanesOf(STEPS), ['sources', 'pod', 'cri', 'api']);
});

test('the strip has a cell for each step, or fewer that cover all', () => {
  assert.deepEqual(stripCells(2, 10, at), [
    { from: 0, to: 0, lane: 'sources', failed: false, moved: true },
    { from: 1, to: 1, lane: 'cri', failed: true, moved: false },
  ]);
  const many = stripCells(100_000, 240, at);
  assert.equal(many.length, 240);
  assert.equal(many.at(-1)?.to, 99_999);
  assert.equal(many[1]?.from, many[0]!.to + 1);
  assert.equal(many[5]?.lane, null);
});

test('ages and durations', () => {
  const ages = [0, -5, 850, 12_000, 200_000, 300_000, 1_234_000, 18_240_000, 180_000_000, 2_000_000_000];
  assert.deepEqual(ages.map(spanText), ['0s', '0s', '850ms', '12s', '3m20s', '5m', '20m', '5h4m', '2d2h', '23d']);
  assert.deepEqual([0.2, 12.4, 1234, 45_678, 120_000].map(durationText), ['<1ms', '12ms', '1.23s', '45.7s', '2m']);
});

test('tones of states', () => {
  const states = [
    'syncing.running',
    'syncing.pullingImage',
    'syncing.crashLoopBackOff',
    'terminating.stoppingSandbox',
    'terminated.kept',
    'starting.imageBackOff',
    'stopping.killing',
  ];
  assert.deepEqual(states.map(toneOf), ['ok', 'wait', 'fail', 'stop', 'end', 'fail', 'stop']);
});
