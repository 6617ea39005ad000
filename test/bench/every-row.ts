/**
 * Every row that has an aim: actorlet as an installed package beside kubelet, in turn on the same control plane, on the simulated runtime and on
 * containerd.
 *   bin/bench [--rounds 3] [--on simulated|containerd] [--package DIR] [--sequential 12] [--burst 50] [--idle 10]
 * The kubelet is v1.37.0 (`test/tools/build.sh kubelet-newest`). Prints a row for each: the medians of both, the ratio of each round, the aim. Ends
 * with 1 when an aim is missed by more than noise, that is in every round. Needs root and what the test layers `containerd` and `cluster` need;
 * `--package` is a folder with `bin/actorlet` and `dist`, made by `bin/build` without it.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import type { Figures } from './cluster-measure.ts';
import { ratio } from './figures.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    on: { type: 'string', multiple: true, default: ['simulated', 'containerd'] },
    package: { type: 'string' },
    sequential: { type: 'string', default: '12' },
    burst: { type: 'string', default: '50' },
    idle: { type: 'string', default: '10' },
  },
});
const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

/** Aims of actorlet / kubelet; `on`: where only. */
const ROWS: readonly { name: string; aim: number; on?: string; of: (figures: Figures) => number }[] = [
  { name: 'create to Ready, one by one, p50, ms', aim: 0.8, of: (f) => f.sequential.createToReadyMs.p50 },
  { name: 'create to Ready, one by one, max, ms', aim: 0.8, of: (f) => f.sequential.createToReadyMs.max },
  { name: 'delete to gone, one by one, p50, ms', aim: 0.2, of: (f) => f.sequential.deleteToGoneMs.p50 },
  { name: 'delete to gone, one by one, max, ms', aim: 0.2, of: (f) => f.sequential.deleteToGoneMs.max },
  { name: 'at once: all Ready, ms', aim: 0.65, of: (f) => f.burst.allReadyMs },
  { name: 'at once: all gone, ms', aim: 0.65, of: (f) => f.burst.allGoneMs },
  { name: 'CPU of a start, one by one, ms', aim: 0.8, of: (f) => f.sequential.cpuMsPerPodStart },
  { name: 'CPU of a life, one by one, ms', aim: 0.8, of: (f) => f.sequential.cpuMsPerPodLife },
  { name: 'CPU of a start, at once, ms', aim: 0.8, of: (f) => f.burst.cpuMsPerPodStart },
  { name: 'CPU of a life, at once, ms', aim: 0.8, of: (f) => f.burst.cpuMsPerPodLife },
  { name: 'idle CPU, % of a core', aim: 0.3, of: (f) => f.idle.cpuPercent },
  { name: 'RSS with the pods, MiB', aim: 1, of: (f) => f.rssMiB.burst },
  { name: 'anonymous memory with the pods, MiB', aim: 1.5, of: (f) => f.idle.anonMiB },
  { name: 'start to Ready of the node, ms', aim: 1, of: (f) => f.agentStartToNodeReadyMs },
  { name: 'API calls of a life, one by one', aim: 1, of: (f) => f.sequential.callsPerPodLife.all },
  { name: 'API calls of a life, at once', aim: 1, of: (f) => f.burst.callsPerPodLife.all },
  {
    name: 'runtime calls of a life, one by one',
    aim: 1,
    on: 'simulated',
    of: (f) => f.sequential.runtimeCallsPerPodLife?.all ?? NaN,
  },
];

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;

/** What `npm install` makes of this checkout, as far as the agent needs it. */
async function makePackage(dir: string): Promise<string> {
  await run(join(ROOT, 'bin/build'), [join(dir, 'dist')]);
  await mkdir(join(dir, 'bin'));
  await copyFile(join(ROOT, 'bin/actorlet'), join(dir, 'bin/actorlet'));
  await copyFile(join(ROOT, 'package.json'), join(dir, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  return dir;
}

const { stdout: kubelet } = await run(join(ROOT, 'test/tools/build.sh'), ['kubelet-newest']);
const made = await mkdtemp(join(tmpdir(), 'actorlet-package-'));
let missed = 0;
try {
  const program = join(values.package ?? (await makePackage(made)), 'bin/actorlet');
  for (const on of values.on) {
    const args = [`kubelet=${kubelet.trim()}`, `actorlet=${program}`].flatMap((agent) => ['--agent', agent]);
    for (const name of ['rounds', 'sequential', 'burst', 'idle'] as const) args.push(`--${name}`, values[name]);
    const bench = join(import.meta.dirname, 'pod-life.ts');
    const machine = join(ROOT, 'test/tools/own-machine.sh');
    const { stdout } = await run(machine, [process.execPath, bench, '--on', on, ...args], { maxBuffer: 1 << 26 });
    const { kubelet: theirs = [], actorlet: ours = [] } = JSON.parse(stdout) as Record<string, Figures[]>;
    process.stdout.write(`on the ${on === 'simulated' ? 'simulated runtime' : on}:\n`);
    for (const row of ROWS.filter((one) => one.on === undefined || one.on === on)) {
      const [a, b] = [ours.map(row.of), theirs.map(row.of)];
      const ratios = a.map((own, i) => ratio(own, b[i] ?? NaN));
      const verdict = ratios.every((one) => one > row.aim)
        ? 'MISSED'
        : ratios.some((one) => one > row.aim)
          ? 'noise'
          : 'held';
      if (verdict === 'MISSED') missed++;
      const text = [`  ${row.name.padEnd(38)}`, String(median(a)).padStart(8), String(median(b)).padStart(8)];
      text.push(`ratios ${ratios.join(', ')}`.padEnd(30), `aim ${row.aim}`.padEnd(9), verdict);
      process.stdout.write(`${text.join(' ')}\n`);
    }
  }
} finally {
  await rm(made, { recursive: true, force: true });
}
process.stdout.write(`${missed} aims are missed by more than noise\n`);
process.exitCode = missed > 0 ? 1 : 0;
