import type { ValidationGates } from '../../../machines/pod-validation/environment.ts';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { sourceErrors } from '../../../machines/errors/source-errors.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ManifestFile } from './manifest-file.ts';
import { PathWatch } from './path-watch.ts';
import { FolderEvents, wasPutBack } from './put-back.ts';
import { errnoOf, identityOf } from './read-file.ts';
import { withoutEnd } from '../../../machines/values/trim.ts';

/** What a {@link FileSource} needs. */
export interface FileSourceOptions {
  /** `staticPodPath`: a folder of manifests, or one manifest. */
  path: string;
  nodeName: string;
  /** Of the node, where they are not as by default. */
  gates?: ValidationGates | undefined;
  /** `fileCheckFrequency` in ms: how often everything is looked at again. */
  checkFrequencyMs: number;
  log: Logger;
  /** All pods of the path, in the order of their files; only when they changed, and once at the start. `places`: their files by UID. */
  onPods: (pods: Pod[], places: Record<string, string>) => void;
  /** All present errors, after each look at the path. */
  onErrors: (errors: ActorletError[]) => void;
}

/** Events of one save come in a burst: wait for this silence (ms) before reading ... */
const SETTLE_MS = 8;
/** ... but no longer than this. */
const SETTLE_MAX_MS = 100;
/** Editors save by moving the old file away and the new one in: what is gone is looked for once more after this (ms). */
const GONE_GRACE_MS = 40;
/** Fields without effect that are not told again, and names that manifests once had. */
const MOST_REMEMBERED = 10_000;
/** How often a path that cannot be watched (it or its parent does not exist) is looked for (ms). */
const RETRY_MS = 1000;

/** Source `file`: static pods from manifests on disk, watched and polled (features B1). */
export class FileSource {
  #options: FileSourceOptions;
  #path: string;
  #watch: PathWatch;
  #files = new Map<string, ManifestFile>();
  #dirty = new Set<string>();
  #events = new FolderEvents();
  /** Names under which there was a manifest once. */
  #names = new Set<string>();
  #everything = true;
  #burstStart = 0;
  #settle: NodeJS.Timeout | undefined;
  #poll: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #emitted: Pod[] | undefined;
  #stopped = false;
  #abort = new AbortController();
  #unwatchable = false;
  #unknownLogged = new Set<string>();

