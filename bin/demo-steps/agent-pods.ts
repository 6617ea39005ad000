/** One pod as the agent's read-only `/pods` endpoint reports it, cut to what the demo looks at. */
export interface SeenPod {
  name: string;
  uid: string;
  phase: string;
  podIP: string;
  /** Regular containers. */
  containers: SeenContainer[];
  initContainers: SeenContainer[];
}

/** One `containerStatuses[]` entry. */
export interface SeenContainer {
  name: string;
  ready: boolean;
  restartCount: number;
  /** `Running`, or the reason the container waits or ended for: `Completed`, `ErrImagePull` ... */
  state: string;
  exitCode: number | null;
}

/** The pods the agent knows; null when the endpoint does not answer (yet). */
export async function seenPods(readOnly: string): Promise<SeenPod[] | null> {
  try {
    const reply = await fetch(`${readOnly}/pods`, { signal: AbortSignal.timeout(2_000) });
    if (!reply.ok) return null;
    return list(field(await reply.json(), 'items')).map(readPod);
  } catch {
    return null;
  }
}

/** True when all is as the demo wants it: phase Running, every container ready. */
export function isUp(pod: SeenPod, containers: number): boolean {
  return pod.phase === 'Running' && pod.containers.length === containers && pod.containers.every((c) => c.ready);
}

function readPod(pod: unknown): SeenPod {
  const metadata = field(pod, 'metadata');
  const status = field(pod, 'status');
  return {
    name: text(field(metadata, 'name')),
    uid: text(field(metadata, 'uid')),
    phase: text(field(status, 'phase')),
    podIP: text(field(status, 'podIP')),
    containers: list(field(status, 'containerStatuses')).map(readContainer),
    initContainers: list(field(status, 'initContainerStatuses')).map(readContainer),
  };
}

function readContainer(container: unknown): SeenContainer {
  const state = field(container, 'state');
  const terminated = field(state, 'terminated');
  const exitCode = field(terminated, 'exitCode');
  const restarts = field(container, 'restartCount');
  const reason = text(field(terminated, 'reason')) || text(field(field(state, 'waiting'), 'reason'));
  return {
    name: text(field(container, 'name')),
    ready: field(container, 'ready') === true,
    restartCount: typeof restarts === 'number' ? restarts : 0,
    state: field(state, 'running') !== undefined ? 'Running' : reason,
    exitCode: typeof exitCode === 'number' ? exitCode : terminated === undefined ? null : 0,
  };
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
