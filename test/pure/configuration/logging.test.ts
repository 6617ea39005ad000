import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { loggerOptionsOf } from '../../../actors/configure/configuration/logger-options.ts';
import { createLogger, type LoggerOptions } from '../../../actors/record/logging/create-logger.ts';
import { filePattern } from '../../../actors/record/logging/file-pattern.ts';
import { formatKlogLine } from '../../../actors/record/logging/klog-text.ts';
import { BufferedSink } from '../../../actors/record/logging/log-sink.ts';

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

test('vmodule raises the verbosity of files that fit, by the first pattern that does', () => {
  const printed = (vmodule: NonNullable<LoggerOptions['vmodule']>, verbosity = 0) =>
    lines({ format: 'text', verbosity, vmodule }, (log) => {
      log.info('info');
      log.debug('two');
      log.trace('five');
    }).map((line) => /"(\w+)"/.exec(line)?.[1]);
  // This file is logging.test.ts.
  assert.deepEqual(printed([{ filePattern: 'logging.test', verbosity: 2 }]), ['info', 'two']);
  assert.deepEqual(printed([{ filePattern: 'log*', verbosity: 5 }]), ['info', 'two', 'five']);
  assert.deepEqual(printed([{ filePattern: 'other', verbosity: 9 }]), ['info']);
  const two = [
    { filePattern: '[k-m]og?ing*', verbosity: 1 },
    { filePattern: '*', verbosity: 9 },
  ];
  assert.deepEqual(printed(two), ['info']);
  assert.deepEqual(printed(two, 2), ['info', 'two'], 'it never takes away');
});

test('patterns are those of filepath.Match', () => {
  const fits: [pattern: string, name: string, fits: boolean][] = [
    ['', '', true],
    ['pod-*', 'pod-workers', true],
    ['*-workers', 'pod-workers', true],
    ['p*d*w*s', 'pod-workers', true],
    ['p*d*x*s', 'pod-workers', false],
    ['shard', 'shard-pool', false],
    ['shar?', 'shard', true],
    ['shar?', 'shar', false],
    ['[a-c]x', 'bx', true],
    ['[^a-c]x', 'bx', false],
    ['[\\-x]', 'x', true],
    ['[\\-x]', '-', true],
    ['a\\*', 'a*', true],
    ['a\\*', 'ab', false],
    ['[]a]', ']', false],
    ['[-]', '-', false],
    ['[a', 'a', false],
    ['a\\', 'a', false],
    ['**', 'anything', true],
  ];
  for (const [pattern, name, expected] of fits)
    assert.equal(filePattern(pattern)(name), expected, `${pattern} against ${name}`);
});

test('a hostile pattern takes time by its length, not by its powers', () => {
  const fits = filePattern('*a'.repeat(200) + 'b');
  const begun = process.cpuUsage().user;
  assert.equal(fits('a'.repeat(2_000)), false);
  assert.ok(process.cpuUsage().user - begun < 2_000_000, 'seconds of CPU');
});

test('split streams: info apart, by kubelet’s rule of each format; gathered up to the size', () => {
  for (const format of ['text', 'json'] as const) {
    const out: Record<'info' | 'error', string[]> = { info: [], error: [] };
    const sinks = {
      info: { write: (text: string) => out.info.push(text) },
      error: { write: (text: string) => out.error.push(text) },
    };
    const log = createLogger({ format, verbosity: 0, split: { bufferBytes: 0, flushMs: 5_000 } }, sinks);
    log.info('one');
    log.warn('two');
    log.error('three');
    const words = (texts: readonly string[]) => texts.map((text) => /one|two|three/.exec(text)?.[0]);
    assert.deepEqual(words(out.info), format === 'json' ? ['one', 'two'] : ['one']);
    assert.deepEqual(words(out.error), format === 'json' ? ['three'] : ['two', 'three']);
  }
});

test('what is gathered goes out whole lines at a time, on flush, and past the buffer when it is larger', () => {
  const out: string[] = [];
  const sink = new BufferedSink({ write: (text) => out.push(text) }, 10);
  sink.write('äää\n');
  assert.deepEqual(out, []);
  sink.write('abc\n');
  assert.deepEqual(out, ['äää\n'], 'seven bytes and four do not fit');
  sink.write('0123456789\n');
  assert.deepEqual(out, ['äää\n', 'abc\n', '0123456789\n']);
  sink.write('end\n');
  sink.flush();
  sink.flush();
  assert.equal(out.at(-1), 'end\n');
});

test('a process writes what it gathered when its time comes, and the rest when it ends', async () => {
  const module = new URL('../../../actors/record/logging/create-logger.ts', import.meta.url).href;
  const source = `
    import { createLogger } from ${JSON.stringify(module)};
    const split = { bufferBytes: 1 << 20, flushMs: Number(process.argv[1]) };
    const log = createLogger({ format: 'text', verbosity: 0, split });
    log.info('first');
    log.error('bad');
    process.stdin.once('data', () => { log.info('second'); process.exit(0); });`;
  for (const flushMs of [20, 3_600_000]) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', source, String(flushMs)]);
    const texts = { out: '', err: '' };
    child.stdout.on('data', (data: Buffer) => (texts.out += data.toString()));
    child.stderr.on('data', (data: Buffer) => (texts.err += data.toString()));
    const closed = once(child, 'close');
    while (!texts.err.includes('"bad"')) await once(child.stderr, 'data');
    if (flushMs === 20) while (!texts.out.includes('"first"')) await once(child.stdout, 'data');
    else assert.equal(texts.out, '', 'gathered for an hour');
    child.stdin.end('go\n');
    assert.deepEqual(await closed, [0, null]);
    assert.match(texts.out, /^I.*"first"\nI.*"second"\n$/);
    assert.match(texts.err, /^E[^\n]*"bad"\n$/);
  }
});

test('the field logging: options of the format that is written', () => {
  const { config } = loadConfiguration({
    cgroupVersion: 2,
    flags: [
      { flag: '--feature-gates', path: 'featureGates', value: { LoggingAlphaOptions: true } },
      { flag: '--log-text-split-stream', path: 'logging.options.text.splitStream', value: true },
      { flag: '--log-text-info-buffer-size', path: 'logging.options.text.infoBufferSize', value: '64Ki' },
      { flag: '--log-flush-frequency', path: 'logging.flushFrequency', value: '2s' },
      { flag: '--vmodule', path: 'logging.vmodule', value: [{ filePattern: 'shard', verbosity: 5 }] },
    ],
  });
  assert.deepEqual(loggerOptionsOf(config.logging), {
    ...{ format: 'text', verbosity: 0 },
    vmodule: [{ filePattern: 'shard', verbosity: 5 }],
    split: { bufferBytes: 65_536, flushMs: 2_000 },
  });
  assert.deepEqual(loggerOptionsOf({ ...config.logging, format: 'json', vmodule: [] }), {
    format: 'json',
    verbosity: 0,
  });
});
