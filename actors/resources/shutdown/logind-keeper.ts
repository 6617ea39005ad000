import { messageOf } from '../../../machines/values/message-of.ts';
import type { InhibitorLock, LogindEdge, LogindSession } from '../../host/logind/logind-edge.ts';

/** What is told of logind. */
export interface LogindNews {
  /** logind answers; `preparing`: a shutdown is under way already. */
  connected: (delayMs: number, preparing: boolean) => void;
  raised: (delayMs: number) => void;
  locked: () => void;
  failed: (what: 'connect' | 'raise' | 'lock', error: string) => void;
  lost: (what: 'connection' | 'lock', why: string) => void;
  /** PrepareForShutdown. */
  prepare: (active: boolean) => void;
}

/** Keeps one connection to logind and one lock. Nothing is told after {@link close}, nor of what was replaced. */
export class LogindKeeper {
  private readonly logind: LogindEdge;
  private readonly news: LogindNews;
  private session: LogindSession | null = null;
  private held: InhibitorLock | null = null;
  /** Raised by each wish for a lock and each release: what an older one brings is given back. */
  private wish = 0;
  private closed = false;

  constructor(logind: LogindEdge, news: LogindNews) {
    this.logind = logind;
    this.news = news;
  }

  async connect(): Promise<void> {
    this.session?.close();
    this.session = null;
    try {
      const session: LogindSession = await this.logind.open({
        onPrepare: (active) => this.tell(() => this.news.prepare(active)),
        onLost: (why) => {
          // One that was lost while it was asked has failed there.
          if (this.session !== session) return;
          this.session = null;
          this.tell(() => this.news.lost('connection', why));
        },
      });
      const [delayMs, preparing] = await Promise.all([session.delayMs(), session.preparing()]).catch(
        (error: unknown) => {
          session.close();
          throw error;
        },
      );
      if (this.closed) session.close();
      else this.session = session;
      this.tell(() => this.news.connected(delayMs, preparing));
    } catch (error) {
      this.tell(() => this.news.failed('connect', messageOf(error)));
    }
  }

  async raise(ms: number): Promise<void> {
    try {
      if (this.session === null) throw new Error('there is no connection');
      const delayMs = await this.session.raiseDelay(ms);
      this.tell(() => this.news.raised(delayMs));
    } catch (error) {
      this.tell(() => this.news.failed('raise', messageOf(error)));
    }
  }

  /** Takes a lock; the one that is held is given back when the other is there. */
  async lock(): Promise<void> {
    const mine = ++this.wish;
    try {
      let gone = false;
      const lock = await this.logind.inhibit((why) => {
        gone = true;
        if (this.wish !== mine) return;
        this.held = null;
        this.tell(() => this.news.lost('lock', why));
      });
      if (this.wish !== mine || this.closed) {
        await lock.release();
        return;
      }
      const before = this.held;
      if (!gone) this.held = lock;
      this.tell(() => this.news.locked());
      await before?.release();
    } catch (error) {
      if (this.wish === mine) this.tell(() => this.news.failed('lock', messageOf(error)));
    }
  }

  /** Gives the lock back, and one that is still on its way. */
  async release(): Promise<void> {
    this.wish++;
    const lock = this.held;
    this.held = null;
    await lock?.release();
  }

  async close(): Promise<void> {
    this.closed = true;
    this.session?.close();
    this.session = null;
    await this.release();
  }

  private tell(news: () => void): void {
    if (!this.closed) news();
  }
}
