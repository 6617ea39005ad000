import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createLogger, type LoggerOptions } from '../../../actors/record/logging/create-logger.ts';
import { formatKlogLine } from '../../../actors/record/logging/klog-text.ts';

function lines(options: LoggerOptions, use: (log: ReturnType<typeof createLogger>) => void): string[] {
  const out: string[] = [];
  use(createLogger(options, { write: (text) => out.push(text) }));
  return out;
}

test('text is klog’s', () => {
  const [line = ''] = lines({ format: 'text', verbosity: 0 }, (log) => {
    log.info({ pod: { name: 'web', namespace: 'default' }, count: 3, ok: true }, 'Starting "it"');
  });
  assert.match(
    line,
    /^I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ logging\.test\.ts:\d+\] "Starting \\"it\\"" pod="default\/web" count=3 ok=true\n$/,
  );
  assert.match(lines({ format: 'text', verbosity: 0 }, (log) => log.warn('w'))[0] ?? '', /^W/);
});

test('errors: err first, causes joined, many lines in a block', () => {
  const [line = ''] = lines({ format: 'text', verbosity: 0 }, (log) => {
    log.error({ output: 'a\nb\n', err: new Error('outer', { cause: new Error('inner') }) }, 'Failed');
  });
  assert.match(line, /^E.*\] "Failed" err="outer: inner" output=<\n\ta\n\tb\n >\n$/);
});

test('the stamp of a line', () => {
  const at = new Date(2026, 10, 21, 2, 10, 8, 123).getTime() + 0.456;
  const line = formatKlogLine(JSON.stringify({ level: 30, ts: at, caller: 'x/file.ts:1', msg: 'm' }), 42);
  assert.match(line, /^I1121 02:10:08\.12345\d {6}42 file\.ts:1\] "m"\n$/);
});

test('JSON has kubelet’s fields', () => {
  const [info = '', failed = ''] = lines({ format: 'json', verbosity: 2, name: 'pleg' }, (log) => {
    log.debug({ key: 1 }, 'hello');
    log.error(new Error('boom'), 'Failed');
  });
  const first = JSON.parse(info) as Record<string, unknown>;
  assert.deepEqual(Object.keys(first), ['ts', 'logger', 'caller', 'v', 'key', 'msg']);
  assert.deepEqual([first.msg, first.v, first.key, first.logger], ['hello', 2, 1, 'pleg']);
  assert.ok(Math.abs(Number(first.ts) - Date.now()) < 60_000);
  assert.match(String(first.caller), /^configuration\/logging\.test\.ts:\d+$/);
  const second = JSON.parse(failed) as Record<string, unknown>;
  assert.deepEqual([second.err, second.v, second.msg], ['boom', undefined, 'Failed']);
});

test('verbosity: info always, debug from 2, trace from 5, and exactly `v` when a line has one', () => {
  const printed = (verbosity: number) =>
    lines({ format: 'text', verbosity }, (log) => {
      log.info('info');
      log.debug('two');
      log.debug({ v: 4 }, 'four');
      log.trace('five');
    }).map((line) => /"(\w+)"/.exec(line)?.[1]);
  assert.deepEqual(printed(0), ['info']);
  assert.deepEqual(printed(2), ['info', 'two']);
  assert.deepEqual(printed(4), ['info', 'two', 'four']);
  assert.deepEqual(printed(5), ['info', 'two', 'four', 'five']);
});

test('secrets are masked in both formats', () => {
  for (const format of ['text', 'json'] as const) {
    const text = lines({ format, verbosity: 0 }, (log) => {
      log.info({ auth: { password: 's3cret' }, pull: { token: 's3cret' } }, 'a');
      log.info({ container: { env: [{ name: 'A', value: 's3cret' }] }, headers: { Authorization: 's3cret' } }, 'b');
      log.info({ config: { staticPodURLHeader: { A: ['s3cret'] } } }, 'c');
    }).join('');
    assert.doesNotMatch(text, /s3cret/);
    assert.equal(text.match(/<masked>/g)?.length, 5);
  }
});

test('a worker thread makes its own logger from plain options', async () => {
  const module = new URL('../../../actors/record/logging/create-logger.ts', import.meta.url).href;
  const source = `
    import { createLogger } from ${JSON.stringify(module)};
    import { parentPort, workerData } from 'node:worker_threads';
    createLogger(workerData, { write: (text) => parentPort.postMessage(text) }).info('from the worker');`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
    workerData: { format: 'text', verbosity: 0, name: 'shard-0' },
  });
  const [line] = await Promise.all([
    new Promise<string>((resolve, reject) => worker.once('message', resolve).once('error', reject)),
    new Promise((resolve) => worker.once('exit', resolve)),
  ]);
  assert.match(line, /"from the worker" logger="shard-0"/);
});