  constructor(options: FileSourceOptions) {
    this.#options = options;
    this.#path = withoutEnd(options.path, '/') || options.path.slice(0, 1);
    this.#watch = new PathWatch(
      this.#path,
      (name) => this.#changed(name),
      (name) => this.#events.push(name),
    );
  }

  start(): void {
    this.#options.log.info({ path: this.#path }, 'Watching path');
    this.#run();
    this.#poll = setInterval(() => {
      this.#everything = true;
      this.#run();
    }, this.#options.checkFrequencyMs);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#abort.abort();
    this.#watch.close();
    clearInterval(this.#poll);
    clearTimeout(this.#settle);
    clearTimeout(this.#retry);
    await this.#running;
    this.#watch.close();
  }

  #changed(name: string | null): void {
    if (this.#stopped || name?.startsWith('.')) return;
    if (name === null) this.#everything = true;
    else this.#dirty.add(name);
    const at = performance.now();
    if (this.#settle) clearTimeout(this.#settle);
    else this.#burstStart = at;
    const wait = Math.max(0, Math.min(SETTLE_MS, this.#burstStart + SETTLE_MAX_MS - at));
    this.#settle = setTimeout(() => {
      this.#settle = undefined;
      this.#run();
    }, wait);
  }

  /** One look at a time; what changes meanwhile is looked at right after. */
  #run(): void {
    if (this.#running || this.#stopped) return;
    this.#running = this.#looks().finally(() => {
      this.#running = undefined;
      if (!this.#settle && (this.#everything || this.#dirty.size > 0)) this.#run();
    });
  }

  async #looks(): Promise<void> {
    const everything = this.#everything;
    const dirty = this.#dirty;
    this.#everything = false;
    this.#dirty = new Set();
    try {
      const errors = await this.#look(everything, dirty);
      if (this.#stopped) return;
      this.#options.onErrors([...errors, ...this.#sorted().flatMap((file) => file.errors)]);
    } catch (error) {
      if (this.#stopped) return;
      // Nothing was learned, so nothing is removed; the next poll tries again.
      const problem = errnoOf(error) || messageOf(error);
      const place = this.#path;
      this.#options.onErrors([new ActorletError(sourceErrors.unreadableFile, { place, problem }, { cause: error })]);
    }
    if (!this.#watch.complete && !this.#stopped) this.#retryLater();
  }

  #retryLater(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.#everything = true;
      this.#run();
    }, RETRY_MS);
  }

  /** Brings the files in line with the disk and hands on their pods. Gives the errors that belong to no file. */
  async #look(everything: boolean, dirty: ReadonlySet<string>): Promise<ActorletError[]> {
    const found = (await this.#stat()) ?? (await this.#statAgain());
    if (this.#stopped) return [];
    const isNew = this.#align(found?.isDirectory() ? `${found.dev}/${found.ino}/${found.birthtimeMs}` : '');
    if (!found) {
      this.#files.clear();
      this.#emit();
      return [new ActorletError(sourceErrors.pathMissing, { place: this.#path })];
    }
    if (!found.isDirectory() && !found.isFile())
      return [new ActorletError(sourceErrors.badPath, { place: this.#path })];
    const all = everything || isNew || found.isFile();
    const listed = all ? await this.#list(found.isDirectory()) : undefined;
    const paths = listed ?? [...dirty].map((name) => join(this.#path, name));
    const gone: string[] = listed ? [...this.#files.keys()].filter((path) => !listed.includes(path)) : [];
    const { back, away } = await this.#putBack(paths);
    for (const path of paths)
      if (away.includes(path) || (!back.includes(path) && !(await this.#refresh(path, dirty)))) gone.push(path);
    back.push(...(await this.#forget(gone)));
    await this.#beginAnew(back, dirty);
    const at = performance.now();
    if (all) for (const file of this.#files.values()) file.expire(at, this.#options.checkFrequencyMs);
    if (!this.#stopped) this.#emit();
    return [];
  }

  async #stat() {
    try {
      return await stat(this.#path);
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** A folder that is being replaced is missing for a moment only. */
  async #statAgain() {
    if (this.#files.size === 0) return undefined;
    await pause(GONE_GRACE_MS);
    return this.#stat();
  }

  #align(folderId: string): boolean {
    try {
      return this.#watch.align(folderId);
    } catch (error) {
      if (!this.#unwatchable)
        this.#options.log.warn({ path: this.#path, err: error }, 'Unable to watch path; it is polled');
      this.#unwatchable = true;
      return false;
    }
  }

  async #list(isFolder: boolean): Promise<string[]> {
    if (!isFolder) return [this.#path];
    const names = await readdir(this.#path);
    return names.filter((name) => !name.startsWith('.')).map((name) => join(this.#path, name));
  }

  /** Of those of these files that came or went since they were last looked at: which were put back, and which are not there. */
  async #putBack(paths: readonly string[]): Promise<{ back: string[]; away: string[] }> {
    const seen: { file: ManifestFile; now: string }[] = [];
    for (const path of paths) {
      const file = this.#files.get(path);
      if (file === undefined || this.#events.positions(basename(path), file.eventsFrom).length === 0) continue;
      seen.push({ file, now: await identityOf(path) });
    }
    // A file may be back before its event is read.
    if (seen.length > 0) await eventsRead();
    const { next } = this.#events;
    const back: string[] = [];
    for (const { file, now } of seen) {
      const { path, identity: before, eventsFrom: from } = file;
      const manifests = this.#names;
      const [folder, name] = [dirname(path), basename(path)];
      if (await wasPutBack({ folder, name, events: this.#events, from, before, now, manifests })) back.push(path);
      // What is away may come back; only then is it known how it went.
      if (now !== '') file.eventsFrom = next;
    }
    return { back, away: seen.flatMap(({ file, now }) => (now === '' ? [file.path] : [])) };
  }

  async #refresh(path: string, dirty: ReadonlySet<string>): Promise<boolean> {
    const known = this.#files.get(path);
    const file = known ?? new ManifestFile(path, this.#options.nodeName, this.#options.gates);
    const named = path === this.#path || dirty.has(path.slice(this.#path.length + 1));
    const there = await file.refresh(named, performance.now(), this.#abort.signal);
    if (!there) return !this.#files.has(path);
    this.#files.set(path, file);
    if (known === undefined) {
      // Its coming may be told after it was found.
      await eventsRead();
      file.eventsFrom = this.#events.next;
    }
    if (this.#names.size >= MOST_REMEMBERED) this.#names.clear();
    this.#names.add(basename(path));
    this.#warnOfUnknownFields(file);
    return true;
  }

  /** Lets go of files that stay away. Gives those that were put back, other than by an editor that saves. */
  async #forget(gone: readonly string[]): Promise<string[]> {
    if (gone.length === 0) return [];
    await pause(GONE_GRACE_MS);
    const { back, away } = await this.#putBack(gone);
    for (const path of gone) {
      if (back.includes(path)) continue;
      const there = !away.includes(path) && this.#files.get(path)?.refresh(true, performance.now(), this.#abort.signal);
      if (!(await there)) this.#files.delete(path);
    }
    return back;
  }

  /** Pods of files that were removed and put back go, and come anew. */
  async #beginAnew(back: readonly string[], dirty: ReadonlySet<string>): Promise<void> {
    if (back.length === 0 || this.#stopped) return;
    for (const path of back) this.#files.delete(path);
    this.#emit();
    for (const path of back) await this.#refresh(path, dirty);
  }

  #warnOfUnknownFields(file: ManifestFile): void {
    for (const field of file.unknownFields) {
      const key = `${file.path} ${field}`;
      if (this.#unknownLogged.has(key)) continue;
      if (this.#unknownLogged.size >= MOST_REMEMBERED) this.#unknownLogged.clear();
      this.#unknownLogged.add(key);
      this.#options.log.warn({ path: file.path, field }, 'Unknown field in manifest has no effect');
    }
  }

  #sorted(): ManifestFile[] {
    return [...this.#files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  #emit(): void {
    const pods = this.#sorted().flatMap((file) => file.pods);
    const last = this.#emitted;
    if (last && last.length === pods.length && last.every((pod, index) => pod === pods[index])) return;
    this.#emitted = pods;
    const places = this.#sorted().flatMap((file) =>
      file.pods.map((pod) => [pod.metadata?.uid ?? '', file.path] as const),
    );
    this.#options.onPods(pods, Object.fromEntries(places));
  }
}

/** What the kernel told of files until now has been heard: the event loop has asked for it. */
async function eventsRead(): Promise<void> {
  await new Promise(setImmediate);
  await new Promise(setImmediate);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
