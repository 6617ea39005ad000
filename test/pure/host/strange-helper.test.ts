import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { StrangeFiles } from '../../../actors/host/strange/strange-files.ts';

const ask = (files: StrangeFiles) => files.call({ do: 'hostPath', path: tmpdir(), type: 'Directory' });

test('a call that comes just as its helper is ended for its rest gets another helper', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const files = new StrangeFiles();
  await ask(files);
  t.mock.timers.tick(30_000);
  await ask(files);
  t.mock.timers.reset();
  await files.use()();
});

test('a call that comes just as the last user ends the helpers gets another helper', async () => {
  const files = new StrangeFiles();
  const end = files.use();
  await ask(files);
  const ended = end();
  await ask(files);
  await ended;
  await files.use()();
});
