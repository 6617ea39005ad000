import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { statusErrors } from '../../../machines/errors/status-errors.ts';
import { mirrorPlan } from '../../../machines/mirror-pods/mirror-plan.ts';
import type { KnownMirror, MirrorAction, StaticLife } from '../../../machines/mirror-pods/mirror-plan.ts';
import { fullName, isMirrorPod, mirrorPodOf } from '../../../machines/mirror-pods/mirror-pod.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { CONFIG_MIRROR } from '../../../machines/sources/annotations.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { ApiClient } from '../api/api-client.ts';
import { isOlder } from '../api/resource-version.ts';
import { deleteNow, isGone } from '../status/pod-requests.ts';
import { spreadBackOffMs } from '../status/server-pause.ts';

/** Least time between two creations under one name, ms: two clients that disagree must not race. */
const CREATE_MS = 1_000;
/** Back-off after a failure, ms. */
const RETRY = { firstMs: 200, maxMs: 5_000 };
/** How often is looked at what nobody tells: that the node is registered, that a static pod has ended; ms. */
const LOOK_MS = 1_000;

/** What mirror pods are kept with. */
export interface MirrorPodsOptions {
  api: ApiClient;
  nodeName: string;
  /** The node's object, null before it is registered; a node that is being deleted gets no new mirror pods. */
  node: () => { metadata?: { name?: string; uid?: string; deletionTimestamp?: string } } | null;
  log: Logger;
  /** A clock that nobody can set, ms. */
  steady: () => number;
  /** Where a static pod's machine is; by default each one runs. */
  lifeOf?: (uid: string) => StaticLife;
  /** Hears of each failed request besides the log. */
  onError?: (error: ActorletError) => void;
}

interface Known extends KnownMirror {
  resourceVersion: string;
}

interface NameState {
  inFlight: boolean;
  failures: number;
  notBefore: number;
}

/** Keeps one mirror pod in the API for each static pod (kubelet mirror client). */
export class MirrorPods {
  private readonly options: MirrorPodsOptions;
  private statics: readonly Pod[] = [];
  private complete = false;
  private readonly mirrors = new Map<string, Known>();
  private readonly names = new Map<string, NameState>();
  private readonly running = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  /** What the watch saw vanish while requests were under way: their answers must not bring it back. */
  private readonly goneMeanwhile = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private unshown = false;

  constructor(options: MirrorPodsOptions) {
    this.options = options;
  }

  /** The static pods of all sources. `complete`: each source has spoken, so mirror pods of no static pod may go. */
  setStatic(pods: readonly Pod[], complete = true): void {
    this.statics = pods;
    this.complete = complete;
    this.look();
  }

  /** All of this node's pods after a list; those that are no mirror pods are passed over. */
  setApi(pods: readonly Pod[]): void {
    const mirrors = pods.filter(isMirrorPod);
    const named = new Set(mirrors.map(({ metadata }) => metadata?.uid));
    for (const uid of [...this.mirrors.keys()]) if (!named.has(uid)) this.mirrors.delete(uid);
    for (const pod of mirrors) this.take(pod);
    this.serverBack();
  }

  /** A pod was added or changed (watch). */
  apiPod(pod: Pod): void {
    if (!isMirrorPod(pod)) return;
    this.take(pod);
    this.look();
  }

  /** A pod has vanished (watch): a mirror pod that was deleted by hand is made anew. */
  apiPodGone(uid: string): void {
    if (this.running.size > 0) this.goneMeanwhile.add(uid);
    if (this.mirrors.delete(uid)) this.look();
  }

  /** The API server answers again: nothing waits for its back-off. */
  serverBack(): void {
    for (const state of this.names.values()) if (state.failures > 0) state.notBefore = 0;
    this.look();
  }

  /** A static pod's actor told of it: where it ends, and where a new life begins under its UID, its mirror pod goes or comes. */
  reported(state: string): void {
    if (this.unshown || state.startsWith('termin')) this.look();
  }

  /** Number of mirror pods known (`kubelet_mirror_pods`). */
  get count(): number {
    return this.mirrors.size;
  }

