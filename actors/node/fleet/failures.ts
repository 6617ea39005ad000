import type { Logger } from 'pino';
import { anyMatches } from '../../../cri/sim/glob.ts';
import { draw } from '../../../cri/sim/prng.ts';
import type { DeviceTaintRule } from './profile/device-taint-schema.ts';
import type { FailureRule } from './profile/failure-schema.ts';
import type { FleetClock } from './fleet-clock.ts';
import type { SimulatedNode } from './simulated-node.ts';
import type { Timer } from '../../host/time/clock.ts';

/** A failure that has been drawn: when, of which nodes. */
export interface DrawnFailure {
  does: FailureRule['does'];
  /** ms since the start. */
  at: number;
  /** ms; null: for good. */
  for: number | null;
  nodes: string[];
  /** Globs of resources, when it strikes devices; absent: all. */
  resource?: readonly string[];
  /** Globs of drivers of dynamic resources, when it strikes them or their devices; absent: all. */
  driver?: readonly string[];
  /** So many devices of each, on a node; absent: all. */
  devices?: number;
  /** The taint that they get, when it taints them. */
  taint?: DeviceTaintRule;
}

/** What a failure needs to know of a node to choose it. */
interface Choosable {
  name: string;
  zone: string | null;
}

/** The nth failure of a rule; null when there is none. The same seed gives the same, whatever happens meanwhile. */
export function drawFailure(
  rule: FailureRule,
  index: number,
  n: number,
  before: number,
  nodes: readonly Choosable[],
  seed: number,
): DrawnFailure | null {
  if (rule.at !== undefined && n > 0) return null;
  const chance = draw(seed, 'failure', index, n);
  // Times between failures that have nothing to do with each other are spread exponentially.
  const at = rule.at ?? before + -Math.log(1 - chance) * (rule.every ?? 0);
  const fit = nodes.filter(({ name, zone }) => anyMatches(rule.nodes, name) && (rule.zone ?? zone) === zone);
  const chosen = fit
    .map(({ name }) => ({ name, lot: draw(seed, 'struck', index, n, name) }))
    .sort((a, b) => a.lot - b.lot)
    .slice(0, rule.count ?? fit.length)
    .map(({ name }) => name);
  const { does, resource, driver, devices, taint } = rule;
  return {
    ...{ does, at, for: rule.for ?? null, nodes: chosen },
    ...(resource && { resource }),
    ...(driver && { driver }),
    ...(devices !== undefined && { devices }),
    ...(taint && { taint }),
  };
}

/** Lets things go wrong with nodes when their time has come, and puts them right again. */
export class Failures {
  private readonly timers = new Set<Timer>();
  private readonly rules: readonly FailureRule[];
  private readonly nodes: readonly SimulatedNode[];
  private readonly seed: number;
  private readonly log: Logger;
  private readonly clock: FleetClock;
  private startedAt = 0;
  /** How many nodes were struck so far. */
  struck = 0;

  constructor(
    rules: readonly FailureRule[],
    nodes: readonly SimulatedNode[],
    seed: number,
    log: Logger,
    clock: FleetClock,
  ) {
    this.rules = rules;
    this.nodes = nodes;
    this.seed = seed;
    this.log = log;
    this.clock = clock;
  }

  /** The time of the profile begins. */
  start(): void {
    this.startedAt = this.clock.steady();
    for (const [index, rule] of this.rules.entries()) this.next(rule, index, 0, 0);
  }

  stop(): void {
    for (const timer of this.timers) timer.cancel();
    this.timers.clear();
  }

  private next(rule: FailureRule, index: number, n: number, before: number): void {
    const nodes = this.nodes.map(({ name, plan: { zone } }) => ({ name, zone }));
    const drawn = drawFailure(rule, index, n, before, nodes, this.seed);
    if (drawn === null) return;
    this.at(drawn.at, () => {
      this.next(rule, index, n + 1, drawn.at);
      const named = new Set(drawn.nodes);
      for (const node of this.nodes) if (named.has(node.name)) this.strike(node, drawn);
    });
  }

  private strike(node: SimulatedNode, drawn: DrawnFailure): void {
    const { does, at, for: span } = drawn;
    this.struck++;
    this.log.warn({ node: node.name, does, forMs: span }, 'A failure of the profile');
    const attempt = (work: Promise<void> | void): void =>
      void Promise.resolve(work).catch((error: unknown) =>
        this.log.error({ err: error, node: node.name }, 'A failure of the profile'),
      );
    attempt(begin(node, drawn));
    if (span !== null) this.at(at + span, () => attempt(end(node, drawn)));
  }

  /** @param ms since the start, of the nodes' clock */
  private at(ms: number, action: () => void): void {
    const timer = this.clock.after(this.startedAt + ms - this.clock.steady(), () => {
      this.timers.delete(timer);
      action();
    });
    this.timers.add(timer);
  }
}

function begin(node: SimulatedNode, { does, ...drawn }: DrawnFailure): Promise<void> | void {
  const { machine } = node;
  switch (does) {
    case 'die':
      return node.die();
    case 'lose-network':
      return node.setNetwork(false);
    case 'hang-runtime':
      return machine.runtime.setHanging(true);
    case 'stop-runtime':
      return machine.runtime.setDown(true);
    case 'fill-disk':
    case 'fill-memory':
      return machine.fill(does === 'fill-disk' ? 'disk' : 'memory', true);
    case 'fail-devices':
      return machine.devices.fail(drawn.resource, drawn.devices);
    case 'stop-device-plugin':
      return machine.devices.leave(drawn.resource);
    case 'fail-driver-devices':
      return machine.drivers.fail(drawn.driver, drawn.devices);
    case 'taint-driver-devices':
      return drawn.taint && machine.drivers.taint(drawn.driver, drawn.taint, drawn.devices);
    case 'refuse-claims':
      return machine.drivers.refuse(drawn.driver);
    case 'stop-driver':
      return machine.drivers.leave(drawn.driver);
  }
}

function end(node: SimulatedNode, { does, ...drawn }: DrawnFailure): Promise<void> | void {
  const { machine } = node;
  switch (does) {
    case 'die':
      return node.comeBack();
    case 'lose-network':
      return node.setNetwork(true);
    case 'hang-runtime':
      return machine.runtime.setHanging(false);
    case 'stop-runtime':
      return machine.runtime.setDown(false);
    case 'fill-disk':
    case 'fill-memory':
      return machine.fill(does === 'fill-disk' ? 'disk' : 'memory', false);
    case 'fail-devices':
      return machine.devices.heal(drawn.resource, drawn.devices);
    case 'stop-device-plugin':
      return machine.devices.comeBack(drawn.resource);
    case 'fail-driver-devices':
      return machine.drivers.heal(drawn.driver, drawn.devices);
    case 'taint-driver-devices':
      return drawn.taint && machine.drivers.untaint(drawn.driver, drawn.taint, drawn.devices);
    case 'refuse-claims':
      return machine.drivers.accept(drawn.driver);
    case 'stop-driver':
      return machine.drivers.comeBack(drawn.driver);
  }
}
