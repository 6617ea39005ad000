import { Random } from '../world/random.ts';
import { drawFaults, drawPressure, drawShutdowns } from './draw-faults.ts';
import { withFullNode } from './draw-full.ts';
import { withLeaks } from './draw-leaks.ts';
import { withClaims } from './draw-claims.ts';
import { withManagers } from './draw-managers.ts';
import { drawMoment } from './draw-moments.ts';
import { PLUGINS_FIRST_MS, drawPatience, drawPluginFaults, withPlugins } from './draw-plugins.ts';
import { drawPod } from './draw-pod.ts';
import type { Change, Plan, PodPlan } from './plan.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
/** Priority of critical pods (system-cluster-critical). */
const CRITICAL = 2_000_000_000;
/** From the end of faults to the last look, ms: the longest back-offs and runs end within it. */
export const SETTLING_MS = 40 * MINUTE;

/** What may be asked of a draw. */
export interface DrawOptions {
  /** Virtual hours; 2 by default. */
  hours?: number;
  pods?: number;
  faults?: boolean;
  changes?: boolean;
  /** Moments in which several things meet at one pod, besides all else; none by default. */
  moments?: boolean;
  /** The node gives CPUs and memory away; it does not by default. */
  managers?: boolean;
  /** There are device plugins and drivers; by default there are none. */
  plugins?: boolean;
  /** The node has CSI drivers, and pods have claims; it has none by default. */
  claims?: boolean;
}

/** Draws everything that happens in a run. */
export function drawPlan(seed: number, options: DrawOptions = {}): Plan {
  const plan = drawNode(seed, options);
  return options.claims === true ? withClaims(new Random(seed).fork('claims'), plan, options.faults !== false) : plan;
}

function drawNode(seed: number, options: DrawOptions): Plan {
  const random = new Random(seed);
  const endAt = Math.round((options.hours ?? 2) * HOUR);
  const quietAt = endAt - SETTLING_MS;
  const shards = random.between(1, 3);
  const node: Plan['node'] = {
    shards,
    evented: random.chance(0.4),
    syncFrequencyMs: random.pick([MINUTE, 10 * MINUTE, 10 * MINUTE]),
    serializePulls: random.chance(0.7),
  };
  const pods = drawPods(random.fork('pods'), options.pods ?? random.between(5, 15), quietAt);
  const changes = options.changes === false ? [] : drawChanges(random.fork('changes'), pods, quietAt);
  const faults = options.faults === false ? [] : drawFaults(random.fork('faults'), quietAt, shards);
  if (options.faults !== false) faults.push(...drawPressure(random.fork('pressure'), quietAt));
  if (options.faults !== false) {
    const draws = random.fork('shutdown');
    const shutdowns = drawShutdowns(draws, quietAt);
    faults.push(...shutdowns);
    // Their order is seen then.
    if (shutdowns.length > 0)
      for (const { spec } of pods) if (draws.chance(0.5)) spec.priority = draws.pick([150, CRITICAL]);
  }
  const leaks = options.faults === false ? null : withLeaks(random.fork('leaks'), pods, quietAt);
  if (leaks !== null) {
    faults.push(...leaks.faults);
    node.disks = leaks.disks;
  }
  // The rules of preemption weigh CPUs alone.
  const others = options.managers === true || options.plugins === true;
  if (!others && withFullNode(random.fork('full'), pods, quietAt)) node.full = true;
  if (options.moments === true) {
    const draws = random.fork('moments');
    for (let i = draws.between(8, 20); i > 0; i--) {
      const moment = drawMoment(draws, pods, shards, quietAt);
      changes.push(...moment.changes);
      faults.push(...moment.faults);
    }
  }
  if (options.plugins === true) {
    const draws = random.fork('plugins');
    withPlugins(draws, pods);
    for (const change of changes) change.at += PLUGINS_FIRST_MS;
    if (options.faults !== false) faults.push(...drawPluginFaults(draws, quietAt));
    const patience = drawPatience(draws);
    const preStart = random.fork('pre-start').chance(0.5);
    Object.assign(node, {
      plugins: true,
      ...(preStart && { preStart }),
      ...(patience > 0 && { waitForPluginsMs: patience }),
    });
  }
  if (options.managers === true) {
    const kept = withManagers(random.fork('managers'), pods, changes);
    return {
      seed,
      quietAt,
      endAt,
      node: { ...node, managers: true },
      pods,
      changes: kept.sort((a, b) => a.at - b.at),
      faults,
    };
  }
  return { seed, quietAt, endAt, node, pods, changes: changes.sort((a, b) => a.at - b.at), faults };
}

