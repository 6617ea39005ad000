/**
 * Replay's speed: replays a recorded journal, the same lines some times over, and prints one JSON object. The rate on one
 * core counts the CPU time of the main thread, so other work on the machine weighs less; the last rounds are those of
 * a long journal, the first ones pay for compiling the program.
 *   bin/bench sim-scale --journal /tmp/journal && bin/bench replay /tmp/journal [--rounds 20] [--threads 2]
 * With `--threads` each round starts its threads anew, as the command does, and the CPU time is that of the process.
 */
import { parseArgs } from 'node:util';
import { journalBatches, journalFiles } from '../../actors/record/journal/journal-reader.ts';
import { parallelReplay } from '../../actors/record/journal/parallel-replay.ts';
import { Replayer, replayBatches } from '../../actors/record/journal/replay.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '20' }, threads: { type: 'string', default: '1' } },
});
const threads = Number(values.threads);
const rounds: { seconds: number; messagesPerSecond: number; messagesPerCpuSecond: number }[] = [];
let identical = true;
let messages = 0;
let pods = 0;
const files = await journalFiles(positionals);
for (let round = 0; round < Number(values.rounds); round++) {
  const began = performance.now();
  const cpuOf = threads > 1 ? process.cpuUsage : process.threadCpuUsage;
  const cpu = cpuOf();
  const result =
    threads > 1
      ? await parallelReplay(files, { threads, goOn: true })
      : await replayBatches(journalBatches(files), new Replayer(), { onDifference: () => false });
  const used = cpuOf(cpu);
  if (result === null) throw new Error('the journal has a difference or damage');
  const seconds = (performance.now() - began) / 1_000;
  identical &&= 'differences' in result ? result.differences.length === 0 : result.difference === null;
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
