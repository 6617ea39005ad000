import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { checkout, TreeCopy } from './tree-copy.ts';

/**
 * The steps of docs/architecture.md, "How to add a manager", taken in a copy of the tree: a manager that counts pods, and says
 * on the node's object and in an event when there are more than two.
 */
const STEPS: readonly [file: string, source: string][] = [
  [
    'machines/toy/toy-machine.ts',
    `import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';

export interface ToyContext { pods: number }
export type ToyMessage = { type: 'toy.counted'; at: number; pods: number };
export type ToyOrder = { type: 'event.record'; reason: string; message: string };

const machine = setup({
  types: { context: {} as ToyContext, events: {} as ToyMessage },
  actions: { effect: () => undefined },
  guards: { tooMany: ({ event }) => event.pods > 2 },
});
const say = (reason: string) =>
  act((_context: ToyContext, { pods }: ToyMessage) => ({
    patch: { pods },
    effects: [{ type: 'event.record', reason, message: \`\${pods} pods\` } satisfies ToyOrder],
  }));
const count = act((_context: ToyContext, { pods }: ToyMessage) => ({ patch: { pods } }));

export const toyMachine = machine.createMachine({
  id: 'toy',
  context: { pods: 0 },
  initial: 'roomy',
  states: {
    roomy: {
      description: 'Two pods at most.',
      on: { 'toy.counted': [{ guard: 'tooMany', target: 'crowded', actions: say('Crowded') }, { actions: count }] },
    },
    crowded: {
      description: 'More than two pods.',
      on: { 'toy.counted': [{ guard: 'tooMany', actions: count }, { target: 'roomy', actions: say('Roomy') }] },
    },
  },
});
`,
  ],
  [
    'actors/record/machines/toy.ts',
    `import type { AnyMachineSnapshot } from 'xstate';
import { resolve, statePath, step } from '../../../machines/machine-step/step.ts';
import { toyMachine } from '../../../machines/toy/toy-machine.ts';
import type { ToyMessage, ToyOrder } from '../../../machines/toy/toy-machine.ts';
import { journaled } from './journaled-machine.ts';

export const toy = journaled<AnyMachineSnapshot, ToyMessage, ToyOrder>({
  name: 'toy',
  step: (from, message) => {
    const { snapshot, effects } = step<AnyMachineSnapshot, ToyOrder>(toyMachine, from, message);
    return { state: snapshot, outputs: effects };
  },
  stateName: ({ value }) => statePath(value),
  write: ({ value, context }) => ({ head: { value, context }, rows: [] }),
  revive: (head) => resolve(toyMachine, head as { value: unknown; context: object }) as AnyMachineSnapshot,
});
`,
  ],
  [
    'actors/resources/toy/toy-manager.ts',
    `import type { AnyMachineSnapshot } from 'xstate';
import { bornSnapshot, statePath } from '../../../machines/machine-step/step.ts';
import { toyMachine } from '../../../machines/toy/toy-machine.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { lookEach } from '../../host/time/clock.ts';
import type { Clock, Timer } from '../../host/time/clock.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import { toy } from '../../record/machines/toy.ts';

interface ToyGround {
  readonly settings: { nodeName: string };
  readonly clock: Clock;
  readonly journal: JournalSettings | null;
  readonly events: { record(event: object): void };
  readonly pods: () => readonly Pod[];
  readonly changed: () => void;
}

export function toyManager({ settings, clock, journal, events, pods, changed }: ToyGround) {
  const host = new SingleMachine(toy, bornSnapshot(toyMachine, undefined) as AnyMachineSnapshot, journal);
  let timer: Timer | undefined;
  const look = (): void => {
    const at = clock.now();
    const object = { apiVersion: 'v1', kind: 'Node', namespace: '', name: settings.nodeName, uid: '' } as const;
    for (const { reason, message } of host.take({ type: 'toy.counted', at, pods: pods().length })) {
      events.record({ object, at, type: 'Normal', reason, message });
      changed();
    }
  };
  return {
    name: 'toy',
    start: () => void (timer = lookEach(clock, 50, look)),
    stop: () => {
      timer?.cancel();
      host.close();
    },
    conditions: () => {
      const crowded = statePath(host.state.value) === 'crowded';
      return [{ type: 'Crowded', status: crowded ? 'True' as const : 'False' as const, reason: 'Counted', message: '' }];
    },
  };
}
`,
  ],
];