function drawPods(random: Random, count: number, until: number): PodPlan[] {
  const pods: PodPlan[] = [];
  const burst = random.chance(0.4);
  for (let i = 0; i < count; i++) {
    const source = random.chance(0.25) ? 'file' : 'api';
    // Now and then the name of a pod that is there, or was: of its source, or of the other (a static pod's ends with the node's).
    const twin = random.chance(0.15) ? random.pickAny(pods) : undefined;
    const base = twin?.name.replace(/-sim$/, '') ?? `pod${i}`;
    const name = source === 'api' && twin?.source === 'file' ? `${base}-sim` : base;
    const at =
      burst && random.chance(0.7)
        ? random.between(0, 2_000)
        : random.between(0, Math.floor((until * 0.7) / SECOND)) * SECOND;
    pods.push(drawPod(random, { key: `p${i}`, at, source, name }));
  }
  return pods;
}

/** Its file is removed and put back several times within seconds. */
function again(random: Random, key: string, from: number, until: number): Change[] {
  const changes: Change[] = [];
  let at = from;
  for (let i = random.chance(0.4) ? random.between(1, 4) : 0; i > 0; i--) {
    for (const what of ['restore', 'delete'] as const) {
      at = Math.min(until - SECOND, at + (random.chance(0.5) ? random.between(1, 100) : random.between(100, 20_000)));
      changes.push(what === 'restore' ? { at, do: what, pod: key } : { at, do: what, pod: key, grace: null });
    }
  }
  if (changes.length > 0 && random.chance(0.8)) changes.pop();
  return changes;
}

function drawChanges(random: Random, pods: readonly PodPlan[], until: number): Change[] {
  const changes: Change[] = [];
  for (const { key, at: born, spec, source } of pods) {
    const soon = (): number =>
      Math.min(
        until - SECOND,
        born + (random.chance(0.4) ? random.between(1, 4_000) : random.between(1, 3_600) * SECOND),
      );
    const containers = [...(spec.initContainers ?? []), ...spec.containers].map(({ name }) => name);
    if (random.chance(0.55)) {
      const at = soon();
      changes.push({ at, do: 'delete', pod: key, grace: random.chance(0.3) ? random.pick([0, 1, 10, 60]) : null });
      if (random.chance(0.3) && source === 'api')
        changes.push({
          at: Math.min(until - SECOND, at + random.between(0, 20_000)),
          do: 'delete',
          pod: key,
          grace: random.pick([0, 1, 5]),
        });
      if (source === 'file' && random.chance(0.5))
        changes.push({ at: Math.min(until - SECOND, at + random.between(10, 120_000)), do: 'restore', pod: key });
      if (source === 'file') changes.push(...again(random.fork(`again ${key}`), key, at, until));
    }
    if (random.chance(0.2)) {
      const container = random.pickAny(spec.containers.map(({ name }) => name)) ?? 'main0';
      changes.push({
        at: soon(),
        do: 'image',
        pod: key,
        container,
        image: random.pick(['there:1', 'there:2', 'registry/app:2']),
      });
    }
    if (random.chance(0.15)) changes.push({ at: soon(), do: 'label', pod: key });
    if (random.chance(0.1)) changes.push({ at: soon(), do: 'refresh', pod: key });
    if (random.chance(0.05) && source === 'api')
      changes.push({ at: soon(), do: 'deadline', pod: key, seconds: random.pick([1, 60, 600]) });
    for (let i = random.chance(0.3) ? random.between(1, 3) : 0; i > 0; i--) {
      const container = random.pickAny(containers) ?? 'main0';
      const [code, reason] = random.pick([
        [137, 'OOMKilled'],
        [1, ''],
        [0, ''],
      ] as [[number, string], ...[number, string][]]);
      changes.push({ at: soon(), do: 'kill', pod: key, container, code, reason });
    }
    if (random.chance(0.12)) changes.push({ at: soon(), do: 'kill-sandbox', pod: key });
  }
  return changes.sort((a, b) => a.at - b.at);
}
