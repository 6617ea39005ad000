import type { RequestSeen } from '../../cluster/api/create-api-client.ts';
import type { NodeFleet } from './node-fleet.ts';

/** What the nodes of a process are doing. */
export interface FleetFigures {
  /** Ready as their own objects in the API say; `down`: no agent runs. */
  nodes: { all: number; ready: number; notReady: number; unregistered: number; down: number };
  /** By phase as the agents last told it; `ready` of those that run. */
  pods: { all: number; ready: number } & Record<string, number>;
  /** Pods that came to run in a second, over the last 10 s. */
  startsPerSecond: number;
  /** Requests a second over the last 10 s, and all so far. */
  apiPerSecond: number;
  apiRequests: number;
  /** Answers of 4xx and 5xx but 404, 409 and 410, and requests without an answer. */
  apiErrors: number;
  /** Lists and watches that the nodes share. */
  sharedWatches: number;
  /** How much later than it should this thread gets to its work, ms: the worst of the last second. */
  lagMs: number;
  memoryMiB: number;
  /** Of this process, of one core, over the last second. */
  cpuPercent: number;
  loggedErrors: number;
  lastError: string;
}

const WINDOW = 10;
const EXPECTED: ReadonlySet<string> = new Set(['404', '409', '410']);

/** Counts what happens in a fleet, for whoever shows it. */
export class FleetReport {
  private fleet: NodeFleet | null = null;
  private requests = 0;
  private errors = 0;
  private logged_ = 0;
  private lastError = '';
  private readonly perSecond: number[] = [];
  private readonly started: number[] = [];
  private readonly running = new Set<string>();
  private startsNow = 0;
  private lastRequests = 0;
  private cpu = process.cpuUsage();
  private beatAt = performance.now();
  private lag = 0;
  private timer: NodeJS.Timeout | undefined;

  /** Begins to look at these nodes. */
  watch(fleet: NodeFleet): void {
    this.fleet = fleet;
    this.timer = setInterval(() => this.beat(), 100).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** A request to the API server has ended. */
  request({ code }: RequestSeen): void {
    this.requests++;
    if (code.startsWith('2') || EXPECTED.has(code)) return;
    this.errors++;
  }

  /** A line of the log of the agents. */
  logged(line: string): void {
    if (!line.startsWith('{"level":50') && !line.startsWith('{"level":60')) return;
    this.logged_++;
    this.lastError = line.slice(0, 2000);
  }

  /** How it stands now; to be asked each second. */
  figures(): FleetFigures {
    const nodes = { all: 0, ready: 0, notReady: 0, unregistered: 0, down: 0 };
    const pods: FleetFigures['pods'] = { all: 0, ready: 0 };
    this.startsNow = 0;
    const present = new Set<string>();
    for (const { parts } of this.fleet?.nodes ?? []) {
      nodes.all++;
      if (parts === null) {
        nodes.down++;
        continue;
      }
      const object = parts.cluster?.node.node() ?? null;
      const ready = object?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
      if (object === null) nodes.unregistered++;
      else if (ready === 'True') nodes.ready++;
      else nodes.notReady++;
      for (const pod of parts.store.list()) {
        pods.all++;
        const phase = pod.status?.phase ?? 'Pending';
        pods[phase] = (pods[phase] ?? 0) + 1;
        if (phase !== 'Running') continue;
        if (pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true)
          pods.ready++;
        const uid = pod.metadata?.uid ?? '';
        present.add(uid);
        if (!this.running.has(uid)) this.startsNow++;
      }
    }
    this.running.clear();
    for (const uid of present) this.running.add(uid);
    push(this.started, this.startsNow);
    push(this.perSecond, this.requests - this.lastRequests);
    this.lastRequests = this.requests;
    const used = process.cpuUsage(this.cpu);
    this.cpu = process.cpuUsage();
    const { lag } = this;
    this.lag = 0;
    return {
      ...{ nodes, pods },
      startsPerSecond: mean(this.started),
      apiPerSecond: mean(this.perSecond),
      apiRequests: this.requests,
      apiErrors: this.errors,
      sharedWatches: this.fleet?.shared.size ?? 0,
      lagMs: Math.round(lag),
      memoryMiB: Math.round(process.memoryUsage.rss() / 2 ** 20),
      cpuPercent: Math.round((used.user + used.system) / 10_000),
      loggedErrors: this.logged_,
      lastError: this.lastError,
    };
  }

  private beat(): void {
    const now = performance.now();
    this.lag = Math.max(this.lag, now - this.beatAt - 100);
    this.beatAt = now;
  }
}

function push(window: number[], value: number): void {
  window.push(value);
  if (window.length > WINDOW) window.shift();
}

function mean(values: readonly number[]): number {
  return Math.round((values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)) * 10) / 10;
}
