import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../../../machines/values/message-of.ts';
import { drawPlan } from '../draw/draw-plan.ts';
import type { Plan } from '../draw/plan.ts';
import type { Fact } from '../world/facts.ts';
import { Coverage } from './coverage.ts';
import { coverageText } from './coverage-text.ts';
import { runInScratch } from './in-scratch.ts';
import { reachMoves } from './reach-moves.ts';
import { readPlan } from './saved-plan.ts';
import { shrink } from './shrink.ts';
import { traceLine } from './trace.ts';

const USAGE = `usage: bin/simulate [--seeds N] [--seed S] [--hours H] [--calm] [--moments] [--managers] [--plugins] [--claims] [--coverage]
       bin/simulate --plan FILE [--trace [UID]]
       bin/simulate --reach MOVE [--seeds N] [--seed S]

Runs the node in virtual time from seeds, each a workload with faults, and looks after each step whether all rules hold.

  --seeds N    how many seeds (default 20)
  --seed S     the first of them (default: drawn, and printed)
  --hours H    virtual hours of each run, at least 1 (default 2)
  --calm       no faults
  --managers   the node gives CPUs and memory away, and most pods want some of their own
  --plugins    there are device plugins and drivers of dynamic resources, and most pods use them
  --claims     the node has CSI drivers, and pods have volumes by claims
  --moments    more of what seldom comes together: several faults and changes within seconds at one pod
  --coverage   print every state, transition and fault that was reached, with how often
  --plan FILE  run the schedule of this file (as a failure leaves it) instead of drawing some
  --trace ALL  print what happens; of one pod with its UID
  --reach MOVE find short plans that make a machine go so (MACHINE FROM -> TO; several: comma), one a line, for test/simulation/pinned
  --stop       end at the first seed that fails
  --no-keep    on failure keep no journal
  --no-shrink  on failure do not look for the shortest schedule that still fails
`;

/** Hours that a run has at least: for the last 40 minutes of it nothing is done to the node any more. */
const LEAST_HOURS = 1;

/** What is wrong with the numbers that were given, null when nothing is. */
function wrongNumber({ seeds, seed, hours }: { seeds: string; seed?: string; hours: string }): string | null {
  const whole = /^\d{1,15}$/;
  if (!whole.test(seeds) || Number(seeds) < 1) return `--seeds must be a whole number of at least 1, not "${seeds}"`;
  if (seed !== undefined && !whole.test(seed)) return `--seed must be a whole number, not "${seed}"`;
  if (!(Number(hours) >= LEAST_HOURS)) return `--hours must be a number of at least ${LEAST_HOURS}, not "${hours}"`;
  return null;
}

