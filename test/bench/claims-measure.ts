import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterNode } from '../cluster/support/cluster-node.ts';
import type { ControlPlane } from '../cluster/support/control-plane.ts';
import { startAttacher } from '../cluster/support/csi-attacher.ts';
import { waitFor } from '../tools/wait-for.ts';
import { boundClaims, startDriver } from './claim-drivers.ts';
import type { BenchDriver } from './claim-drivers.ts';
import { AuditCounter, perPod } from './cluster-audit.ts';
import type { CallCounts } from './cluster-audit.ts';
import { usageOfTree } from './cluster-usage.ts';
import { now, quantiles, ratio } from './figures.ts';
import { WatchedPods } from './watched-pods.ts';

/** How much is measured; 0 leaves a part out. */
export interface ClaimsWish {
  /** Pods one by one: with no claim, with one, with ten. */
  sequential: number;
  /** Pods at once: with no claim, then with one each. */
  burst: number;
  /** Pods one by one whose claim is attached first. */
  attached: number;
  /** Turns with a call that hangs, and as many without. */
  hangRounds: number;
  /** Call of the driver's node service that hangs. */
  hang: string;
}

/** Pods one by one. */
export interface Row {
  createToReadyMs: ReturnType<typeof quantiles>;
  deleteToGoneMs: ReturnType<typeof quantiles>;
  cpuMsPerPodLife: number;
  callsPerPodLife: { all: number; by: CallCounts };
}

/** What a call of another driver's that hangs does to pods, p50 of create to Ready, ms. */
export interface HangEffect {
  besideMs: number;
  withoutMs: number;
  /** beside / without */
  ratio: number;
}

/** Pods at once. */
export interface Burst {
  allReadyMs: number;
  allGoneMs: number;
  /** From the first deletion until nothing of the volumes is staged. */
  allUnstagedMs: number;
  createToReadyMs: Row['createToReadyMs'];
  cpuMsPerPodLife: number;
}

/** Figures of one agent. */
export interface ClaimsFigures {
  plain: Row;
  oneClaim: Row;
  tenClaims: Row;
  attachedClaim: Row | null;
  plainAtOnce: Burst;
  atOnce: Burst;
  hang: { plain: HangEffect; claimOfOther: HangEffect } | null;
}

const MANY = 10;
/** After the pod whose call hangs has come to its place: its own start is not what is measured. */
const SETTLE_MS = 500;
const PODS_A_TURN = 4;

/** Runs the bench on a node whose agent is started here; the caller stops the node. */
export async function measureClaims(plane: ControlPlane, node: ClusterNode, wish: ClaimsWish): Promise<ClaimsFigures> {
  await node.startAgent();
  await node.waitReady();
  const bench = new ClaimsBench(plane, node);
  try {
    return await bench.run(wish);
  } finally {
    await bench.end();
  }
}

class ClaimsBench {
  private readonly plane: ControlPlane;
  private readonly node: ClusterNode;
  private readonly pods: WatchedPods;
  private readonly audit: AuditCounter;
  private readonly ends: (() => Promise<unknown>)[] = [];
  private named = 0;

  constructor(plane: ControlPlane, node: ClusterNode) {
    this.plane = plane;
    this.node = node;
    this.pods = new WatchedPods(plane.api, node.name);
    this.audit = new AuditCounter(plane.auditLog, `system:node:${node.name}`);
  }

  async end(): Promise<void> {
    this.pods.stop();
    for (const end of this.ends.toReversed()) await end();
  }

  async run(wish: ClaimsWish): Promise<ClaimsFigures> {
    const { sequential, burst, attached, hangRounds, hang } = wish;
    const driver = await this.driver('claims.bench.example.com');
    // What is made once is paid by nobody who is measured.
    for (const claims of [0, 1, MANY]) await this.row(driver, 1, claims);
    const plain = await this.row(driver, sequential, 0);
    const oneClaim = await this.row(driver, sequential, 1);
    const tenClaims = await this.row(driver, sequential, MANY);
    const plainAtOnce = await this.atOnce(driver, burst, 0);
    const atOnce = await this.atOnce(driver, burst, 1);
    return {
      ...{ plain, oneClaim, tenClaims, plainAtOnce, atOnce },
      hang: hangRounds === 0 ? null : await this.besideHang(driver, hangRounds, hang),
      attachedClaim: attached === 0 ? null : await this.attachedRow(attached),
    };
  }

  private async driver(name: string, attaches = false): Promise<BenchDriver> {
    const driver = await startDriver(this.plane, this.node, name, attaches);
    this.ends.push(() => driver.stop());
    return driver;
  }

  /** Names that nobody has; they are those of pods, and with a number those of their claims. */
  private names(count: number): string[] {
    return Array.from({ length: count }, () => `${this.node.name}-${++this.named}`);
  }

  private async claimed(driver: BenchDriver, pods: readonly string[], each: number): Promise<Map<string, string[]>> {
    const claims = pods.map((pod) => Array.from({ length: each }, (_, i) => `${pod}-${i}`));
    await boundClaims(this.plane, driver.name, claims.flat());
    return new Map(pods.map((pod, i) => [pod, claims[i] ?? []]));
  }

