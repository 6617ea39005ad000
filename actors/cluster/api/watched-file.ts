import { readFileSync, statSync } from 'node:fs';

/** Content of a small file, read again when it has changed; looked at no more often than `everyMs`. */
export class WatchedFile {
  readonly path: string;
  private readonly everyMs: number;
  private readonly steady: () => number;
  private lookedAt = -Infinity;
  private mark = '';
  private text = '';

  /** @param steady a clock that nobody can set, ms */
  constructor(path: string, everyMs: number, steady: () => number = () => performance.now()) {
    this.path = path;
    this.everyMs = everyMs;
    this.steady = steady;
  }

  /** The content; throws the file system's error. `force` looks at once. */
  read(force = false): string {
    const at = this.steady();
    if (!force && at - this.lookedAt < this.everyMs) return this.text;
    const { ino, size, mtimeMs } = statSync(this.path);
    const mark = `${String(ino)} ${String(size)} ${String(mtimeMs)}`;
    if (mark !== this.mark) {
      this.text = readFileSync(this.path, 'utf8');
      this.mark = mark;
    }
    this.lookedAt = at;
    return this.text;
  }
}
