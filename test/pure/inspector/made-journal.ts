import { setImmediate as turn } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { Inspector } from '../../../actors/inspect/inspector/inspector.ts';
import type { InspectorSource } from '../../../actors/inspect/inspector/inspector.ts';
import type { Shard } from '../../../actors/pods/shard/shard.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import { pod } from '../pod/pod-world.ts';
import { feed, journalingShard, lifeOf } from '../journal/journal-fixture.ts';

/** An inspector that goes with the test, its files read. */
export async function inspecting(t: TestContext, source: InspectorSource): Promise<Inspector> {
  const inspector = new Inspector(source, 'test');
  t.after(() => inspector.close());
  await inspector.refresh();
  return inspector;
}

/** A pod of this name. */
export function podNamed(name: string, uid = name): Pod {
  const made = pod({}, uid);
  return { ...made, metadata: { ...made.metadata, name } };
}

/** The start of a pod, after which it waits for its first effects. */
export function startOf(definition: Pod, at = 1_000): PodMessage {
  return {
    ...{ type: 'pod.start', at, pod: definition, source: 'file', observed: null, memory: null },
    ...{ runtimeReady: true, networkReady: true },
  };
}

/** Journals pods that start, all in shard 0, some in a turn. */
export async function startPods(shard: Shard, pods: readonly Pod[], at = 1_000): Promise<void> {
  for (const [i, definition] of pods.entries()) {
    shard.post(definition.metadata?.uid ?? '', startOf(definition, at + i));
    if (i % 200 === 199) await turn();
  }
  // At most 64 messages of the queue are handled in a turn.
  for (let i = 0; i < pods.length / 64 + 4; i++) await turn();
}

/** A folder's journal with one whole life of each pod, in its own shard. */
export async function journalOfLives(dir: string, pods: readonly Pod[], maxBytes?: number): Promise<PodMessage[][]> {
  const lives: PodMessage[][] = [];
  for (const [number, definition] of pods.entries()) {
    const shard = journalingShard(dir, { shard: number, ...(maxBytes !== undefined && { maxBytes }) });
    const life = lifeOf(definition);
    lives.push(life);
    await feed(shard, definition.metadata?.uid ?? '', life);
    shard.close();
  }
  return lives;
}
