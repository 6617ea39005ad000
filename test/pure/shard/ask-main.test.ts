import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ask, AskCatalog, AskType } from '../../../machines/protocol/ask.ts';
import { answerShard, askMain } from '../../../actors/pods/shard/ask-main.ts';
import type { Answer, Question } from '../../../actors/pods/shard/ask-main.ts';

const answers = ((what: AskType, { name }: AskCatalog['object.Get']['params']) => {
  if (what !== 'object.Get') return Promise.reject(new Error('no code'));
  if (name === 'forbidden')
    return Promise.reject(Object.assign(new Error('secrets "forbidden" is forbidden'), { code: 'Forbidden' }));
  return Promise.resolve({ found: { data: { k: name }, binaryData: {}, type: '' } });
}) as Ask;
const object = (name: string) => ({ kind: 'secret' as const, namespace: 'ns', name });
const token = { namespace: 'ns', serviceAccount: '', podName: '', podUid: '', audience: '', expirationSeconds: 600 };

/** An asker whose questions main answers over a channel of plain copies, as a MessagePort makes them. */
function connected(of: Ask | null) {
  const asker = askMain(
    (question) => void answerShard(of, structuredClone(question), (answer) => asker.answered(structuredClone(answer))),
  );
  return asker;
}

test('questions and answers find each other, whatever their order', async () => {
  const { ask } = connected(answers);
  const found = await Promise.all(['a', 'b', 'c'].map((name) => ask('object.Get', object(name))));
  assert.deepEqual(
    found.map((one) => one.found?.data['k']),
    ['a', 'b', 'c'],
  );
});

test('a refusal keeps its code and words', async () => {
  const { ask } = connected(answers);
  await assert.rejects(ask('object.Get', object('forbidden')), {
    code: 'Forbidden',
    message: 'secrets "forbidden" is forbidden',
  });
  await assert.rejects(ask('token.Get', token), { code: 'Unknown', message: 'no code' });
});

test('no API server: NoClient', async () => {
  await assert.rejects(connected(null).ask('object.Get', object('a')), { code: 'NoClient', message: 'no API server' });
});

test('an answer meant for a worker that died is never taken for another’s', async () => {
  const asked: Question[] = [];
  const died = askMain((question) => asked.push(question));
  const pending = died.ask('object.Get', object('old'));
  const replacement = askMain((question) => asked.push(question));
  const own = replacement.ask('object.Get', object('new'));
  const post = (answer: Answer) => replacement.answered(answer);
  for (const question of asked) await answerShard(answers, question, post);
  assert.deepEqual((await own).found?.data, { k: 'new' });
  const still = Symbol('still');
  assert.equal(await Promise.race([pending, Promise.resolve(still)]), still);
});
