import type { AgentOptions } from './agent.ts';
import type { Bench } from './bench.ts';
import { containerOf, manifest, running, until } from './bench.ts';

/** Pods that start in each round. */
export const OTHERS = 10;

/** Name of the pod whose calls hang. */
export const HUNG = 'hung';

/** One call that can hang in a pod. */
export interface HungCase {
  config?: AgentOptions['config'];
  hungPod: object;
  /** Brings the pod to where its call hangs. */
  hang: (b: Bench) => Promise<void> | void;
}

const probe = { exec: { command: ['probe'] }, periodSeconds: 1, timeoutSeconds: 600 };

/** Hangs `rpc` of the pod before the pod is there. */
function fromTheStart(rpc: string): HungCase['hang'] {
  return (b) => b.sim.hang({ match: { rpc, pod: `${HUNG}-node` } });
}

/** Lets the pod run first, then hangs `rpc` and does `then`. */
function onceItRuns(hang: (b: Bench) => void, then: (b: Bench) => Promise<void> | void): HungCase['hang'] {
  return async (b) => {
    await running(b, 1, (name) => name === `${HUNG}-node`);
    hang(b);
    await then(b);
  };
}

/** The calls, by words that say where the pod hangs. */
export const HUNG_CASES: Record<string, HungCase> = {
  RunPodSandbox: { hungPod: manifest(HUNG), hang: fromTheStart('RunPodSandbox') },
  CreateContainer: { hungPod: manifest(HUNG), hang: fromTheStart('CreateContainer') },
  StartContainer: { hungPod: manifest(HUNG), hang: fromTheStart('StartContainer') },
  'PullImage, pulls in parallel': {
    config: { serializeImagePulls: false },
    hungPod: manifest(HUNG, {}, { image: 'registry.example/hung:1', imagePullPolicy: 'Always' }),
    hang: (b) => b.sim.hang({ match: { rpc: 'PullImage', image: 'registry.example/hung:1' } }),
  },
  'PullImage, pulls in turn, the other images present': {
    hungPod: manifest(HUNG, {}, { image: 'registry.example/hung:1', imagePullPolicy: 'Always' }),
    hang: (b) => b.sim.hang({ match: { rpc: 'PullImage', image: 'registry.example/hung:1' } }),
  },
  'ExecSync of a probe': {
    hungPod: manifest(HUNG, {}, { readinessProbe: probe }),
    hang: (b) => b.sim.hang({ match: { rpc: 'ExecSync', pod: `${HUNG}-node` } }),
  },
  StopContainer: {
    hungPod: manifest(HUNG),
    hang: onceItRuns(
      (b) => b.sim.hang({ match: { rpc: 'StopContainer', pod: `${HUNG}-node` } }),
      (b) => b.remove('hung.yaml'),
    ),
  },
  'ContainerStatus of the observer': {
    hungPod: manifest(HUNG),
    hang: onceItRuns(
      (b) => b.sim.hang({ match: { rpc: 'ContainerStatus', pod: `${HUNG}-node` } }),
      (b) => b.sim.emitEvent(containerOf(b.sim, HUNG)?.id ?? '', 1),
    ),
  },
  'PodSandboxStatus of the observer': {
    hungPod: manifest(HUNG),
    hang: onceItRuns(
      (b) => b.sim.hang({ match: { rpc: 'PodSandboxStatus', pod: `${HUNG}-node` } }),
      (b) => b.sim.emitEvent(containerOf(b.sim, HUNG)?.id ?? '', 1),
    ),
  },
  'a single ListContainers': {
    hungPod: manifest(HUNG),
    hang: onceItRuns(
      (b) => b.sim.hang({ match: { rpc: 'ListContainers' }, times: 1 }),
      (b) => b.sim.emitEvent(containerOf(b.sim, HUNG)?.id ?? '', 1),
    ),
  },
};

/** One round: some pods appear at once. Ms from their manifest to the start of each one's container. */
export async function startTimes(b: Bench, round: number): Promise<number[]> {
  const names = Array.from({ length: OTHERS }, (_, i) => `r${round}-${i}`);
  const from = Date.now();
  await b.put('others.yaml', ...names.map((name) => manifest(name)));
  const times = await until('the others to start', () => {
    const started = names.map((name) => BigInt(containerOf(b.sim, name)?.startedAt ?? '0'));
    return started.every((at) => at > 0n) ? started.map((at) => Number(at / 1000n) / 1000 - from) : null;
  });
  await running(b, OTHERS, (name) => name.startsWith(`r${round}-`));
  await b.remove('others.yaml');
  await until('the others to be gone', async () => {
    const rows = await b.agent.rows();
    return rows.every((row) => row.name === `${HUNG}-node`);
  });
  return times;
}
