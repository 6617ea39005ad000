import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { SimScript } from '../../../../cri/sim/script.ts';
import type { SimulatedRuntime } from '../../../../cri/sim/simulated-runtime.ts';
import { startSimulatedRuntime } from '../../../../cri/sim/simulated-runtime.ts';
import type { Agent, AgentOptions } from './agent.ts';
import { startAgent } from './agent.ts';
import { PATIENCE_MS, waitFor } from '../../../tools/wait-for.ts';

/** An agent on a simulated runtime, with a folder of its own; all of it is gone after the test. */
export interface Bench {
  readonly dir: string;
  readonly sim: SimulatedRuntime;
  readonly endpoint: string;
  /** The agent that runs now. */
  agent: Agent;
  /** Starts an agent with the same options (after the one before was stopped or killed). */
  restart(): Promise<Agent>;
  /** Puts a manifest in place at once. */
  put(file: string, ...pods: object[]): Promise<void>;
  remove(file: string): Promise<void>;
}

/** The image that is there without a pull. */
export const IMAGE = 'registry.example/present:1';

/** Script part by which {@link IMAGE} is there. */
export const PRESENT = { image: IMAGE, present: true };

/** A small static pod of one container that runs until it is stopped. */
export function manifest(name: string, spec: object = {}, container: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image: IMAGE, ...container }], ...spec },
  };
}

/** Starts runtime and agent. */
export async function bench(
  t: Pick<TestContext, 'after'>,
  options: { script?: SimScript } & Omit<AgentOptions, 'dir' | 'endpoint'> = {},
): Promise<Bench> {
  const { script = {}, ...agentOptions } = options;
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-agent-'));
  // One hook, for hooks run in the order they were given: an agent that still lives would make its folders again.
  const ends: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const end of ends.reverse()) await end();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  const socket = join(dir, 'cri.sock');
  const sim = await startSimulatedRuntime({ socket, script: { images: [PRESENT], ...script }, seed: 1 });
  ends.push(() => sim.stop());
  const endpoint = `unix://${socket}`;
  const start = () => startAgent({ dir, endpoint, ...agentOptions });
  const it: Bench = {
    dir,
    sim,
    endpoint,
    agent: await start(),
    restart: async () => (it.agent = await start()),
    put: async (file, ...pods) => {
      const partial = join(dir, 'manifests', `.${file}`);
      await writeFile(partial, pods.map((pod) => JSON.stringify(pod)).join('\n---\n'));
      await rename(partial, join(dir, 'manifests', file));
    },
    remove: (file) => rm(join(dir, 'manifests', file)),
  };
  ends.push(() => it.agent.kill());
  return it;
}

/** Writes manifests where the agent will find them when it starts. */
export function putAtOnce(folder: string, file: string, pods: readonly object[]): void {
  writeFileSync(join(folder, file), pods.map((pod) => JSON.stringify(pod)).join('\n---\n'));
}

/** {@link PATIENCE_MS} for thousands of pods on a machine with other things to do. */
const LONG_WATCHDOG_MS = 900_000;

/** Waits until `look` gives something other than false, null or undefined. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  { everyMs = 20, withinMs = PATIENCE_MS, agent }: { everyMs?: number; withinMs?: number; agent?: Agent } = {},
): Promise<NonNullable<T>> {
  return waitFor(
    what,
    async () => {
      const found = await look();
      return found === false || found === null ? undefined : (found as NonNullable<T>);
    },
    async () =>
      ((await agent?.rows()) ?? [])
        .slice(0, 10)
        .map((row) => JSON.stringify(row))
        .join('\n'),
    withinMs,
    everyMs,
  );
}

/** Waits until these pods (all, without names) run and are ready; `names` without the node's suffix. */
export async function running(b: Bench, count: number, match: (name: string) => boolean = () => true): Promise<void> {
  await until(
    `${count} pods in syncing.running`,
    async () =>
      (await b.agent.rows()).filter(
        // That they run is told when a look has seen it.
        ({ state, phase, name }) => state === 'syncing.running' && phase === 'Running' && match(name),
      ).length >= count,
    count > 500 ? { everyMs: 250, withinMs: LONG_WATCHDOG_MS, agent: b.agent } : { agent: b.agent },
  );
}

/** The container of a pod that is newest in the simulated runtime. */
export function containerOf(sim: SimulatedRuntime, pod: string, container = 'c') {
  return [...sim.state.containers.values()]
    .filter((c) => c.sandbox.metadata.name === `${pod}-node` && c.metadata.name === container)
    .sort((a, b) => b.metadata.attempt - a.metadata.attempt)[0];
}
