import type { Random } from '../world/random.ts';
import type { Fault } from './plan.ts';

const SECOND = 1_000;
const MINUTE = 60_000;

const CALLS = [
  'RunPodSandbox',
  'StopPodSandbox',
  'RemovePodSandbox',
  'CreateContainer',
  'StartContainer',
  'StopContainer',
  'RemoveContainer',
  'ContainerStatus',
  'PodSandboxStatus',
  'ListContainers',
  'ListPodSandbox',
  'PullImage',
  'ImageStatus',
  'ExecSync',
] as const;
const HOST = [
  'host.EnsurePodCgroup',
  'host.RemovePodCgroup',
  'host.SetUpVolumes',
  'host.TearDownPod',
  'host.PrepareContainer',
] as const;
const MORTAL = [
  'cri.RunPodSandbox',
  'cri.CreateContainer',
  'cri.StartContainer',
  'cri.StopContainer',
  'cri.StopPodSandbox',
  'cri.RemovePodSandbox',
  'cri.RemoveContainer',
  'host.SetUpVolumes',
  'host.TearDownPod',
  'host.RemovePodCgroup',
  'image.Status',
] as const;

/** Draws what goes wrong before `until`, ms; some runs are calm, some are hell. */
export function drawFaults(random: Random, until: number, shards: number): Fault[] {
  const dice = random.next();
  const count = dice < 0.1 ? 0 : dice < 0.8 ? random.between(3, 12) : random.between(12, 40);
  return Array.from({ length: count }, () => drawFault(random, until, shards));
}

/** Draws when the node runs short; on half of them it never does. */
export function drawPressure(random: Random, until: number): Fault[] {
  if (!random.chance(0.5)) return [];
  return Array.from({ length: random.between(1, 5) }, (): Fault => {
    const from = random.between(0, Math.floor((until * 0.8) / SECOND)) * SECOND;
    const what = random.pick(['memory', 'disk', 'pids'] as const);
    return {
      kind: 'pressure',
      what,
      from,
      for: random.between(10, 90) * SECOND,
      ...(random.chance(0.3) && { brief: true }),
      ...(random.chance(0.4) && { slight: true }),
    };
  });
}

/** Draws when the machine goes down, and what logind does; on most of them neither. */
export function drawShutdowns(random: Random, until: number): Fault[] {
  if (!random.chance(0.2)) return [];
  const at = (): number => random.between(0, Math.floor((until * 0.8) / SECOND)) * SECOND;
  const faults = Array.from({ length: random.between(1, 2) }, (): Fault => {
    return { kind: 'shutdown', from: at(), for: random.between(1, 40) * SECOND, reboot: random.chance(0.5) };
  });
  for (let i = random.between(0, 3); i > 0; i--) {
    const how = random.pick(['away', 'refuses', 'short', 'drops'] as const);
    faults.push({ kind: 'logind', how, from: at(), for: random.between(1, 300) * SECOND });
  }
  return faults;
}

function drawFault(random: Random, until: number, shards: number): Fault {
  // Work is densest at the start; later there is little to disturb.
  const early = random.chance(0.6);
  const from = random.between(0, Math.floor((early ? until * 0.4 : until * 0.9) / SECOND)) * SECOND;
  const most = until - from - SECOND;
  const span = (longest: number): { from: number; for: number } => ({
    from,
    for: Math.max(SECOND, Math.min(most, random.between(1, longest) * SECOND)),
  });
  switch (random.between(0, 15)) {
    case 0:
    case 1:
    case 2: {
      const how = random.pick(['fail', 'fail', 'hang', 'lost', 'lost', 'twice', 'slow'] as const);
      const rpcs = random.chance(0.3) ? ['*'] : [random.pick([...CALLS] as [string, ...string[]])];
      return { kind: 'cri', how, rpcs, chance: random.pick([0.05, 0.3, 1]), ...span(how === 'hang' ? 120 : 300) };
    }
    case 3:
      return { kind: 'runtime-restart', keepContainers: random.chance(0.7), ...span(60) };
    case 4:
      // Now and then while the first pods come.
      return {
        kind: 'not-ready',
        condition: random.pick(['RuntimeReady', 'NetworkReady']),
        ...span(180),
        ...(random.chance(0.4) && { from: random.between(0, 2) * SECOND }),
      };
    case 5:
      return { kind: 'events', how: random.pick(['off', 'lost', 'late']), ...span(300) };
    case 6:
      return {
        kind: 'looks',
        how: random.pick(['late', 'twice', 'reordered']),
        chance: random.pick([0.1, 0.5]),
        ...span(600),
      };
    case 7:
    case 8: {
      const how = random.pick(['down', 'fail', 'hang', 'lost', 'twice', 'slow'] as const);
      return { kind: 'api', how, chance: how === 'down' ? 1 : random.pick([0.1, 0.5, 1]), ...span(600) };
    }
    case 9:
      return random.chance(0.5)
        ? { kind: 'watch', from, how: random.pick(['cut', 'expired', 'end']) }
        : { kind: 'watch-late', ...span(300) };
    case 10:
      return { kind: 'stale-list', ...span(600) };
    case 11: {
      const effects = random.chance(0.3) ? ['*'] : [random.pick([...HOST] as [string, ...string[]])];
      const code = random.pick(['ENOSPC', 'EIO', 'EBUSY']);
      return {
        kind: 'host',
        how: random.pick(['fail', 'lost', 'slow']),
        code,
        effects,
        chance: random.pick([0.2, 1]),
        ...span(300),
      };
    }
    case 12:
      return { kind: 'agent-crash', torn: random.chance(0.3), journalLost: random.chance(0.1), ...span(120) };
    case 13:
      return random.chance(0.5)
        ? { kind: 'worker-crash', from, shard: random.between(0, shards - 1) }
        : { kind: 'journal-full', ...span(300) };
    case 14: {
      const effect = random.pick([...MORTAL] as [string, ...string[]]);
      return { kind: 'crash-at-effect', effect, count: random.between(1, 3), done: random.chance(0.5), ...span(600) };
    }
    default:
      return random.chance(0.4)
        ? { kind: 'clock', from, by: random.pick([-5 * MINUTE, -30 * SECOND, 30 * SECOND, 5 * MINUTE, 60 * MINUTE]) }
        : { kind: 'agent-stop', ...span(30) };
  }
}
