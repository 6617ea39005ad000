import { parseManifest } from '../../../actors/pods/sources/parse-manifest.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { Change, PodPlan } from '../draw/plan.ts';
import type { Edges } from './edges.ts';
import { NODE_NAME, STATIC_ORIGIN } from './node-settings.ts';

/** What people and controllers want now: the files of static pods, and pods in the API server. */
export class Workload {
  /** Plans of pods by key. */
  readonly plans: ReadonlyMap<string, PodPlan>;
  /** UIDs that each planned pod has had, newest last; a static pod's are told by whoever reads its file. */
  readonly uids = new Map<string, string[]>();
  /** Keys of the pods whose creation came to pass. */
  readonly born = new Set<string>();
  /** Pods that somebody has deleted, or whose file was taken away. */
  readonly deleted = new Set<string>();
  /** UIDs of pods of the API that somebody deleted without grace: their objects go at once. */
  readonly forced = new Set<string>();
  /** Pods that were touched in a way that makes more than one end possible. */
  readonly disturbed = new Set<string>();
  private readonly manifests = new Map<string, string>();
  private readonly edges: Edges;
  private readonly onFiles: () => void;
  private readonly onObjects: (uid: string) => void;

  /** `onFiles`: static pods' files have changed; `onObjects`: what volumes of that pod show has. */
  constructor(
    plans: readonly PodPlan[],
    edges: Edges,
    { onFiles, onObjects }: { onFiles: () => void; onObjects: (uid: string) => void },
  ) {
    this.plans = new Map(plans.map((plan) => [plan.key, plan]));
    this.edges = edges;
    this.onFiles = onFiles;
    this.onObjects = onObjects;
  }

  /** Manifests of all static pods, as their files have them now. */
  get files(): string[] {
    return [...this.manifests.values()];
  }

  /** Keys of the static pods that have a file. */
  get staticKeys(): string[] {
    return [...this.manifests.keys()];
  }

