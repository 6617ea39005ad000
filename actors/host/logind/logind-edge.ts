/** Who hears of logind. */
export interface LogindHearer {
  /** The machine is about to go down; false: it is not any more. */
  onPrepare: (active: boolean) => void;
  /** The connection is gone without having been closed: nothing more is heard. */
  onLost: (why: string) => void;
}

/** A connection to logind. Its methods reject when logind refuses or does not answer. */
export interface LogindSession {
  /** For so long logind holds a shutdown up at most (InhibitDelayMaxUSec), ms. */
  delayMs(): Promise<number>;
  /** A shutdown is under way. */
  preparing(): Promise<boolean>;
  /** Has logind hold a shutdown up for so long; resolves with what it then does. */
  raiseDelay(ms: number): Promise<number>;
  close(): void;
}

/** A delay inhibitor lock that is held. */
export interface InhibitorLock {
  /** Gives it back. Resolves when logind can have noticed. */
  release(): Promise<void>;
}

/** The way to logind (org.freedesktop.login1). */
export interface LogindEdge {
  /** Connects and listens. */
  open(hearer: LogindHearer): Promise<LogindSession>;
  /** Takes the lock; `onLost`: it is gone without having been given back. */
  inhibit(onLost: (why: string) => void): Promise<InhibitorLock>;
}