/** Its entries in the lists of what there is: an import, and a place in the list. */
const ENTRIES: readonly [file: string, imported: string, list: RegExp, entry: string][] = [
  [
    'machines/charts/node-machines.ts',
    `import { toyMachine } from '../toy/toy-machine.ts';`,
    /(?<=NODE_MACHINES = \{)/,
    ' toy: toyMachine,',
  ],
  ['actors/record/machines/registry.ts', `import { toy } from './toy.ts';`, /(?<=JOURNALED: [^=]*= \[)/, 'toy, '],
  [
    'actors/node/managers.ts',
    `import { toyManager } from '../resources/toy/toy-manager.ts';`,
    /(?<=MANAGERS: [^=]*=> NodeManager\)\[\] = \[)/,
    'toyManager, ',
  ],
];

/** Runs three pods on a node of the copy, and prints what there is to see of the manager. */
const PROGRAM = `
import { pino } from 'pino';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodeConditions } from './machines/node-object/node-conditions.ts';
import { startEmbeddedNode } from './bin/library.ts';
import { startSimulatedRuntime } from './cri/sim/simulated-runtime.ts';
const [dir] = process.argv.slice(2);
const socket = join(dir, 'cri.sock');
const runtime = await startSimulatedRuntime({ socket, seed: 1 });
const pod = (name) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [{ name: 'c', image: 'a:1' }] } });
const told = [];
let tell;
const node = await startEmbeddedNode({
  endpoint: 'unix://' + socket,
  rootDir: join(dir, 'root'),
  containerLogsDir: join(dir, 'links'),
  configuration: { podLogsDir: join(dir, 'logs'), cgroupsPerQOS: false, enforceNodeAllocatable: [], failCgroupV1: false },
  flags: ['--hostname-override', 'n', '--shards', '1', '--journal-dir', join(dir, 'journal')],
  log: pino({ level: 'info' }, { write: (line) => told.push(JSON.parse(line)) }),
  source: { name: 'own', start: (tells) => (tell = tells) },
});
const crowded = (status) => node.conditions().some((c) => c.type === 'Crowded' && c.status === status);
const until = async (what) => { while (!what()) await sleep(20); };
await until(() => crowded('False'));
tell(['a', 'b', 'c'].map(pod));
await until(() => crowded('True'));
const at = Date.now();
const { conditions } = nodeConditions('n', [], { pressure: { memory: false, disk: false, pid: false }, managed: node.conditions(), notReady: [] }, at);
tell([]);
await until(() => crowded('False'));
await node.stop();
await runtime.stop();
const events = told.filter((line) => line.kind === 'Node').map((line) => line.reason);
console.log(JSON.stringify({ events, condition: conditions.find((c) => c.type === 'Crowded') }));
`;

describe('a manager that is added by the steps of the page', () => {
  const tree = new TreeCopy();
  const dir = join(tree.root, 'run');
  let seen: { events: string[]; condition?: { type: string; status: string; lastTransitionTime: string } };

  before(() => {
    for (const name of ['test', 'docs']) cpSync(join(checkout, name), join(tree.root, name), { recursive: true });
    for (const [file, source] of STEPS) tree.plant(file, source);
    for (const [file, imported, list, entry] of ENTRIES) {
      const text = readFileSync(join(tree.root, file), 'utf8');
      assert.match(text, list, `${file} has the list that the page names`);
      tree.plant(file, `${imported}\n${text.replace(list, entry)}`);
    }
    tree.plant('program.ts', PROGRAM);
    tree.plant('run/.keep', '');
    seen = JSON.parse(ran('program.ts', dir)) as typeof seen;
  });
  after(() => tree.remove());

  /** What a program of the copy prints; it must end well. */
  function ran(script: string, ...args: string[]): string {
    const done = spawnSync(process.execPath, [join(tree.root, script), ...args], { cwd: tree.root, encoding: 'utf8' });
    assert.equal(done.status, 0, `${done.stdout}\n${done.stderr}`);
    return done.stdout;
  }

  it('fits the types, and the rooms', () => {
    const files = STEPS.map(([file]) => file);
    const types = tree.run('typescript/bin/tsc', ['-p', '.']);
    assert.equal(types.stdout, '');
    const rooms = tree.run('dependency-cruiser/bin/dependency-cruiser.mjs', ['machines', 'cri', 'actors', 'bin']);
    assert.match(rooms.stdout, /no dependency violations/, files.join());
  });

  it('runs: it records its events, and its condition stands on the node’s object', () => {
    // What befell the machine itself is told of the node, too.
    assert.deepEqual(
      seen.events.filter((reason) => reason !== 'SystemOOM'),
      ['Crowded', 'Roomy'],
    );
    const { type, status, lastTransitionTime = '' } = seen.condition ?? {};
    assert.deepEqual([type, status], ['Crowded', 'True']);
    assert.match(lastTransitionTime, /Z$/);
  });

  it('is journaled and replayed, and a changed outcome is found', () => {
    const journal = join(dir, 'journal');
    const [segment = ''] = readdirSync(join(journal, 'toy'));
    const replay = () => {
      const args = [join(tree.root, 'bin/actorlet.ts'), 'replay', journal];
      return spawnSync(process.execPath, args, { cwd: tree.root, encoding: 'utf8' });
    };
    const same = replay();
    assert.equal(same.stdout, 'identical\n');
    assert.match(same.stderr, /^replayed: .*\btoy\b/m);
    const text = readFileSync(join(journal, 'toy', segment), 'utf8');
    assert.match(text, /"reason":"Crowded"/);
    tree.plant(`run/journal/toy/${segment}`, text.replace('"reason":"Crowded"', '"reason":"Empty"'));
    const changed = replay();
    assert.notEqual(changed.status, 0);
    assert.match(changed.stdout, /toy/);
  });

  it('is drawn, and known to the inspector', () => {
    assert.match(ran('bin/actorlet.ts', 'machines', 'toy', '--format', 'mermaid'), /roomy --> crowded/);
  });

  it('is simulated with the node', () => {
    const printed = ran('test/simulation/run/start.ts', '--seeds', '2', '--seed', '7');
    assert.match(printed, /No rule was broken/);
  });

  it('is stopped with the node: nothing keeps the program alive', () => {
    // The program of `before` has ended by itself.
    assert.ok(seen.events.length > 0);
  });
});
