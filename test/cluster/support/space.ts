import { waitFor } from '../../tools/wait-for.ts';
import type { ControlPlane } from './control-plane.ts';
import type { Event, Manifest, Pod } from './api-objects.ts';

const GROUPS: Readonly<Record<string, string>> = {
  Deployment: 'apis/apps/v1',
  StatefulSet: 'apis/apps/v1',
  DaemonSet: 'apis/apps/v1',
  Job: 'apis/batch/v1',
  PodDisruptionBudget: 'apis/policy/v1',
  ResourceClaim: 'apis/resource.k8s.io/v1',
  ResourceClaimTemplate: 'apis/resource.k8s.io/v1',
};

/** A namespace of one test. */
export class Space {
  readonly name: string;
  private readonly plane: ControlPlane;
  private readonly nodesSay: () => Promise<string>;

  private constructor(plane: ControlPlane, name: string, nodesSay: () => Promise<string>) {
    this.plane = plane;
    this.name = name;
    this.nodesSay = nodesSay;
  }

  /**
   * Makes the namespace and waits for its service account, without which no pod can be made. `nodesSay` gives the words
   * of runtimes and agents for the message of a failure.
   */
  static async make(plane: ControlPlane, name: string, nodesSay = () => Promise.resolve('')): Promise<Space> {
    await plane.api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const space = new Space(plane, name, nodesSay);
    await waitFor(`the service account of ${name}`, () =>
      plane.api.find<object>(space.path('ServiceAccount', 'default')),
    );
    await waitFor(`the CA of ${name}`, () => plane.api.find<object>(space.path('ConfigMap', 'kube-root-ca.crt')));
    return space;
  }

  /** URL path of a kind, or of one object. */
  path(kind: string, name?: string, sub?: string): string {
    const base = `/${GROUPS[kind] ?? 'api/v1'}/namespaces/${this.name}/${kind.toLowerCase()}s`;
    return [base, name, sub].filter((part) => part !== undefined).join('/');
  }

  /** Creates an object in this namespace; `apiVersion` is filled in. */
  create<T = Manifest>(manifest: Manifest | Record<string, unknown>): Promise<T> {
    const kind = String(manifest['kind']);
    const apiVersion = (GROUPS[kind] ?? 'api/v1').replace(/^apis?\//, '');
    const metadata = { ...(manifest['metadata'] as object), namespace: this.name };
    return this.plane.api.post<T>(this.path(kind), { apiVersion, ...manifest, metadata });
  }

  get<T>(kind: string, name: string): Promise<T> {
    return this.plane.api.get<T>(this.path(kind, name));
  }

  patch<T>(kind: string, name: string, body: object, how?: 'merge' | 'strategic-merge'): Promise<T> {
    return this.plane.api.patch<T>(this.path(kind, name), body, how);
  }

  remove(kind: string, name: string, options: object = {}): Promise<unknown> {
    return this.plane.api.delete(this.path(kind, name), options);
  }

  pod(name: string): Promise<Pod | undefined> {
    return this.plane.api.find<Pod>(this.path('Pod', name));
  }

  pods(labels = ''): Promise<Pod[]> {
    return this.plane.api.list<Pod>(`${this.path('Pod')}?labelSelector=${encodeURIComponent(labels)}`);
  }

  /** `kubectl -n NAMESPACE`. */
  kubectl(...args: string[]): Promise<string> {
    return this.plane.kubectl.run(['-n', this.name, ...args]);
  }

  /** Waits until the object is as `fits` wants it; what `fits` throws counts as "not yet". */
  async wait<T>(
    kind: string,
    name: string,
    what: string,
    fits: (object: T) => boolean,
    patienceMs?: number,
  ): Promise<T> {
    return waitFor(
      `${kind} ${this.name}/${name}: ${what}`,
      async () => {
        const found = await this.plane.api.find<T>(this.path(kind, name));
        return found !== undefined && fits(found) ? found : undefined;
      },
      () => this.explain(),
      patienceMs,
    );
  }

  waitPod(name: string, what: string, fits: (pod: Pod) => boolean, patienceMs?: number): Promise<Pod> {
    return this.wait<Pod>('Pod', name, what, fits, patienceMs);
  }

  /** Waits until the pods with these labels are, together, as `fits` wants them. */
  async waitPods(labels: string, what: string, fits: (pods: Pod[]) => boolean, patienceMs?: number): Promise<Pod[]> {
    return waitFor(
      `pods ${this.name}/${labels}: ${what}`,
      async () => {
        const pods = await this.pods(labels);
        return fits(pods) ? pods : undefined;
      },
      () => this.explain(),
      patienceMs,
    );
  }

  /** Waits until there is no such pod; one of the same name with another UID counts as none. */
  async waitGone(pod: Pod, patienceMs?: number): Promise<void> {
    const name = pod.metadata?.name ?? '';
    await waitFor(
      `the end of pod ${this.name}/${name}`,
      async () => ((await this.pod(name))?.metadata?.uid === pod.metadata?.uid ? undefined : true),
      () => this.explain(),
      patienceMs,
    );
  }

  /** Events about an object (by name), oldest first. */
  async events(name: string): Promise<Event[]> {
    const query = `fieldSelector=${encodeURIComponent(`involvedObject.name=${name}`)}`;
    const list = await this.plane.api.list<Event>(`${this.path('Event')}?${query}`);
    return list.sort((a, b) => timeOf(a) - timeOf(b));
  }

  /** Waits for an event about an object with this reason whose message fits. */
  async waitEvent(name: string, reason: string, message = /./): Promise<Event> {
    return waitFor(
      `event ${reason} (${String(message)}) of ${this.name}/${name}`,
      async () => (await this.events(name)).find((e) => e.reason === reason && message.test(e.message ?? '')),
      () => this.explain(),
    );
  }

  private async explain(): Promise<string> {
    const pods = await this.pods().catch(() => []);
    const events = await this.plane.api.list<Event>(this.path('Event')).catch(() => []);
    return [
      ...pods.slice(0, 8).map((p) => `${p.metadata?.name ?? ''}: ${JSON.stringify(p.status)}`),
      ...events.slice(-20).map((e) => `${e.involvedObject.name ?? ''} ${e.reason ?? ''}: ${e.message ?? ''}`),
      await this.nodesSay().catch(() => ''),
    ].join('\n');
  }
}

function timeOf(event: Event): number {
  return Date.parse(String(event.eventTime ?? event.firstTimestamp ?? event.metadata.creationTimestamp ?? 0));
}
