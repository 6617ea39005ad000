import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { nanosToMs } from './nano-clock.ts';

/** Longest line in one entry; longer ones are cut into parts marked `P` (containerd's maxContainerLogLineSize). */
const LONGEST_LINE = 16_384;
/** Files held open. A file is kept open so that a renamed log goes on being written until it is reopened. */
const MOST_OPEN = 256;

/** Writes container logs in the CRI format: `<RFC 3339 with nanoseconds> <stdout|stderr> <P|F> <text>`. */
export class LogWriter {
  /** File descriptors by path, longest unused first. */
  readonly #open = new Map<string, number>();
  /** Writes that failed, for whoever wonders where the lines are. */
  failures = 0;

  /** Opens, and so creates, the file (and its folder). Throws what the file system says. */
  create(path: string): void {
    mkdirSync(dirname(path), { recursive: true });
    this.#descriptor(path);
  }

  /** One entry per line of `text`, or one whose newline is missing (`partial`); what cannot be written is counted and dropped, as a container would not notice. */
  write(path: string, at: string, stream: 'stdout' | 'stderr', text: string, partial = false): void {
    let entries = '';
    for (const line of text.replace(/\n$/, '').split('\n')) entries += formatLine(at, stream, line, partial);
    try {
      writeSync(this.#descriptor(path), entries);
    } catch {
      this.failures++;
    }
  }

  /** Lets go of the file; the next write opens the path anew. */
  close(path: string): void {
    const descriptor = this.#open.get(path);
    if (descriptor === undefined) return;
    this.#open.delete(path);
    closeSync(descriptor);
  }

  closeAll(): void {
    for (const path of [...this.#open.keys()]) this.close(path);
  }

  #descriptor(path: string): number {
    let descriptor = this.#open.get(path);
    if (descriptor === undefined) descriptor = openSync(path, 'a', 0o640);
    else this.#open.delete(path);
    this.#open.set(path, descriptor);
    if (this.#open.size > MOST_OPEN) {
      for (const oldest of this.#open.keys()) {
        this.close(oldest);
        break;
      }
    }
    return descriptor;
  }
}

/** A line's entries, each with its newline. `at`: ns since the epoch. */
function formatLine(at: string, stream: 'stdout' | 'stderr', line: string, partial = false): string {
  const seconds = new Date(nanosToMs(at)).toISOString().slice(0, 19);
  const head = `${seconds}.${at.slice(-9)}Z ${stream}`;
  let out = '';
  let rest = line;
  while (rest.length > LONGEST_LINE) {
    out += `${head} P ${rest.slice(0, LONGEST_LINE)}\n`;
    rest = rest.slice(LONGEST_LINE);
  }
  return `${out}${head} ${partial ? 'P' : 'F'} ${rest}\n`;
}
