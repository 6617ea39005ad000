/**
 * How late pods start beside one whose call hangs, against beside one without trouble, for each call that can hang: ratio
 * of the medians, in one run (design aim: 1.1). Both take turns, on one agent and the simulated runtime.
 *   bin/bench hung-pod [--rounds 20] [--case TEXT]
 * `--case` runs only the cases whose name has that text. Prints one JSON object.
 */
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { bench, manifest, running, until } from '../simulated/agent/support/bench.ts';
import type { HungCase } from '../simulated/agent/support/hung-pod-cases.ts';
import { HUNG, HUNG_CASES, startTimes } from '../simulated/agent/support/hung-pod-cases.ts';
import { quantiles, ratio } from './figures.ts';

const WARM_UP_ROUNDS = 4;
/** After the one pod has come to its place: its own start is not what is measured. */
const SETTLE_MS = 150;

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '20' }, case: { type: 'string', default: '' } },
});

async function compare({ config, hungPod, hang }: HungCase, rounds: number): Promise<object> {
  const ends: (() => unknown)[] = [];
  try {
    const after = (end: () => unknown): void => void ends.push(end);
    const b = await bench({ after }, { ...(config !== undefined && { config }), settings: { journalDir: null } });
    let round = 0;
    const alone: number[] = [];
    const beside: number[] = [];
    const gone = () => until('the pod to be gone', async () => (await b.agent.tracked()) === 0, { agent: b.agent });
    const measureBeside = async (): Promise<void> => {
      const putHung = b.put('hung.yaml', hungPod);
      await hang(b);
      await putHung;
      await until('a call to hang', () => b.sim.state.hanging > 0);
      await sleep(SETTLE_MS);
      beside.push(...(await startTimes(b, ++round)));
      b.sim.release();
      await b.remove('hung.yaml').catch(() => undefined);
      await gone();
    };
    // In its place a pod without trouble: both sides have the same work behind them.
    const measureAlone = async (): Promise<void> => {
      await b.put('hung.yaml', manifest(HUNG));
      await running(b, 1);
      await sleep(SETTLE_MS);
      alone.push(...(await startTimes(b, ++round)));
      await b.remove('hung.yaml');
      await gone();
    };
    for (let i = 0; i < WARM_UP_ROUNDS; i++) await startTimes(b, ++round);
    // The agent gets faster as it goes on: neither side always comes first.
    for (let pair = 0; pair < rounds; pair++)
      for (const measure of pair % 2 === 0 ? [measureAlone, measureBeside] : [measureBeside, measureAlone])
        await measure();
    const [withoutMs, besideMs] = [quantiles(alone), quantiles(beside)];
    return { ratio: ratio(besideMs.p50, withoutMs.p50), besideMs, withoutMs };
  } finally {
    for (const end of ends) await end();
  }
}

const figures: Record<string, object> = {};
for (const [name, each] of Object.entries(HUNG_CASES)) {
  if (name.includes(values.case)) figures[name] = await compare(each, Number(values.rounds));
}
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
