import { readFileSync, statSync } from 'node:fs';

/** Content of a small file, read again when it has changed; looked at no more often than `everyMs`. */
export class WatchedFile {
  readonly path: string;
  private readonly everyMs: number;
  private readonly now: () => number;
  private lookedAt = -Infinity;
  private mark = '';
  private text = '';

  constructor(path: string, everyMs: number, now: () => number) {
    this.path = path;
    this.everyMs = everyMs;
    this.now = now;
  }

  /** The content; throws the file system's error. `force` looks at once. */
  read(force = false): string {
    const at = this.now();
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
