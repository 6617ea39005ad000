import { seenPods } from './agent-pods.ts';
import type { SeenPod } from './agent-pods.ts';
import type { DemoAgent } from './agent-process.ts';
import { DemoFailure, waitUntil } from './wait-until.ts';
import type { StepLimits } from './wait-until.ts';

/** Waits until the agent's healthz answers `ok`. */
export async function waitForAgent(agent: DemoAgent, limits: StepLimits): Promise<void> {
  const look = async () => {
    assertRuns(agent);
    const reply = await fetch(agent.healthz, { signal: AbortSignal.timeout(2_000) }).catch(() => null);
    return reply?.ok === true ? true : null;
  };
  await waitUntil(look, { ...limits, what: () => `the agent does not answer at ${agent.healthz}` });
}

/** Waits until the agent reports the pod in a state that `wanted` accepts. */
export async function waitForPod(
  agent: DemoAgent,
  podName: string,
  wanted: (pod: SeenPod) => boolean,
  limits: StepLimits,
): Promise<SeenPod> {
  let last: SeenPod | undefined;
  const look = async () => {
    assertRuns(agent);
    last = (await seenPods(agent.readOnly))?.find(({ name }) => name === podName) ?? last;
    return last !== undefined && wanted(last) ? last : null;
  };
  return waitUntil(look, { ...limits, what: () => `pod ${podName} is ${describe(last)}` });
}

/** Waits until the agent no longer reports the pod. */
export async function waitForPodGone(agent: DemoAgent, podName: string, limits: StepLimits): Promise<void> {
  const look = async () => {
    assertRuns(agent);
    const pods = await seenPods(agent.readOnly);
    return pods !== null && !pods.some(({ name }) => name === podName) ? true : null;
  };
  await waitUntil(look, {
    ...limits,
    what: () => `the agent still reports pod ${podName} after its manifest was removed`,
  });
}

function assertRuns(agent: DemoAgent): void {
  const code = agent.exited();
  if (code !== null) throw new DemoFailure(`the agent ended with exit code ${code}; its last lines:\n${agent.tail()}`);
}

function describe(pod: SeenPod | undefined): string {
  if (pod === undefined) return 'not known to the agent';
  const all = [...pod.initContainers, ...pod.containers];
  const words = all.map((c) => `${c.name}: ${c.state === '' ? 'unknown' : c.state}${c.ready ? '' : ', not ready'}`);
  return `not as wanted: phase ${pod.phase === '' ? 'unknown' : pod.phase}; ${words.join('; ')}`;
}
