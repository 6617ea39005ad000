import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import type { Logger } from 'pino';
import { journalFiles, journalLines } from '../../../actors/record/journal/journal-reader.ts';
import { replay } from '../../../actors/record/journal/replay.ts';
import { journalsCompressed } from '../../../actors/record/journal/segment-log.ts';
import type { ReplayResult } from '../../../actors/record/journal/replay.ts';
import { Shard } from '../../../actors/pods/shard/shard.ts';
import type { FromShard } from '../../../actors/pods/shard/shard-protocol.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage, PodSource } from '../../../machines/protocol/messages.ts';
import { PodWorld, settings as nodeSettings } from '../pod/pod-world.ts';

/** A folder that goes with the test, when nobody writes the compressed form of a segment into it any more. */
export function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'journal-'));
  t.after(async () => {
    await journalsCompressed();
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

/** A logger, and the lines that it wrote. */
export function memoryLog(): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  return { log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }), lines };
}

class Listening extends PodWorld {
  declare heard: PodMessage[];
  override send(message: PodMessage): void {
    // The base class sends before the fields of this one exist.
    this.heard ??= [];
    this.heard.push(message);
    super.send(message);
  }
}

/** The messages of one pod's life: it starts, runs, crashes once, and is removed. */
export function lifeOf(pod: Pod, source: PodSource = 'file'): PodMessage[] {
  const world = new Listening(pod, null, undefined, true, source);
  world.run(3_000);
  world.exit('c', 1);
  world.run(30_000);
  world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
  world.run(60_000);
  if (!world.finished) throw new Error(`the pod did not end: ${world.state}`);
  return world.heard;
}

/** A shard that journals into `dir`; its effects are never answered but by the messages it is given. */
export function journalingShard(
  dir: string,
  options: {
    shard?: number;
    maxBytes?: number;
    log?: Logger;
    cluster?: boolean;
    send?: (message: FromShard) => void;
  } = {},
): Shard {
  const { shard = 0, maxBytes = 1 << 24, log = memoryLog().log, send = () => undefined } = options;
  const settings = { ...nodeSettings, ...(options.cluster === true && { cluster: true }) };
  return new Shard({
    settings,
    journal: { dir, shard, agent: 'test', settings, maxBytes, log },
    log,
    // Far before every deadline, so that no timer of the shard comes.
    now: () => 0,
    send,
    run: () => new Promise(() => undefined),
  });
}

/** Posts messages, some of them together in one turn. */
export async function feed(shard: Shard, uid: string, messages: readonly PodMessage[]): Promise<void> {
  for (const [i, message] of messages.entries()) {
    shard.post(uid, message);
    if (i % 3 === 0) await turn();
  }
  await turn();
}

/** Names and whole text of the files in the journal's own folder, in order. */
export function files(dir: string): { name: string; path: string; text: string }[] {
  return readdirSync(dir, { withFileTypes: true })
    .flatMap((entry) => (entry.isFile() ? [entry.name] : []))
    .sort()
    .map((name) => {
      const path = join(dir, name);
      const raw = readFileSync(path);
      return { name, path, text: (name.endsWith('.gz') ? gunzipSync(raw) : raw).toString() };
    });
}

/** All records of all files. */
export function records(dir: string): Record<string, unknown>[] {
  return files(dir).flatMap(({ text }) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  );
}

/** Replays files or folders. */
export async function replayed(...paths: string[]): Promise<ReplayResult> {
  return replay(journalLines(await journalFiles(paths)));
}
