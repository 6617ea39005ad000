import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** What changed: a name in the watched folder, or null for the path itself. */
export type PathChange = (name: string | null) => void;

/** This name came, went or was moved in the folder that is the path, or that holds the file that is. */
export type NameChange = (name: string) => void;

/**
 * Watches a path that may be a folder or a file, may not exist yet and may be replaced: the folder that holds it is
 * watched for the path's own name, and a folder is watched itself for what is in it.
 */
export class PathWatch {
  #path: string;
  #onChange: PathChange;
  #onName: NameChange;
  #parent: FSWatcher | undefined;
  #folder: FSWatcher | undefined;
  #folderId = '';
  /** The path was created, moved or deleted: an inode number that is the same again says nothing. */
  #stale = false;

  constructor(path: string, onChange: PathChange, onName: NameChange = () => undefined) {
    this.#path = path;
    this.#onChange = onChange;
    this.#onName = onName;
  }

  /**
   * Brings the watches in line with what the path is now: `folderId` identifies the folder (device and inode), '' when
   * the path is no folder. True when the folder's watch is new, so its content must be listed. Throws what `fs.watch` throws.
   */
  align(folderId: string): boolean {
    this.#watchParent();
    if (!this.#stale && folderId === this.#folderId && (folderId === '' || this.#folder)) return false;
    this.#stale = false;
    this.#folder?.close();
    this.#folder = undefined;
    this.#folderId = '';
    if (folderId === '') return false;
    const watcher = watch(this.#path, (event, name) => {
      if (event === 'rename' && name !== null) this.#onName(name);
      this.#onChange(name);
    });
    watcher.on('error', () => {
      watcher.close();
      if (this.#folder === watcher) this.#folder = undefined;
      this.#onChange(null);
    });
    this.#folder = watcher;
    this.#folderId = folderId;
    return true;
  }

  /** Is a change of the path noticed without polling? */
  get complete(): boolean {
    return this.#parent !== undefined && (this.#folderId === '' || this.#folder !== undefined);
  }

  #watchParent(): void {
    if (this.#parent) return;
    const name = basename(this.#path);
    try {
      const watcher = watch(dirname(this.#path), (event, changed) => {
        if (event === 'rename' && changed !== null && this.#folderId === '') this.#onName(changed);
        if (changed === null || changed === name) {
          if (event === 'rename') this.#stale = true;
          this.#onChange(null);
        }
        // The parent itself was moved or deleted: its watch sees nothing more.
        else if (changed === basename(dirname(this.#path))) this.#dropParent(watcher);
      });
      watcher.on('error', () => this.#dropParent(watcher));
      this.#parent = watcher;
    } catch {
      // No parent yet, or no inotify watch left: polling goes on, and the next alignment tries again.
    }
  }

  #dropParent(watcher: FSWatcher): void {
    watcher.close();
    if (this.#parent === watcher) this.#parent = undefined;
    this.#onChange(null);
  }

  close(): void {
    this.#parent?.close();
    this.#folder?.close();
    this.#parent = undefined;
    this.#folder = undefined;
    this.#folderId = '';
  }
}
