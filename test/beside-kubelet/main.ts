import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compare } from './compare.ts';
import { defects, report } from './report.ts';
import { runBeside } from './run.ts';

const USAGE = `usage: node test/beside-kubelet/main.ts [flags]
Runs the same drawn pods on actorlet and on the reference kubelet, each a node of one real control plane with a simulated runtime of
its own, and prints what the two did or told otherwise. Needs root, and the tools of the cluster's tests.
  --seed N       what is drawn (1)
  --pods N       how many pods (40)
  --seconds N    from their creation to their deletion (50)
  --faults       the runtime refuses calls of some pods
  --actions      pods are changed, and containers and sandboxes die
  --restart      both agents are restarted
  --outage       for some seconds the runtime refuses all calls, and then its network is not ready
  --all          what may hang on the time of a look, too: which states were shown, which events there were
  --out DIR      keep both agents' logs, all differences and all statuses there
Exit code 0: nothing differs for sure; 1: something does; 2: wrong flags.`;

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${String(error instanceof TypeError ? `${error.message}\n\n${USAGE}` : error)}\n`);
  process.exitCode = error instanceof TypeError ? 2 : 1;
}

async function main(): Promise<number> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: {
      ...{ seed: { ...text, default: '1' }, pods: { ...text, default: '40' }, seconds: { ...text, default: '50' } },
      ...{ faults: flag, actions: flag, restart: flag, outage: flag, all: flag, out: text, help: flag },
    },
  });
  if (values.help) {
    print(USAGE);
    return 0;
  }
  const { faults, actions, restart, outage } = values;
  const [seed, pods, seconds] = [values.seed, values.pods, values.seconds].map(wholeNumber) as [number, number, number];
  const both = await runBeside({ seed, pods, lasts: seconds * 1000, faults, actions, restart, outage });
  const differences = compare(both);
  for (const why of both.refused) print(`the API server refused ${why.slice(0, 200)}`);
  print(report(differences, values.all));
  const [theirs, ours] = [both.kubelet, both.actorlet].map(({ statuses }) => [...statuses.values()].flat().length);
  print(`statuses that clients were shown: kubelet ${String(theirs)}, actorlet ${String(ours)}`);
  const found = defects(differences);
  print(`${String(both.pods.length)} pods, ${String(found.length)} differences that are not meant`);
  if (values.out !== undefined) {
    await mkdir(values.out, { recursive: true });
    await writeFile(join(values.out, 'kubelet.log'), both.logs.kubelet);
    await writeFile(join(values.out, 'actorlet.log'), both.logs.actorlet);
    await writeFile(join(values.out, 'differences.json'), JSON.stringify(differences, null, 1));
    for (const [agent, { statuses }] of [['kubelet', both.kubelet] as const, ['actorlet', both.actorlet] as const])
      await writeFile(join(values.out, `statuses-${agent}.json`), JSON.stringify(Object.fromEntries(statuses)));
  }
  return found.length === 0 ? 0 : 1;
}

function wholeNumber(given: string): number {
  if (!/^\d{1,9}$/.test(given)) throw new TypeError(`${given} is not a whole number`);
  return Number(given);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