/** Reads the flags, and the plan that they name. Throws with a message for people. */
function wishOf(args: string[]) {
  const { values } = parseArgs({
    args,
    allowNegative: true,
    options: {
      seeds: { type: 'string', default: '20' },
      seed: { type: 'string' },
      hours: { type: 'string', default: '2' },
      calm: { type: 'boolean', default: false },
      moments: { type: 'boolean', default: false },
      managers: { type: 'boolean', default: false },
      plugins: { type: 'boolean', default: false },
      claims: { type: 'boolean', default: false },
      coverage: { type: 'boolean', default: false },
      stop: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: true },
      shrink: { type: 'boolean', default: true },
      plan: { type: 'string' },
      reach: { type: 'string' },
      trace: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const wrong = values.help ? null : wrongNumber(values);
  if (wrong !== null) throw new Error(wrong);
  return { values, given: values.help || values.plan === undefined ? null : readPlan(values.plan).plan };
}

/** `bin/simulate`. The exit code is 1 when a rule was broken, 2 for wrong flags. */
export async function main(args: string[]): Promise<number> {
  let wish: ReturnType<typeof wishOf>;
  try {
    wish = wishOf(args);
  } catch (error) {
    process.stderr.write(`simulate: ${messageOf(error)}; see bin/simulate --help\n`);
    return 2;
  }
  const { values, given } = wish;
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const count = given === null ? Number(values.seeds) : 1;
  const first = given?.seed ?? (values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed));
  const hours = Number(values.hours);
  if (values.reach !== undefined)
    return reachMoves(values.reach.split(','), {
      ...{ first, count, hours, print },
      ...{ moments: values.moments, claims: values.claims },
    });
  const { trace } = values;
  const onFact = (fact: Fact, at: number): void => {
    const line = traceLine(fact, at);
    if (line !== null && (trace === 'ALL' || !('uid' in fact) || fact.uid === trace)) print(line);
  };
  const coverage = new Coverage();
  let virtualMs = 0;
  let messages = 0;
  let failed = 0;
  const before = process.cpuUsage();
  for (let seed = first; seed < first + count; seed++) {
    const plan =
      given ??
      drawPlan(seed, {
        hours,
        faults: !values.calm,
        moments: values.moments,
        managers: values.managers,
        plugins: values.plugins,
        claims: values.claims,
      });
    const result = await runInScratch(plan, trace === undefined ? {} : { onFact });
    virtualMs += result.virtualMs;
    messages += result.messages;
    coverage.add(result.coverage);
    if (result.violations.length === 0) continue;
    failed++;
    await tellFailure(plan, {
      ...values,
      again:
        given === null
          ? `--seed ${seed} --seeds 1 --hours ${hours}${values.moments ? ' --moments' : ''}${values.managers ? ' --managers' : ''}${values.plugins ? ' --plugins' : ''}${values.claims ? ' --claims' : ''}`
          : null,
    });
    if (values.stop) break;
  }
  const { user, system } = process.cpuUsage(before);
  const cpuMinutes = (user + system) / 60e6;
  const nodeHours = virtualMs / 3_600_000;
  print(
    `${count} seeds from ${first}: ${nodeHours.toFixed(1)} virtual node-hours in ${(cpuMinutes * 60).toFixed(1)} s of CPU: ` +
      `${(nodeHours / cpuMinutes).toFixed(0)} node-hours a minute on one core; ${messages} messages to machines, all replayed`,
  );
  print(coverageText(coverage, values.coverage));
  print(failed === 0 ? 'No rule was broken.' : `${failed} of ${count} seeds broke a rule.`);
  return failed === 0 ? 0 : 1;
}

/** `again`: what runs it again, as arguments; null when only its plan does. */
async function tellFailure(plan: Plan, how: { shrink: boolean; keep: boolean; again: string | null }): Promise<void> {
  const first = await runInScratch(plan);
  const rule = first.violations[0]?.rule;
  const fails = async (less: Plan): Promise<boolean> => (await runInScratch(less)).violations[0]?.rule === rule;
  const least = how.shrink ? await shrink(plan, fails) : plan;
  const result = await runInScratch(least, { keep: how.keep });
  const [violation] = result.violations;
  const journal = result.journals.at(-1) ?? '';
  const { pods, changes, faults } = least;
  print(
    `seed ${plan.seed}: ${violation?.rule ?? rule ?? ''}, at ${violation?.at ?? 0} ms\n  ${violation?.problem ?? ''}`,
  );
  print(`  schedule: ${pods.length} pods, ${changes.length} changes, ${faults.length} faults`);
  for (const fault of least.faults) print(`    ${JSON.stringify(fault)}`);
  for (const change of least.changes) print(`    ${JSON.stringify(change)}`);
  const mutation = process.env['ACTORLET_MUTATION'];
  const command = `${mutation === undefined ? '' : `ACTORLET_MUTATION=${mutation} `}bin/simulate`;
  if (how.again !== null) print(`  again:   ${command} ${how.again}`);
  if (!how.keep) return;
  const file = join(dirname(journal), 'plan.json');
  writeFileSync(file, JSON.stringify(least, null, 2));
  print(`  plan:    ${command} --plan ${file}`);
  print(`  inspect: bin/actorlet inspect ${journal}`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
