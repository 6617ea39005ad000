import { messageOf } from '../../machines/values/message-of.ts';
import type { DemoAgent } from './agent-process.ts';
import { waitUntil } from './wait-until.ts';
import type { StepLimits } from './watch-pod.ts';

/**
 * Waits until the inspector shows the pod, asked as its page asks it; its address carries the token. Gives the address.
 * Throws `DemoFailure`.
 */
export async function waitForInspector(agent: DemoAgent, podName: string, limits: StepLimits): Promise<string> {
  let problem = 'the agent has told no address of it';
  const look = async (): Promise<string | null> => {
    const address = agent.inspector();
    if (address === null) return null;
    const { origin, searchParams } = new URL(address);
    const headers = { authorization: `Bearer ${searchParams.get('token') ?? ''}` };
    try {
      const answer = await fetch(`${origin}/api/pods`, { headers, signal: AbortSignal.timeout(2_000) });
      const pods = (await answer.json()) as { name: string }[];
      problem = `it answers ${answer.status} without the pod`;
      return pods.some(({ name }) => name === podName) ? address : null;
    } catch (error) {
      problem = messageOf(error);
      return null;
    }
  };
  return waitUntil(look, { ...limits, what: () => `the inspector does not show pod ${podName}: ${problem}` });
}
