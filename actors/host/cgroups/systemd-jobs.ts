/** What a connection that was lost fails with; the library's own code. */
class Lost extends Error {
  readonly code = 'ECONNCLOSED';
}

/** One call whose answer names a job. */
export interface JobWait {
  /**
   * The result that the job ends with (`done`, `failed`, `canceled` ...).
   * Rejects after `timeoutMs`, and with code ECONNCLOSED when the connection is lost.
   */
  of(path: string, timeoutMs: number): Promise<string>;
  /** Nobody waits any more. */
  forget(): void;
}

/**
 * Jobs of systemd that end, by the signals of one connection. The end of a job may be told before the answer that names it has been
 * taken: while any call is under way, ends of unknown jobs are remembered.
 */
export class SystemdJobs {
  private readonly waits = new Map<string, PromiseWithResolvers<string>>();
  private readonly early = new Map<string, string>();
  private calls = 0;

  /** Before the call is made. */
  begin(): JobWait {
    this.calls++;
    let mine: string | undefined;
    return {
      of: async (path, timeoutMs) => {
        mine = path;
        const known = this.early.get(path);
        if (known !== undefined) return known;
        const wait = Promise.withResolvers<string>();
        this.waits.set(path, wait);
        const timer = setTimeout(() => wait.reject(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
        try {
          return await wait.promise;
        } finally {
          clearTimeout(timer);
        }
      },
      forget: () => {
        if (mine !== undefined) this.waits.delete(mine);
        if (--this.calls === 0) this.early.clear();
      },
    };
  }

  /** The signal JobRemoved: number, path, unit and result of a job. */
  removed([, path, , result]: readonly unknown[]): void {
    const wait = this.waits.get(String(path));
    if (wait !== undefined) wait.resolve(String(result));
    else if (this.calls > 0) this.early.set(String(path), String(result));
  }

  /** Nothing will be told any more. */
  lost(): void {
    for (const wait of this.waits.values()) wait.reject(new Lost('the connection to systemd was closed'));
  }
}
