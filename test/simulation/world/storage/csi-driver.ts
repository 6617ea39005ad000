import { CsiCallError } from '../../../../actors/resources/csi/csi-error.ts';
import type { CsiDriverPlan } from '../../draw/plan.ts';
import type { Fact } from '../facts.ts';
import type { FaultClock } from '../fault-clock.ts';
import type { Random } from '../random.ts';
import type { Owner, VirtualTime } from '../virtual-time.ts';
import type { CsiCall, CsiRequest } from './csi-request.ts';
import type { Disk } from './disk.ts';

/** What a driver is made from. */
export interface CsiDriverOptions {
  plan: CsiDriverPlan;
  time: VirtualTime;
  faults: FaultClock;
  random: Random;
  disk: Disk;
  tell: (fact: Fact) => void;
  /** The agent dies of this call, before it is made or once it was carried out. */
  mortal: (call: CsiCall) => 'before' | 'after' | null;
  die: () => void;
}

/** How long a driver that is told to be slow takes, ms. */
const SLOW_MS = 25_000;

/** What the driver does is done by its own process. */
interface Work {
  request: CsiRequest;
  over: boolean;
}

/** A CSI driver of the node: it mounts on the simulated machine, answers as its specification demands, and fails as the plan says. */
export class SimulatedDriver {
  readonly name: string;
  readonly plan: CsiDriverPlan;
  /** Its socket; null while it is away. */
  endpoint: string | null = null;
  /** What is under way in it, by volume and path. */
  private readonly underWay = new Map<string, Work>();
  private readonly options: CsiDriverOptions;
  /** What tells those that wait for an answer that none comes. */
  private readonly waiting = new Set<() => void>();
  private process: Owner;
  private lives = 0;
  private calls = 0;

  constructor(options: CsiDriverOptions) {
    this.options = options;
    this.plan = options.plan;
    this.name = options.plan.name;
    this.process = { name: `csi-${this.name}`, alive: false };
  }

  /** Its process begins, with a socket of this name. */
  start(endpoint: string): void {
    this.endpoint = endpoint;
    this.process = { name: `csi-${this.name}.${++this.lives}`, alive: true };
  }

  /** Its process dies: what was under way in it is not done, and whoever waits for it hears so. */
  die(): void {
    this.endpoint = null;
    this.process.alive = false;
    this.underWay.clear();
    for (const lost of [...this.waiting]) lost();
    this.waiting.clear();
  }

  /** A call of the agent; rejects as gRPC does. `untilMs`: its deadline, wall clock. */
  call(endpoint: string, request: CsiRequest, signal: AbortSignal | undefined, untilMs: number): Promise<void> {
    const { time, mortal, die, tell, faults } = this.options;
    const { owner } = time;
    time.busy();
    const end = mortal(request.call);
    if (end === 'before') {
      time.after(0, time.world, die, false);
      return new Promise(() => undefined);
    }
    const n = ++this.calls;
    const about = { f: 'csi' as const, driver: this.name, n, ...request };
    tell({ ...about, change: 'asked', by: owner });
    return new Promise((resolve, reject) => {
      let answered = false;
      const answer = (code: string, text = ''): void => {
        if (answered || !owner.alive) return;
        answered = true;
        time.cancel(deadline);
        this.waiting.delete(lost);
        tell({ ...about, change: 'answered', by: owner, code });
        if (code === 'OK') resolve();
        else reject(new CsiCallError(code, `rpc error: code = ${code} desc = ${text}`));
      };
      const deadline = time.after(
        Math.max(0, untilMs - time.wall()),
        owner,
        () => answer('DeadlineExceeded', 'context deadline exceeded'),
        false,
      );
      const lost = (): void =>
        void time.after(1, owner, () => answer('Unavailable', 'error reading from server: EOF'), false);
      this.waiting.add(lost);
      signal?.addEventListener('abort', () => answer('Canceled', 'context canceled'), { once: true });
      if (this.endpoint !== endpoint) {
        time.after(1, owner, () => answer('Unavailable', `connection error: dial unix ${endpoint}`), false);
        return;
      }
      const fault = faults.strikes(
        'csi',
        ({ calls, handle }) =>
          (calls.includes('*') || calls.includes(request.call)) && (handle === undefined || handle === request.handle),
      );
      const back = (code: string, text = ''): void => void time.after(1, owner, () => answer(code, text), false);
      if (fault?.how === 'fail') return void this.later(2, () => back('Internal', 'a fault of the simulation'));
      if (fault?.how === 'unsure')
        return void this.later(2, () => back('ResourceExhausted', 'a fault of the simulation'));
      const place = `${request.handle} ${request.path}`;
      const work: Work = { request, over: false };
      const begin = (): void => {
        if (this.underWay.has(place)) return back('Aborted', 'an operation with the given volume is already pending');
        this.underWay.set(place, work);
        const takes =
          fault?.how === 'hang'
            ? Math.max(1_000, fault.from + fault.for - time.now)
            : fault?.how === 'slow'
              ? SLOW_MS
              : this.options.random.between(2, 80);
        this.later(takes, () => {
          this.underWay.delete(place);
          // What hung may have been carried out in the end, or not.
          const gives = fault?.how === 'hang' && this.options.random.chance(0.5);
          const problem = gives ? 'Internal' : this.act(request, n);
          if (end === 'after') die();
          if (problem !== null) back(problem, 'simulated');
          else if (fault?.how === 'lost')
            back(this.options.random.pick(['DeadlineExceeded', 'Unavailable', 'Aborted']), 'a fault of the simulation');
          else back('OK');
        });
      };
      this.later(1, begin);
    });
  }

  /** Its process does something later, if it lives then. */
  private later(ms: number, act: () => void): void {
    this.options.time.after(ms, this.process, act, false);
  }

  /** Carries it out; answers gRPC's code for why not. */
  private act({ call, handle, path, staging, block, request }: CsiRequest, n: number): string | null {
    const { disk, tell } = this.options;
    const about = {
      f: 'csi' as const,
      change: 'acted' as const,
      driver: this.name,
      n,
      call,
      handle,
      path,
      staging,
      block,
      request,
    };
    const source = `${this.name}^${handle}`;
    const there = disk.mounts.get(path);
    switch (call) {
      case 'NodeStageVolume':
        if (!disk.entries.has(path)) return 'InvalidArgument';
        if (there === undefined) disk.mounts.set(path, source);
        break;
      case 'NodePublishVolume': {
        if (this.plan.stages && staging !== '' && disk.mounts.get(staging) !== source) return 'FailedPrecondition';
        const parent = path.slice(0, path.lastIndexOf('/'));
        if (!disk.entries.has(parent)) return 'InvalidArgument';
        if (!disk.entries.has(path)) {
          if (block) disk.write(path, '');
          else disk.mkdir(path);
        }
        if (there === undefined) disk.mounts.set(path, source);
        break;
      }
      case 'NodeUnpublishVolume':
        disk.mounts.delete(path);
        if (disk.entries.has(path)) {
          if (disk.at(path, 'rm').is === 'folder') disk.rmdir(path);
          else disk.unlink(path);
        }
        break;
      case 'NodeUnstageVolume':
        if ([...disk.mounts].some(([at, what]) => what === source && at !== path)) return 'FailedPrecondition';
        disk.mounts.delete(path);
        break;
      case 'NodeExpandVolume':
        if (there === undefined) return 'FailedPrecondition';
        break;
    }
    tell(about);
    return null;
  }
}