  /** Compares what is wanted with what is there; also called when the node was registered or a static pod has ended. */
  look(): void {
    if (this.stopping.signal.aborted) return;
    clearTimeout(this.timer);
    const at = this.options.steady();
    const { actions, waits, unshown } = mirrorPlan({
      statics: this.statics,
      mirrors: [...this.mirrors.values()],
      complete: this.complete,
      lifeOf: this.options.lifeOf ?? (() => null),
    });
    this.unshown = unshown;
    let wakeAt = waits ? at + LOOK_MS : Infinity;
    for (const [name, action] of actions) {
      const state = this.names.get(name) ?? { inFlight: false, failures: 0, notBefore: 0 };
      this.names.set(name, state);
      if (state.inFlight) continue;
      // A removal is never late because of a creation just before it.
      const due = action.do === 'create' || state.failures > 0 ? state.notBefore : 0;
      if (due > at) wakeAt = Math.min(wakeAt, due);
      else if (!this.begin(name, action, state)) wakeAt = Math.min(wakeAt, at + LOOK_MS);
    }
    this.forgetNames(actions, at);
    if (wakeAt < Infinity) {
      this.timer = setTimeout(() => this.look(), wakeAt - at);
      this.timer.unref();
    }
  }

  /** Begins nothing more and ends what is under way. Mirror pods stay, as static pods do. */
  async stop(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.timer);
    await Promise.all(this.running);
  }

  private take(pod: Pod): void {
    const { uid = '', resourceVersion = '', annotations, deletionTimestamp } = pod.metadata ?? {};
    const known = this.mirrors.get(uid);
    if (known && isOlder(resourceVersion, known.resourceVersion)) return;
    const hash = annotations?.[CONFIG_MIRROR] ?? '';
    this.mirrors.set(uid, {
      uid,
      fullName: fullName(pod),
      hash,
      deleting: deletionTimestamp !== undefined,
      resourceVersion,
    });
  }

  private forgetNames(actions: ReadonlyMap<string, unknown>, at: number): void {
    for (const [name, state] of this.names) {
      if (!actions.has(name) && !state.inFlight && state.notBefore <= at) this.names.delete(name);
    }
  }

  /** False when it must wait for the node to be registered. */
  private begin(name: string, action: MirrorAction, state: NameState): boolean {
    const node = this.options.node()?.metadata;
    const uid = node?.uid ?? '';
    if (action.do === 'create' && (uid === '' || node?.deletionTimestamp !== undefined)) return false;
    state.inFlight = true;
    const task = this.carryOut(name, action, uid, state).finally(() => {
      state.inFlight = false;
      this.running.delete(task);
      if (this.running.size === 0) this.goneMeanwhile.clear();
      this.look();
    });
    this.running.add(task);
    return true;
  }

  private async carryOut(name: string, action: MirrorAction, nodeUid: string, state: NameState): Promise<void> {
    const { log, steady, onError } = this.options;
    try {
      if (action.do === 'create') {
        await this.create(action.pod, nodeUid);
        state.notBefore = steady() + CREATE_MS;
      } else await this.remove(action.mirror);
      state.failures = 0;
      log.info({ pod: name }, action.do === 'create' ? 'Created a mirror pod' : 'Deleted a mirror pod');
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      if (action.do === 'delete' && isGone(error)) {
        this.mirrors.delete(action.mirror.uid);
        return;
      }
      state.failures++;
      state.notBefore = steady() + spreadBackOffMs(state.failures, RETRY);
      const problem = messageOf(error);
      const spec = action.do === 'create' ? statusErrors.mirrorCreateFailed : statusErrors.mirrorDeleteFailed;
      const err = new ActorletError(spec, { pod: name, problem }, { cause: error });
      log.warn({ err }, action.do === 'create' ? 'Failed creating a mirror pod' : 'Failed deleting a mirror pod');
      onError?.(err);
    }
  }

  private async create(pod: Pod, nodeUid: string): Promise<void> {
    const { api, nodeName } = this.options;
    const created = await api.request<Pod>({
      method: 'POST',
      on: { group: '', version: 'v1', resource: 'pods', namespace: pod.metadata?.namespace ?? '' },
      body: mirrorPodOf(pod, { name: nodeName, uid: nodeUid }),
      signal: this.stopping.signal,
    });
    // So that it is not made again before the watch tells.
    if (isMirrorPod(created) && !this.goneMeanwhile.has(created.metadata?.uid ?? '')) this.take(created);
  }

  private async remove({ uid, fullName: place }: KnownMirror): Promise<void> {
    const [namespace = '', name = ''] = place.split('/');
    await deleteNow(this.options.api, { uid, namespace, name }, this.stopping.signal);
    this.mirrors.delete(uid);
  }
}
