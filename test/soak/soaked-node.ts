import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ClusterNode } from '../cluster/support/cluster-node.ts';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import { stopOnSignal } from '../cluster/support/end-with-test.ts';
import { Space } from '../cluster/support/space.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { TestContainerd } from '../containerd/support/with-containerd.ts';
import type { Watched } from './samples.ts';
import type { Victim, Workers } from './schedule.ts';

const ENDER = fileURLToPath(new URL('./worker-ender.ts', import.meta.url));

/** A shard without a pod says nothing: it is not waited for longer, ms. */
const SHARDS_MS = 30_000;

/** A control plane with one node whose parts can be killed. */
export class SoakedNode {
  readonly plane: ControlPlane;
  readonly node: ClusterNode;
  readonly space: Space;
  private readonly dir: string;
  private readonly lives = new Map<string, { pid: number; life: number; since: number }>();
  private readonly forget: () => void;
  private stopping: Promise<void> | undefined;

  private constructor(dir: string, plane: ControlPlane, node: ClusterNode, space: Space) {
    this.dir = dir;
    this.plane = plane;
    this.node = node;
    this.space = space;
    this.forget = stopOnSignal(() => this.stop());
  }

  /** Starts it all; the caller stops it. */
  static async start(): Promise<SoakedNode> {
    const dir = await mkdtemp(join(tmpdir(), 'soak-'));
    const remove = (): Promise<void> => rm(dir, { recursive: true, force: true });
    const forget = stopOnSignal(remove);
    try {
      const plane = await ControlPlane.start();
      try {
        const node = await ClusterNode.start(plane, await nodeOptions(dir));
        try {
          return new SoakedNode(dir, plane, node, await Space.make(plane, 'soak'));
        } catch (error) {
          await node.stop();
          throw error;
        }
      } catch (error) {
        await plane.stop();
        throw error;
      }
    } catch (error) {
      await remove();
      throw error;
    } finally {
      forget();
    }
  }

  /** It is being taken away: nothing may be begun on it any more. */
  get ending(): boolean {
    return this.stopping !== undefined;
  }

  /** Kills it; resolves when it serves again. Who was killed comes back by itself or is started anew. */
  async kill(victim: Victim, workers: Workers): Promise<void> {
    if (this.ending) return;
    const since = Date.now();
    switch (victim) {
      case 'agent':
        await this.node.kill9();
        if (!this.ending) await this.node.startAgent();
        break;
      case 'containerd':
        // supervised: it is started again
        process.kill(this.containerdPid, 'SIGKILL');
        break;
      case 'apiServer':
        await this.plane.part('kube-apiserver').kill();
        if (!this.ending) await this.plane.startApiServer();
        break;
      case 'worker':
        // another text, and with it another time of change
        await writeFile(join(this.dir, 'end-workers'), `${workers}\n`);
    }
    await this.serving();
    if (victim === 'worker' || victim === 'agent') await this.shardsBack(victim, since);
  }

  /** Waits until the shards that ended (of a new agent: both) have said something again, as far as they have pods. */
  private async shardsBack(victim: 'worker' | 'agent', since: number): Promise<void> {
    // those who end notice it within a moment
    if (victim === 'worker') await sleep(1_000);
    const back = async (): Promise<true | undefined> => {
      if (this.ending) return true;
      const lines = (await readFile(this.node.agent.logFile, 'utf8')).split('\n');
      const later = lines.filter((line) => Number(/"ts":(\d+)/.exec(line)?.[1] ?? 0) >= since);
      const ended = later.map((line) => Number(/NOD002: Shard (\d+) /.exec(line)?.[1] ?? NaN));
      const gone = victim === 'agent' ? [0, 1] : [...new Set(ended.filter(Number.isInteger))];
      const speaks = (shard: number): boolean =>
        later.some((line, i) => i > ended.lastIndexOf(shard) && line.includes(`"logger":"shard-${shard}"`));
      return gone.every(speaks) ? true : undefined;
    };
    await waitFor('the shards to be back', back, undefined, SHARDS_MS).catch(() => undefined);
  }

  /** Waits until agent, runtime and API server answer. */
  async serving(): Promise<void> {
    const { address, ports, containerd } = this.node;
    const url = `http://${address}:${ports.healthzPort}/healthz`;
    const local = `http://127.0.0.1:${ports.healthzPort}/healthz`;
    await waitFor('the agent, the runtime and the API server to answer', async () => {
      if (this.ending) return true;
      const answers = await Promise.all(
        [url, local].map((where) => fetch(where, { signal: AbortSignal.timeout(2_000) }).catch(() => null)),
      );
      if (!answers.some((answer) => answer?.ok === true)) return undefined;
      await Promise.all([containerd.cri.pods(), this.plane.api.find(`/api/v1/nodes/${this.node.name}`)]);
      return true;
    });
  }

  /** The process of a part, with the number of its life. */
  watched(part: 'actorlet' | 'containerd'): Watched {
    const pid = part === 'actorlet' ? this.node.agent.pid : this.containerdPid;
    let known = this.lives.get(part);
    if (known?.pid !== pid) {
      known = { pid, life: (known?.life ?? 0) + 1, since: performance.now() };
      this.lives.set(part, known);
    }
    return { pid, life: known.life, ageSeconds: (performance.now() - known.since) / 1000 };
  }

  /** Takes all of it away; may be called twice. */
  stop(): Promise<void> {
    this.stopping ??= (async () => {
      try {
        await this.node.stop();
      } finally {
        await this.plane.stop();
        await rm(this.dir, { recursive: true, force: true });
        this.forget();
      }
    })();
    return this.stopping;
  }

  private get containerdPid(): number {
    return (this.node.containerd as TestContainerd).containerd.pid;
  }
}

async function nodeOptions(dir: string) {
  const file = join(dir, 'end-workers');
  await writeFile(file, '');
  const env = { NODE_OPTIONS: `--import ${ENDER}`, SOAK_END_WORKERS: file };
  // two shards: while one is replaced, the other serves
  return { name: 'soaked', agent: 'actorlet' as const, env, flags: ['--shards', '2'] };
}
