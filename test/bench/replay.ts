/**
 * Replay's speed: replays a recorded journal, the same lines some times over, and prints one JSON object.
 *   node test/bench/sim-scale.ts --journal /tmp/journal && node test/bench/replay.ts /tmp/journal [--rounds 3]
 */
import { parseArgs } from 'node:util';
import { journalFiles, journalLines } from '../../actors/journal/journal-reader.ts';
import { replay } from '../../actors/journal/replay.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '3' } },
});
const rounds: { seconds: number; messagesPerSecond: number }[] = [];
let identical = true;
let messages = 0;
let pods = 0;
for (let round = 0; round < Number(values.rounds); round++) {
  const began = performance.now();
  const result = await replay(journalLines(await journalFiles(positionals)));
  const seconds = (performance.now() - began) / 1_000;
  identical &&= result.difference === null;
  ({ messages, pods } = result);
  rounds.push({ seconds: Math.round(seconds * 100) / 100, messagesPerSecond: Math.round(messages / seconds) });
}
process.stdout.write(`${JSON.stringify({ messages, pods, identical, rounds })}\n`);
