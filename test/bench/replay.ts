/**
 * Replay's speed: replays a recorded journal, the same lines some times over, and prints one JSON object. The rate on one
 * core counts the CPU time of the main thread, so other work on the machine weighs less; the last rounds are those of
 * a long journal, the first ones pay for compiling the program.
 *   bin/bench sim-scale --journal /tmp/journal && bin/bench replay /tmp/journal [--rounds 20]
 */
import { parseArgs } from 'node:util';
import { journalBatches, journalFiles } from '../../actors/journal/journal-reader.ts';
import { Replayer, replayBatches } from '../../actors/journal/replay.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '20' } },
});
const rounds: { seconds: number; messagesPerSecond: number; messagesPerCpuSecond: number }[] = [];
let identical = true;
let messages = 0;
let pods = 0;
const files = await journalFiles(positionals);
for (let round = 0; round < Number(values.rounds); round++) {
  const began = performance.now();
  const cpu = process.threadCpuUsage();
  const result = await replayBatches(journalBatches(files), new Replayer(), { onDifference: () => false });
  const used = process.threadCpuUsage(cpu);
  const seconds = (performance.now() - began) / 1_000;
  identical &&= result.difference === null;
  ({ messages, pods } = result);
  rounds.push({
    seconds: Math.round(seconds * 100) / 100,
    messagesPerSecond: Math.round(messages / seconds),
    messagesPerCpuSecond: Math.round((messages * 1e6) / (used.user + used.system)),
  });
}
const best = rounds.reduce((a, b) => (a.messagesPerCpuSecond > b.messagesPerCpuSecond ? a : b));
const cpuMicrosecondsPerMessage = Math.round(1e7 / best.messagesPerCpuSecond) / 10;
process.stdout.write(`${JSON.stringify({ messages, pods, identical, best, cpuMicrosecondsPerMessage, rounds })}\n`);