  /** Somebody creates the pod, if its name is free. */
  create(plan: PodPlan): void {
    const { key, source, namespace, name, spec } = plan;
    const { api, time } = this.edges;
    time.busy();
    if (source === 'file') {
      // Two files must not name the same pod: kubelet leaves out the second one, which is not what is tried here.
      const taken = this.staticKeys.some((other) => this.plans.get(other)?.name === name);
      if (taken) return;
      this.born.add(key);
      this.write(key, manifest(plan));
      return;
    }
    if (api.get(namespace, name) !== undefined) return;
    this.born.add(key);
    const uid = `${key}-${(this.uids.get(key)?.length ?? 0) + 1}`;
    this.uids.set(key, [...(this.uids.get(key) ?? []), uid]);
    api.put({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace,
        uid,
        labels: { app: name },
        ...(plan.finalizers && { finalizers: plan.finalizers }),
      },
      spec: { ...spec, nodeName: NODE_NAME },
      status: { phase: 'Pending', qosClass: plan.qos ?? (wantsAll(spec) ? 'Guaranteed' : 'BestEffort') },
    } as unknown as Pod);
  }

  /** Carries out a change, if there is still something to change. */
  change(change: Change): void {
    const plan = this.plans.get(change.pod);
    if (plan === undefined || !this.born.has(plan.key)) return;
    this.edges.time.busy();
    if (change.do === 'refresh') this.onObjects(this.uidOf(plan.key) ?? '');
    else if (plan.source === 'file') this.changeFile(change, plan);
    else this.changeObject(change, plan);
  }

  /** UIDs of a pod's lives, static ones as the runtime and the host know them. */
  uidOf(key: string): string | undefined {
    return this.uids.get(key)?.at(-1);
  }

  /** The planned pod of a UID. */
  planOf(uid: string): PodPlan | undefined {
    for (const [key, uids] of this.uids) if (uids.includes(uid)) return this.plans.get(key);
    return undefined;
  }

  private changeFile(change: Change, plan: PodPlan): void {
    const text = this.manifests.get(plan.key);
    if (change.do === 'restore') {
      const taken = this.staticKeys.some((other) => this.plans.get(other)?.name === plan.name);
      if (text !== undefined || taken) return;
      this.deleted.delete(plan.key);
      // Kubelet, too, does not take back what a mirror pod says of containers that may not start again.
      if (plan.spec.restartPolicy !== 'Always') this.disturbed.add(plan.key);
      this.edges.tell({ f: 'change', what: 'restore', uid: this.uidOf(plan.key) ?? '', container: '' });
      this.write(plan.key, manifest(plan));
      return;
    }
    if (text === undefined) return;
    if (change.do === 'delete') {
      this.deleted.add(plan.key);
      this.manifests.delete(plan.key);
      this.onFiles();
    } else if (change.do === 'image' || change.do === 'label' || change.do === 'volume') {
      const pod = JSON.parse(text) as Pod;
      edit(pod, change, this.edges.time.now);
      this.disturbed.add(plan.key);
      // Another manifest is another pod.
      this.write(plan.key, JSON.stringify(pod));
    } else this.befall(change, plan);
  }

  private changeObject(change: Change, plan: PodPlan): void {
    const { api } = this.edges;
    const { namespace, name, key } = plan;
    const found = api.get(namespace, name);
    if (found === undefined || found.metadata?.uid !== this.uidOf(key)) return;
    switch (change.do) {
      case 'delete': {
        // A grace period is only ever shortened (the API server's BeforeDelete).
        const asked = change.grace ?? plan.spec.terminationGracePeriodSeconds ?? 30;
        if (asked >= (found.metadata?.deletionGracePeriodSeconds ?? Infinity)) break;
        this.deleted.add(key);
        if (asked === 0) this.forced.add(found.metadata?.uid ?? '');
        api.ask({
          verb: 'delete',
          namespace,
          name,
          body: change.grace === null ? {} : { gracePeriodSeconds: change.grace },
        });
        if ((plan.finalizers ?? []).length > 0)
          this.edges.time.after(30_000, this.edges.api.owner, () => this.takeFinalizers(plan), false);
        break;
      }
      case 'image':
      case 'label':
      case 'deadline':
      case 'resize': {
        const pod = structuredClone(found);
        if (change.do === 'deadline' && pod.spec?.activeDeadlineSeconds !== undefined) break;
        edit(pod, change, this.edges.time.now);
        this.disturbed.add(key);
        api.put(pod);
        break;
      }
      default:
        this.befall(change, plan);
    }
  }

  private write(key: string, text: string): void {
    this.manifests.set(key, text);
    const uid = parseManifest(text, STATIC_ORIGIN).pods[0]?.metadata?.uid;
    const before = this.uids.get(key) ?? [];
    if (uid !== undefined) this.uids.set(key, [...before.filter((other) => other !== uid), uid]);
    this.onFiles();
  }

  private befall(change: Change, { key }: PodPlan): void {
    const uid = this.uidOf(key);
    if (uid === undefined) return;
    const { runtime } = this.edges;
    if (change.do === 'kill') {
      if (!runtime.kill(uid, change.container, change.code, change.reason)) return;
      this.disturbed.add(key);
      this.edges.tell({ f: 'change', what: change.do, uid, container: change.container });
    }
    if (change.do === 'kill-sandbox' || change.do === 'remove-sandbox') {
      this.disturbed.add(key);
      this.edges.tell({ f: 'change', what: change.do, uid, container: '' });
      if (change.do === 'kill-sandbox') runtime.killSandbox(uid);
      else runtime.removeSandbox(uid);
    }
  }

  /** Another controller takes its finalizer off, once the agent has said its last word (grace period 0). */
  private takeFinalizers(plan: PodPlan): void {
    const { namespace, name, key } = plan;
    const { api, time } = this.edges;
    const metadata = api.get(namespace, name)?.metadata;
    if (metadata === undefined || metadata.uid !== this.uidOf(key)) return;
    if (metadata.deletionGracePeriodSeconds !== 0) {
      time.after(30_000, api.owner, () => this.takeFinalizers(plan), false);
      return;
    }
    const headers = { 'content-type': 'application/merge-patch+json' };
    api.ask({ verb: 'patch', namespace, name, headers, body: { metadata: { finalizers: null } } });
  }
}

function edit(pod: Pod, change: Change, at: number): void {
  const { metadata, spec } = pod;
  if (change.do === 'image') {
    const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
    const container = all.find(({ name }) => name === change.container);
    if (container !== undefined) container.image = change.image;
  }
  if (change.do === 'label' && metadata !== undefined) metadata.labels = { ...metadata.labels, changed: String(at) };
  if (change.do === 'resize') {
    const container = spec?.containers.find(({ name }) => name === change.container);
    if (container?.resources?.requests !== undefined)
      container.resources = { ...container.resources, requests: { ...container.resources.requests, cpu: change.cpu } };
  }
  if (change.do === 'volume' && spec !== undefined)
    spec.volumes = spec.volumes?.map((volume) =>
      volume.name !== 'data'
        ? volume
        : {
            name: 'data',
            ...(change.odd ? { gitRepo: { repository: 'https://nowhere/odd' } } : { emptyDir: {} }),
          },
    );
  if (change.do === 'deadline' && spec !== undefined) spec.activeDeadlineSeconds = change.seconds;
}

function manifest({ namespace, name, uid, spec }: PodPlan): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ...(uid !== undefined && { uid }) },
    // A static pod may name no objects of the API.
    spec: { ...spec, volumes: spec.volumes?.filter((volume) => volume.configMap === undefined) },
  });
}

/** Of nodes that give CPUs away: drawn pods have no limits elsewhere. */
function wantsAll(spec: PodPlan['spec']): boolean {
  return [...(spec.initContainers ?? []), ...spec.containers].every(
    ({ resources }) => resources?.limits?.['cpu'] !== undefined,
  );
}
