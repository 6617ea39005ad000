import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { Shard } from '../../../actors/pods/shard/shard.ts';
import type { FromShard } from '../../../actors/pods/shard/shard-protocol.ts';
import type { Outcome } from '../../../actors/pods/shard/effect-runner.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import { pod, settings } from '../pod/pod-world.ts';

test("a pod's last report comes before the message that it has finished", async (t) => {
  const sent: FromShard[] = [];
  const finished = Promise.withResolvers<undefined>();
  const shard = new Shard({
    settings,
    journal: null,
    log: pino({ level: 'silent' }),
    now: Date.now,
    send: (message) => {
      sent.push(message);
      if (message.t === 'finished') setTimeout(() => finished.resolve(undefined), 20);
    },
    run: async ({ type, key }: Effect): Promise<Outcome> =>
      ({ type: 'effect.done', at: Date.now(), effect: type, key, result: {} }) as Outcome,
  });
  t.after(() => shard.close());
  const observed = {
    uid: 'u1',
    name: 'web-node1',
    namespace: 'default',
    at: Date.now(),
    sandboxes: [],
    containers: [],
  };
  const base = { source: 'file', observed, memory: null, runtimeReady: false, networkReady: false } as const;
  shard.post('u1', { type: 'pod.start', at: Date.now(), pod: pod({}), ...base });
  shard.post('u1', { type: 'pod.terminate', at: Date.now(), order: { reason: 'Removed', message: '' } });
  await finished.promise;
  assert.equal(sent.at(-1)?.t, 'finished', sent.map((message) => message.t).join(' '));
  assert.ok(sent.some((message) => message.t === 'report' && message.report.state === 'terminated.finished'));
});
