import { mkdir, open, readFile, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../../machines/values/message-of.ts';
import { podDir } from '../files/pod-paths.ts';
import type { IdRange } from './id-blocks.ts';
import { IdBlocks } from './id-blocks.ts';

/** What the allocation is made from. */
export interface UserNamespacesOptions {
  rootDir: string;
  /** Gate `UserNamespacesSupport`. */
  enabled: boolean;
  range: IdRange;
  /** `userNamespaces.idsPerPod`, 65536 by default. */
  idsPerPod: number;
  maxPods: number;
  /** Whether each of the runtime's handlers can make user namespaces; null: the runtime does not tell of its handlers. */
  handlers: () => Promise<ReadonlyMap<string, boolean> | null>;
}

/**
 * Ids of pods with `hostUsers: false` (KEP-127): each gets a block of the node's ids, which is kept in the pod's folder, so
 * that a restarted agent gives nobody the same. One for the node: it works on the main thread, workers ask it.
 */
export class UserNamespaces {
  private readonly options: UserNamespacesOptions;
  private readonly blocks: IdBlocks;
  /** Requests are served one after the other: two for one pod must not take two blocks. */
  private last: Promise<unknown> = Promise.resolve();

  private constructor(options: UserNamespacesOptions) {
    this.options = options;
    this.blocks = new IdBlocks(options.range, options.idsPerPod, options.maxPods);
  }

  /** Reads what pods hold from before. Rejects with kubelet's texts. */
  static async open(options: UserNamespacesOptions): Promise<UserNamespaces> {
    const made = new UserNamespaces(options);
    const uids = await readdir(join(options.rootDir, 'pods')).catch(() => []);
    for (const uid of uids) await made.recordFile(uid);
    return made;
  }

  /**
   * The pod's block, made when it has none. `handler` is that of its RuntimeClass, '' for the default one; null: not
   * looked at, for the pod has a sandbox already. Rejects with kubelet's texts, code `EUSERNS`.
   */
  get(podUid: string, handler: string | null): Promise<{ hostId: number; length: number }> {
    const served = this.last.then(() => this.serve(podUid, handler));
    this.last = served.catch(() => undefined);
    return served.catch((error: unknown) => {
      const text = messageOf(error);
      throw Object.assign(new Error(text, { cause: error }), { code: 'EUSERNS' });
    });
  }

  /** The pod is gone, and its folder with it. */
  release(podUid: string): void {
    this.blocks.release(podUid);
  }

  private async serve(podUid: string, handler: string | null): Promise<{ hostId: number; length: number }> {
    if (!this.options.enabled)
      throw new Error(`the feature gate "UserNamespacesSupport" is disabled: can't set spec.HostUsers`);
    if (handler !== null) await this.checkHandler(handler);
    const known = await this.recordFile(podUid);
    if (known !== null) return known;
    if (this.blocks.of(podUid) === undefined) await this.dropOrphans();
    const hostId = this.blocks.of(podUid) ?? this.blocks.allocate(podUid);
    try {
      await this.write(podUid, mappingsText(hostId, this.blocks.blockLength));
    } catch (error) {
      this.blocks.release(podUid);
      throw new Error(`create user namespace: ${messageOf(error)}`, {
        cause: error,
      });
    }
    return { hostId, length: this.blocks.blockLength };
  }

  private async checkHandler(handler: string): Promise<void> {
    const refused =
      handler === ''
        ? "can't set `spec.hostUsers: false`, runtime does not support user namespaces"
        : `can't set \`spec.hostUsers: false\`, RuntimeClass handler "${handler}" does not support user namespaces`;
    const handlers = await this.options.handlers();
    if (handlers === null) throw new Error(refused);
    const supports = handlers.get(handler);
    if (supports === undefined) throw new Error(`${refused}: the handler "${handler}" is not known`);
    if (!supports) throw new Error(refused);
  }

  private async recordFile(podUid: string): Promise<{ hostId: number; length: number } | null> {
    const text = await readFile(join(podDir(this.options.rootDir, podUid), MAPPINGS_FILE), 'utf8').catch(() => '');
    if (text === '') return null;
    const found = parseMappings(text);
    this.blocks.record(podUid, found.hostId, found.length);
    return found;
  }

  /** Pods that were removed behind our back (housekeeping of a pod that no source ever named) keep no block. */
  private async dropOrphans(): Promise<void> {
    const there = new Set(await readdir(join(this.options.rootDir, 'pods')).catch(() => []));
    for (const uid of [...this.blocks.holders()]) if (!there.has(uid)) this.blocks.release(uid);
  }

  /** Whole or not at all, and there after a power cut: a block must never be given away twice. */
  private async write(podUid: string, text: string): Promise<void> {
    const dir = podDir(this.options.rootDir, podUid);
    await mkdir(dir, { recursive: true, mode: 0o750 });
    const partial = join(dir, `.${MAPPINGS_FILE}.tmp`);
    const file = await open(partial, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, join(dir, MAPPINGS_FILE));
    const folder = await open(dir, 'r');
    await folder.sync().finally(() => folder.close());
  }
}

/** Name of the file in a pod's folder that keeps its id mappings, as kubelet writes it. */
const MAPPINGS_FILE = 'userns';

const mapping = z.object({ hostId: z.number().int(), containerId: z.number().int(), length: z.number().int() });
const file = z.object({ uidMappings: z.array(mapping), gidMappings: z.array(mapping) });

/** The file's text for one block of ids, the same for users and groups. */
export function mappingsText(hostId: number, length: number): string {
  const mappings = [{ hostId, containerId: 0, length }];
  return JSON.stringify({ uidMappings: mappings, gidMappings: mappings });
}

/** The block that a file names. Throws Errors with kubelet's texts for what kubelet would not have written. */
export function parseMappings(text: string): { hostId: number; length: number } {
  let content: z.infer<typeof file>;
  try {
    content = file.parse(JSON.parse(text));
  } catch (error) {
    throw new Error(`invalid user namespace mappings file: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const [uids] = content.uidMappings;
  const [gids] = content.gidMappings;
  const invalid = 'invalid user namespace configuration:';
  if (uids === undefined || content.uidMappings.length !== 1)
    throw new Error(`${invalid} no more than one mapping allowed.`);
  if (gids === undefined || content.gidMappings.length !== 1)
    throw new Error(`${invalid} GID and UID mappings should be identical.`);
  if (uids.hostId !== gids.hostId || uids.containerId !== gids.containerId || uids.length !== gids.length)
    throw new Error(`${invalid} GID and UID mapping should be identical`);
  if (uids.containerId !== 0) throw new Error(`${invalid} UID 0 must be mapped`);
  return { hostId: uids.hostId, length: uids.length };
}
