import { closeSync, constants, fstatSync, openSync, statSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Looks at the file this often when no event came, ms (`logForceCheckPeriod`). */
const LOOK_MS = 1000;
/** New files that wait for a slow client to take the older ones (`containerLogMaxFiles`); each holds space on the disk. */
const MOST_WAITING = 5;

/**
 * Watches the folder of a log file while it is followed: tells when something happened, and opens each new file that
 * takes the place of the old one at once, so that no rotation is missed however slowly the client reads.
 */
export class LogWatch {
  readonly #path: string;
  readonly #name: string;
  readonly #watcher: FSWatcher | undefined;
  readonly #timer: NodeJS.Timeout;
  /** Open descriptors of new files, oldest first. */
  readonly #waiting: number[] = [];
  /** Which file was opened last. */
  #newest: string;
  #size = -1n;
  #happened = false;
  #wake: (() => void) | undefined;

  /** @param fd the file that is being read */
  constructor(path: string, fd: number) {
    this.#path = path;
    this.#name = basename(path);
    this.#newest = identity(fstatSync(fd, { bigint: true }));
    try {
      this.#watcher = watch(dirname(path), { persistent: false }, (kind, name) => {
        // `rename` is said of made, moved and removed files; a mere write needs no look at the folder. It may be one
        // into the file that was renamed and that the runtime still has open, so its name says nothing.
        if (kind === 'rename' && (name === null || name === this.#name)) this.look();
        this.poke();
      });
      this.#watcher.on('error', () => {});
    } catch {
      // Out of inotify watches, or the folder is gone: looking each second goes on.
    }
    this.#timer = setInterval(() => {
      if (this.look()) this.poke();
    }, LOOK_MS);
    this.#timer.unref();
    this.look();
  }

  /** Has another file taken the place of the one that is read? */
  get rotated(): boolean {
    return this.#waiting.length > 0;
  }

  /** The next file, which the caller closes; only when {@link rotated}. */
  next(): number | undefined {
    return this.#waiting.shift();
  }

  /** Ends {@link changed} now or, when nobody waits, the next time. */
  poke(): void {
    this.#happened = true;
    this.#wake?.();
  }

  /** Resolves when the file may have changed since the last call, at the latest after a second. */
  async changed(): Promise<void> {
    if (!this.#happened)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    this.#wake = undefined;
    this.#happened = false;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#watcher?.close();
    for (const fd of this.#waiting.splice(0)) closeSync(fd);
    this.poke();
  }

  /** Opens the file if it is another one now. True when it, or its size, is not what it was at the last look. */
  look(): boolean {
    try {
      const stat = statSync(this.#path, { bigint: true });
      const grown = stat.size !== this.#size;
      this.#size = stat.size;
      if (identity(stat) === this.#newest) return grown;
      // A pod that may write to the folder of logs can put anything there; only a file is a log, and nothing may hold up the thread.
      if (!stat.isFile()) return grown;
      const fd = openSync(this.#path, constants.O_RDONLY | constants.O_NONBLOCK);
      const opened = fstatSync(fd, { bigint: true });
      const found = identity(opened);
      if (found === this.#newest || !opened.isFile()) {
        closeSync(fd);
        return true;
      }
      this.#newest = found;
      this.#waiting.push(fd);
      if (this.#waiting.length > MOST_WAITING) closeSync(this.#waiting.shift() ?? fd);
      return true;
    } catch {
      // Renamed, and the new file is not there yet; the old one may still grow.
      return true;
    }
  }
}

function identity({ dev, ino }: { dev: bigint; ino: bigint }): string {
  return `${dev}:${ino}`;
}
