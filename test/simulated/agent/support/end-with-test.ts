import { rmSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { unmountBelow } from '../../../../actors/host/files/mounts.ts';

/** What a test has begun. */
export interface Begun {
  /** Folder of all that it left. */
  dir: string;
  agent: Promise<{ kill(): Promise<void> }>;
  sim: { stop(): Promise<void> };
  server: { close(): Promise<void> };
}

/** An agent above a simulated runtime and a fake API server go with the test, also one that has not come up yet. */
export function endWithTest(t: Pick<TestContext, 'after'>, { dir, agent, sim, server }: Begun): void {
  t.after(async () => {
    await agent.then((one) => one.kill());
    await sim.stop();
    await unmountBelow(dir);
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    await server.close();
  });
}