  /** A pod's life; resolves when nothing of its volumes is left, so that the next one's is not beside that. */
  private async life(driver: BenchDriver, pod: string, claims: readonly string[]): Promise<void> {
    await this.pods.live(pod, claims);
    await this.unstaged(driver);
  }

  private async unstaged(driver: BenchDriver): Promise<void> {
    const folder = join(this.node.agentRoot, 'plugins/kubernetes.io/csi', driver.name);
    await waitFor('nothing staged', async () =>
      (await readdir(folder).catch(() => [])).length === 0 ? true : undefined,
    );
  }

  private async row(driver: BenchDriver, count: number, each: number): Promise<Row> {
    const names = this.names(count);
    const claims = await this.claimed(driver, names, each);
    await sleep(1_000);
    this.audit.mark();
    const cpu = usageOfTree(this.node.agent.pid).cpuMs;
    for (const pod of names) await this.life(driver, pod, claims.get(pod) ?? []);
    await sleep(2_000); // events come late
    const cpuMs = usageOfTree(this.node.agent.pid).cpuMs - cpu;
    return {
      createToReadyMs: this.toReady(names),
      deleteToGoneMs: quantiles(this.times(names).map((t) => (t.gone ?? NaN) - (t.deleted ?? NaN))),
      cpuMsPerPodLife: Math.round(cpuMs / count),
      callsPerPodLife: perPod(this.audit.take(), count),
    };
  }

  private async attachedRow(count: number): Promise<Row> {
    const driver = await this.driver('attached.bench.example.com', true);
    const attacher = await startAttacher(this.plane, driver.socket);
    this.ends.push(() => attacher.kill());
    await this.row(driver, 1, 1);
    return this.row(driver, count, 1);
  }

  private async atOnce(driver: BenchDriver, count: number, each: number): Promise<Burst> {
    const names = this.names(count);
    const claims = await this.claimed(driver, names, each);
    await sleep(1_000);
    const cpu = usageOfTree(this.node.agent.pid).cpuMs;
    const up = now();
    await Promise.all(names.map((name) => this.pods.create(name, claims.get(name))));
    await this.pods.until(names, 'ready');
    const allReadyMs = Math.round(now() - up);
    await sleep(3_000);
    const down = now();
    await Promise.all(names.map((name) => this.pods.remove(name)));
    await this.pods.until(names, 'gone');
    const allGoneMs = Math.round(now() - down);
    await this.unstaged(driver);
    const allUnstagedMs = Math.round(now() - down);
    const cpuMs = usageOfTree(this.node.agent.pid).cpuMs - cpu;
    const cpuMsPerPodLife = Math.round(cpuMs / count);
    return { allReadyMs, allGoneMs, allUnstagedMs, createToReadyMs: this.toReady(names), cpuMsPerPodLife };
  }

  /** Pods beside one whose call hangs, and beside one without trouble, in turn. */
  private async besideHang(driver: BenchDriver, rounds: number, method: string): Promise<ClaimsFigures['hang']> {
    const hung = await this.driver('hung.bench.example.com');
    const seen = { plain: { beside: [], without: [] }, claim: { beside: [], without: [] } } as Record<
      'plain' | 'claim',
      Record<'beside' | 'without', string[]>
    >;
    const turn = async (how: 'beside' | 'without'): Promise<void> => {
      const [stuck = ''] = this.names(1);
      const claims = await this.claimed(hung, [stuck], 1);
      const before = hung.did().filter((each) => each === method).length;
      if (how === 'beside') await hung.faults({ [method]: { hang: true } });
      await this.pods.create(stuck, claims.get(stuck));
      if (how === 'without') await this.pods.until([stuck], 'ready');
      else await waitFor('the call', () => hung.did().filter((each) => each === method).length > before || undefined);
      const plain = this.names(PODS_A_TURN);
      const others = this.names(PODS_A_TURN);
      const theirs = await this.claimed(driver, others, 1);
      await sleep(SETTLE_MS);
      for (const pod of plain) await this.life(driver, pod, []);
      for (const pod of others) await this.life(driver, pod, theirs.get(pod) ?? []);
      seen.plain[how].push(...plain);
      seen.claim[how].push(...others);
      await hung.faults({});
      await this.pods.until([stuck], 'ready');
      await this.pods.remove(stuck);
      await this.pods.until([stuck], 'gone');
    };
    for (let i = 0; i < rounds; i++)
      for (const how of i % 2 === 0 ? (['without', 'beside'] as const) : (['beside', 'without'] as const))
        await turn(how);
    const effect = (kind: 'plain' | 'claim'): HangEffect => {
      const [besideMs, withoutMs] = (['beside', 'without'] as const).map(
        (how) => this.toReady(seen[kind][how]).p50,
      ) as [number, number];
      return { besideMs, withoutMs, ratio: ratio(besideMs, withoutMs) };
    };
    return { plain: effect('plain'), claimOfOther: effect('claim') };
  }

  private times(names: readonly string[]) {
    return names.flatMap((name) => this.pods.times.get(name) ?? []);
  }

  private toReady(names: readonly string[]): Row['createToReadyMs'] {
    return quantiles(this.times(names).map((t) => (t.ready ?? NaN) - t.created));
  }
}
