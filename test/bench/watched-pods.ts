import type { AdminApi } from '../cluster/support/admin-api.ts';
import type { Pod } from '../cluster/support/api-objects.ts';
import { PAUSE_IMAGE } from '../../cri/private-containerd/own-images.ts';
import { now } from './figures.ts';

const PODS = '/api/v1/namespaces/default/pods';

/** When a pod was seen in which state, ms since the epoch. */
export interface PodTimes {
  created: number;
  ready?: number;
  deleted?: number;
  gone?: number;
}

/** Pods of one node, seen by a watch as any client of the API sees them. */
export class WatchedPods {
  readonly times = new Map<string, PodTimes>();
  private readonly api: AdminApi;
  private readonly node: string;
  private readonly stopWatch: () => void;
  /** Those who wait for something of a pod. */
  private waiters: (() => void)[] = [];

  constructor(api: AdminApi, node: string) {
    this.api = api;
    this.node = node;
    const path = `${PODS}?labelSelector=bench%3D${node}`;
    this.stopWatch = api.watch<Pod>(path, ({ type, object }) => this.see(type, object)).stop;
  }

  /** @param claims names of claims that its container has, each at a path of its own */
  async create(name: string, claims: readonly string[] = []): Promise<void> {
    const volumeMounts = claims.map((claim, i) => ({ name: claim, mountPath: `/data/${i}` }));
    const volumes = claims.map((claim) => ({ name: claim, persistentVolumeClaim: { claimName: claim } }));
    this.times.set(name, { created: now() });
    await this.api.post(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { bench: this.node } },
      spec: {
        nodeName: this.node,
        terminationGracePeriodSeconds: 1,
        automountServiceAccountToken: false,
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'c', image: PAUSE_IMAGE, imagePullPolicy: 'IfNotPresent', volumeMounts }],
        volumes,
      },
    });
  }

  async remove(name: string): Promise<void> {
    const times = this.times.get(name);
    if (times !== undefined) times.deleted = now();
    await this.api.delete(`${PODS}/${name}`);
  }

  /** Waits until all these pods have been seen so. */
  async until(names: readonly string[], what: 'ready' | 'gone'): Promise<void> {
    const late = now() + 240_000;
    while (!names.every((name) => this.times.get(name)?.[what] !== undefined)) {
      if (now() > late) throw new Error(`not all of ${names.length} pods were ${what} within 240 s`);
      await new Promise<void>((resolve) => {
        this.waiters.push(resolve);
        setTimeout(resolve, 1_000).unref();
      });
    }
  }

  /** A whole life: made, Ready, deleted, gone. */
  async live(name: string, claims: readonly string[] = []): Promise<void> {
    await this.create(name, claims);
    await this.until([name], 'ready');
    await this.remove(name);
    await this.until([name], 'gone');
  }

  stop(): void {
    this.stopWatch();
  }

  private see(type: string, pod: Pod): void {
    const times = this.times.get(pod.metadata?.name ?? '');
    if (times === undefined) return;
    if (type === 'DELETED') times.gone ??= now();
    else if (pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True')) times.ready ??= now();
    for (const wake of this.waiters.splice(0)) wake();
  }
}
