import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ClusterNode } from '../cluster/support/cluster-node.ts';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import { Space } from '../cluster/support/space.ts';
import type { TestContainerd } from '../containerd/support/with-containerd.ts';
import type { Watched } from './samples.ts';
import type { Victim } from './schedule.ts';

const ENDER = fileURLToPath(new URL('./worker-ender.ts', import.meta.url));

/** A control plane with one node whose parts can be killed. */
export class SoakedNode {
  readonly plane: ControlPlane;
  readonly node: ClusterNode;
  readonly space: Space;
  private readonly dir: string;
  private readonly lives = new Map<string, { pid: number; life: number; since: number }>();

  private constructor(dir: string, plane: ControlPlane, node: ClusterNode, space: Space) {
    this.dir = dir;
    this.plane = plane;
    this.node = node;
    this.space = space;
  }

  /** Starts it all; the caller stops it. */
  static async start(): Promise<SoakedNode> {
    const dir = await mkdtemp(join(tmpdir(), 'soak-'));
    const plane = await ControlPlane.start().catch(async (error: unknown) => {
      await rm(dir, { recursive: true, force: true });
      throw error;
    });
    try {
      const file = join(dir, 'end-workers');
      await writeFile(file, '');
      const env = { NODE_OPTIONS: `--import ${ENDER}`, SOAK_END_WORKERS: file };
      // two shards: while one is replaced, the other serves
      const flags = ['--shards', '2'];
      const node = await ClusterNode.start(plane, { name: 'soaked', agent: 'actorlet', env, flags });
      try {
        return new SoakedNode(dir, plane, node, await Space.make(plane, 'soak'));
      } catch (error) {
        await node.stop();
        throw error;
      }
    } catch (error) {
      await plane.stop();
      await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }

  /** Kills it; resolves when it is on its way up again. Who was killed comes back by itself or is started anew. */
  async kill(victim: Victim): Promise<void> {
    switch (victim) {
      case 'agent':
        await this.node.kill9();
        await this.node.startAgent();
        return;
      case 'containerd':
        // supervised: it is started again
        process.kill(this.containerdPid, 'SIGKILL');
        return;
      case 'apiServer':
        await this.plane.part('kube-apiserver').kill();
        await this.plane.startApiServer();
        return;
      case 'worker':
        await utimes(join(this.dir, 'end-workers'), new Date(), new Date());
    }
  }

  /** Waits until the agent serves. */
  async healthy(): Promise<boolean> {
    const { address, ports } = this.node;
    for (const host of ['127.0.0.1', address]) {
      const reply = await fetch(`http://${host}:${ports.healthzPort}/healthz`, {
        signal: AbortSignal.timeout(2_000),
      }).catch(() => null);
      if (reply?.ok === true) return true;
    }
    return false;
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

  async stop(): Promise<void> {
    try {
      await this.node.stop();
    } finally {
      await this.plane.stop();
      await rm(this.dir, { recursive: true, force: true });
    }
  }

  private get containerdPid(): number {
    return (this.node.containerd as TestContainerd).containerd.pid;
  }
}
