import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import { HostFailure } from '../files/host-failure.ts';
import { mountsOnTheWay, readMounts } from '../files/mountinfo.ts';
import { Helper } from './helper.ts';
import { mayHang } from './local-types.ts';
import type { FromHelper, StrangeCall, StrangeCatalog } from './strange-calls.ts';

/** How long a call is waited for, ms; one of a request that somebody waits for, shorter. */
const GIVE_UP_MS = 15_000;
/**
 * Calls under way at most on the file system of one server, and on one of this machine, where a link may lead to such a server: all others have
 * room beside what hangs.
 */
const ON_SERVER = 4;
const ON_LOCAL = 24;
const MOST_HELPERS = 4;

interface Job {
  path: string;
  helper: Helper;
  /** Nobody waits for it any more. */
  givenUp: boolean;
  promise: Promise<unknown>;
  /** Resolves when it has come back or was given up. */
  over: Promise<void>;
  giveUp: () => void;
  settle: (answer: FromHelper) => void;
  fail: (error: Error) => void;
}

/**
 * Calls on file systems of others (hostPath, a network file system, what a container mounted), which may never answer. Made in this process
 * each would hold one of the few threads that all file calls and names of the agent share, and its end as well; so a small process makes
 * them, which is started when there is something to do. A call that does not answer in time fails, and the same call fails
 * at once until the first one has come back: what hangs is bounded by the paths that are asked for, by file system and as a whole.
 */
export class StrangeFiles {
  private readonly giveUpMs: number;
  private readonly helpers = new Set<Helper>();
  private readonly jobs = new Map<number, Job>();
  /** Calls without an answer by what they ask, so that nothing is asked twice at once. */
  private readonly asked = new Map<string, Job>();
  private waiting = 0;
  private number = 0;
  private users = 0;

  constructor(giveUpMs = GIVE_UP_MS) {
    this.giveUpMs = giveUpMs;
  }

  /** Calls that were given up and still hang. */
  get hanging(): number {
    let count = 0;
    for (const { givenUp } of this.jobs.values()) if (givenUp) count++;
    return count;
  }

  /**
   * Tells that a node of this process makes calls from now on. What comes back is called at its end, once: the last one ends the
   * helpers, also those that rest. Others, such as a worker thread's, end with who started them.
   */
  use(): () => Promise<void> {
    this.users++;
    return async () => {
      this.users--;
      if (this.users === 0) await Promise.all([...this.helpers].map((helper) => helper.end()));
    };
  }

  /**
   * Makes a call.
   *
   * @param withinMs how long it may take at most
   * @throws HostFailure with the code and text of the system's error; ActorletError HOST015 when it does not answer
   */
  async call<T extends Exclude<keyof StrangeCatalog, 'open'>>(
    call: StrangeCall<T>,
    withinMs = this.giveUpMs,
  ): Promise<StrangeCatalog[T]['result']> {
    const key = JSON.stringify(call);
    const job = await this.begun(call as StrangeCall, key);
    return (await this.await(job, withinMs)) as StrangeCatalog[T]['result'];
  }

  /**
   * Opens a `subPath` of a volume in the helper `pid`, until `close`.
   *
   * @throws as {@link call}
   */
  async open(
    path: string,
    subPath: string,
  ): Promise<{ opened: StrangeCatalog['open']['result']; pid: number; close: () => void }> {
    const job = await this.begun({ do: 'open', path, subPath }, '');
    const { helper } = job;
    const close = (opened: unknown): void => helper.close((opened as StrangeCatalog['open']['result']).fd);
    void job.promise.then(
      (opened) => {
        helper.opened++;
        // It came too late for who asked.
        if (job.givenUp) close(opened);
      },
      () => undefined,
    );
    const opened = (await this.await(job, this.giveUpMs)) as StrangeCatalog['open']['result'];
    return { opened, pid: helper.pid, close: () => close(opened) };
  }

  /**
   * The call that asks the same, or a new one as soon as one more may be made on its file system; fails when all that are under way
   * there hang.
   */
  private async begun(call: StrangeCall, key: string): Promise<Job> {
    const asked = this.asked.get(key);
    if (asked !== undefined) return asked;
    if (this.jobs.size < ON_SERVER) return this.start(call, key);
    const mounts = await readMounts();
    const of = (one: string): string => mountsOnTheWay(mounts, one).at(-1)?.mountPoint ?? '';
    const place = of(call.path);
    const most = mayHang(mounts, call.path) ? ON_SERVER : ON_LOCAL;
    for (;;) {
      const same = [...this.jobs.values()].filter((job) => of(job.path) === place);
      const meanwhile = this.asked.get(key);
      if (meanwhile !== undefined) return meanwhile;
      if (same.length < most) return this.start(call, key);
      const waiting = same.filter(({ givenUp }) => !givenUp);
      if (waiting.length === 0) throw noAnswer(call.path);
      await Promise.race(waiting.map(({ over }) => over));
    }
  }

  private start(call: StrangeCall, key: string): Job {
    let helper = [...this.helpers].find((one) => !one.full);
    if (helper === undefined) {
      if (this.helpers.size >= MOST_HELPERS) throw noAnswer(call.path);
      helper = this.launch();
    }
    const id = ++this.number;
    let settle: (value: unknown) => void = () => undefined;
    let fail: (error: Error) => void = () => undefined;
    const promise = new Promise<unknown>((resolve, reject) => {
      settle = resolve;
      fail = reject;
    });
    // It may be given up before it fails.
    promise.catch(() => undefined);
    let ended: () => void = () => undefined;
    const over = (): void => {
      ended();
      this.jobs.delete(id);
      if (this.asked.get(key) === job) this.asked.delete(key);
    };
    const job: Job = {
      path: call.path,
      helper,
      givenUp: false,
      promise,
      over: new Promise((resolve) => (ended = resolve)),
      giveUp: () => {
        job.givenUp = true;
        ended();
      },
      settle: (answer) => {
        over();
        if ('failure' in answer) fail(new HostFailure(answer.failure.code || 'EUNKNOWN', answer.failure.message));
        else settle(answer.result);
      },
      fail: (error) => {
        over();
        fail(error);
      },
    };
    this.jobs.set(id, job);
    if (key !== '') this.asked.set(key, job);
    helper.call({ id, call });
    return job;
  }

  private launch(): Helper {
    const helper: Helper = new Helper({
      answer: (answer) => this.jobs.get(answer.id)?.settle(answer),
      gone: () => {
        this.helpers.delete(helper);
        for (const job of [...this.jobs.values()]) if (job.helper === helper) job.fail(noAnswer(job.path));
      },
    });
    this.helpers.add(helper);
    return helper;
  }

  private async await(job: Job, withinMs: number): Promise<unknown> {
    if (job.givenUp) throw noAnswer(job.path);
    let late: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      late = setTimeout(() => {
        job.giveUp();
        reject(noAnswer(job.path));
      }, withinMs);
    });
    this.held(1);
    try {
      return await Promise.race([job.promise, tooLate]);
    } finally {
      this.held(-1);
      clearTimeout(late);
    }
  }

  /** While somebody waits for an answer, the helpers keep this process (or thread) up. */
  private held(change: number): void {
    this.waiting += change;
    for (const helper of this.helpers) helper.hold(this.waiting > 0);
  }
}

function noAnswer(path: string): ActorletError {
  return new ActorletError(hostErrors.noAnswer, { path });
}

/** The one of this thread. */
export const strangeFiles = new StrangeFiles();
