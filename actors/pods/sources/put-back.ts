import { join } from 'node:path';
import { identityOf } from './read-file.ts';

/** Names that are remembered: saves of many files at once take some hundred. */
const MOST_NAMES = 4000;

/**
 * The names in a folder that came, went or were moved, in their order (what `fs.watch` calls "rename"; writing is none).
 * Positions go on counting when old ones are forgotten.
 */
export class FolderEvents {
  private names: string[] = [];
  private forgotten = 0;

  push(name: string): void {
    this.names.push(name);
    if (this.names.length < MOST_NAMES) return;
    this.forgotten += MOST_NAMES / 2;
    this.names.splice(0, MOST_NAMES / 2);
  }

  /** Position of the next one. */
  get next(): number {
    return this.forgotten + this.names.length;
  }

  /** Name at a position; '' when it is forgotten, or not there yet. */
  at(position: number): string {
    return this.names[position - this.forgotten] ?? '';
  }

  /** Positions of a name, from one position on. */
  positions(name: string, from = 0): number[] {
    const found: number[] = [];
    for (let i = Math.max(0, from - this.forgotten); i < this.names.length; i++)
      if (this.names[i] === name) found.push(this.forgotten + i);
    return found;
  }
}

/** What is known of a file that is there now, and was before. */
export interface ReplacedFile {
  folder: string;
  name: string;
  events: FolderEvents;
  /** First event that came after the file was last looked at. */
  from: number;
  /** Its identity when it was last looked at, and now; '' when it is not there. */
  before: string;
  now: string;
  /** Names under which the folder once had a manifest: none of them is a temporary file. */
  manifests: ReadonlySet<string>;
}

/**
 * Was the file removed and put back in between? Then its pods end and begin anew, as with kubelet, which takes each event
 * of the folder for itself (`sourceFile.consumeWatchEvent`): so moving a manifest out and in restarts its pod.
 *
 * Two ways to save take no pod away: another file is moved over this one, and an editor moves the old file to another name
 * while it writes the new one.
 */
export async function wasPutBack(file: ReplacedFile): Promise<boolean> {
  const { name, events, from, before, now } = file;
  const at = events.positions(name, from);
  if (at.length < 2 || now === '') return false;
  // What an editor wrote is another file; this one was moved out and in.
  if (now === before) return true;
  let went: number | null = null;
  for (const position of at) {
    if (went === null) went = movedOver(file, position) ? null : position;
    else if (!(await isBackup(file, went, position))) return true;
    else went = null;
  }
  return false;
}

/**
 * A file that was made beside it was moved over it: that one's name is told for the second time, right before. A name that
 * has not the file's in it may be of another file's save, and is believed only when it was never used before.
 */
function movedOver({ events, manifests, name }: ReplacedFile, position: number): boolean {
  const other = events.at(position - 1);
  if (other === '' || other === name || manifests.has(other)) return false;
  const times = events.positions(other).filter((p) => p < position).length;
  return other.includes(name) ? times % 2 === 0 : times === 2;
}

/**
 * The file went by being moved to another name, which is told right after, and has its own in it: an editor keeps it there
 * until the new one is written. It is still there, or was removed once the file was back.
 */
async function isBackup({ folder, name, events, before }: ReplacedFile, went: number, came: number): Promise<boolean> {
  const other = events.at(went + 1);
  if (other === name || !other.includes(name)) return false;
  const identity = await identityOf(join(folder, other));
  if (identity !== '') return identity === before;
  return (events.positions(other, went + 2)[0] ?? Infinity) > came;
}
