import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { priorityOf, withPriority } from '../../../actors/record/logging/journal-stream.ts';

const MODULE = new URL('../../../actors/record/logging/create-logger.ts', import.meta.url).href;
const AGENT = fileURLToPath(new URL('../../../bin/actorlet.ts', import.meta.url));

/** What a process writes to its standard error, a file here, when it is told so of the journal. `journal`: of device and inode of that file. */
async function written(
  t: TestContext,
  args: readonly string[],
  journal: (dev: bigint, ino: bigint) => string | undefined,
): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'journal-stream-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'stderr');
  const fd = openSync(file, 'a');
  const { dev, ino } = fstatSync(fd, { bigint: true });
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', fd],
    env: { PATH: process.env.PATH, JOURNAL_STREAM: journal(dev, ino) },
  });
  await once(child, 'exit');
  closeSync(fd);
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

/** One line of each kind, one of them in a worker thread and one of many lines. */
function script(format: 'text' | 'json', split = false): string[] {
  const options = { format, verbosity: 5, ...(split && { split: { bufferBytes: 0, flushMs: 5_000 } }) };
  const code = `
    import { Worker, isMainThread } from 'node:worker_threads';
    import { createLogger } from ${JSON.stringify(MODULE)};
    const log = createLogger(${JSON.stringify(options)});
    log.fatal('fatal'); log.error({ output: 'a\\nb' }, 'error'); log.warn('warning');
    log.info('info'); log.info({ v: 4 }, 'four'); log.debug('debug'); log.trace({ v: 1 }, 'trace');
    new Worker(${JSON.stringify(`import(${JSON.stringify(MODULE)}).then(({ createLogger }) => createLogger({ format: ${JSON.stringify(format)}, verbosity: 0 }).warn('thread'))`)}, { eval: true });`;
  return ['--input-type=module', '-e', code];
}

const here = (dev: bigint, ino: bigint) => `${dev}:${ino}`;
const prefixOf = (line: string) => /^<(\d)>/.exec(line)?.[1];

test('where standard error is the journal each line tells its priority, those of one text the same', async (t) => {
  const lines = await written(t, script('text'), here);
  assert.deepEqual(lines.map(prefixOf), ['2', '3', '3', '3', '3', '4', '6', '7', '7', '7', '4'], lines.join('\n'));
  assert.match(lines[0] ?? '', /^<2>F\d{4} .*\] "fatal"$/);
  assert.deepEqual(
    lines
      .slice(1, 5)
      .map((line) => line.slice(3))
      .slice(1),
    ['\ta', '\tb', ' >'],
  );
});

test('JSON too: what stands after the prefix is the object as it was', async (t) => {
  const lines = await written(t, script('json'), here);
  assert.deepEqual(lines.map(prefixOf), ['2', '3', '4', '6', '7', '7', '7', '4'], lines.join('\n'));
  const messages = lines.map((line) => (JSON.parse(line.slice(3)) as { msg: string }).msg);
  assert.deepEqual(messages, ['fatal', 'error', 'warning', 'info', 'four', 'debug', 'trace', 'thread']);
});

for (const [what, journal] of [
  ['another inode', (dev: bigint, ino: bigint) => `${dev}:${ino + 1n}`],
  ['another device', (dev: bigint, ino: bigint) => `${dev + 1n}:${ino}`],
  ['nothing', () => ''],
  ['no variable', () => undefined],
  ['no numbers', () => 'journal'],
] as const)
  test(`${what} in JOURNAL_STREAM: lines are as ever`, async (t) => {
    const lines = await written(t, script('text'), journal);
    assert.equal(lines.length, 11);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('<')),
      [],
    );
  });

test('with splitStream standard output is asked for itself: it is no journal when only standard error is', async (t) => {
  const lines = await written(t, script('text', true), here);
  assert.deepEqual(lines.map(prefixOf), ['2', '3', '3', '3', '3', '4', '4'], lines.join('\n'));
});

test('an error that ends the start, and a warning before there is a log', async (t) => {
  const args = [AGENT, '--config', '/nonexistent/config.yaml', '--root-dir', '/nonexistent'];
  const lines = await written(t, args, here);
  assert.ok(lines.length > 0 && lines.every((line) => /^<[34]>/.test(line)), lines.join('\n'));
  assert.ok(lines.some((line) => line.startsWith('<3>')));
  assert.ok((await written(t, args, () => undefined)).every((line) => !line.startsWith('<')));
});

test('only ends of lines that journald knows end a line; an empty one is left out', () => {
  assert.equal(withPriority('a\u2028b\rc\n\nd\n', 4), '<4>a\u2028b\rc\n\n<4>d\n');
  assert.equal(priorityOf('{"level":30,"caller":"c:1","v":0,"of":{"v":9},"msg":"m"}', 30), 6);
  assert.equal(priorityOf('{"level":30,"caller":"c:1","v":0,"msg":"\\"v\\":9"}', 30), 6);
});
