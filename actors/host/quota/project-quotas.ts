import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import { messageOf } from '../../../machines/values/message-of.ts';
import { withFolder, withoutFolder } from './project-files.ts';
import type { ProjectLists } from './project-files.ts';
import { changeProjects, readProjects } from './project-store.ts';
import type { ProjectPaths } from './project-store.ts';
import { quotaCommands } from './quota-commands.ts';
import type { QuotaCommands } from './quota-commands.ts';

/** What quotas are made from. */
export interface ProjectQuotasOptions {
  log: Logger;
  /** Folder of all pods of this node: what is written down of folders in it that are gone belongs to nobody. */
  podsDir: string;
  paths?: ProjectPaths;
  commands?: QuotaCommands;
}

/** A folder that has a project: on which file system, and its id. */
interface Given {
  root: string;
  id: number;
}

/**
 * Projects of volumes, by which the file system itself counts what they take (kubelet's pkg/volume/util/fsquota, gate
 * LocalStorageCapacityIsolationFSQuotaMonitoring). What nobody counts so is walked: nothing fails for want of quotas. Only volumes
 * of pods in a user namespace of their own are given one, since others may change the project of their files.
 */
export class ProjectQuotas {
  private readonly log: Logger;
  private readonly podsDir: string;
  private readonly paths: ProjectPaths;
  private readonly commands: QuotaCommands;
  /** By folder; null: known to have none. */
  private readonly given = new Map<string, Given | null>();
  /** One thing at a time: an id is free until it is written down. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor({ log, podsDir, paths, commands }: ProjectQuotasOptions) {
    this.log = log;
    this.podsDir = podsDir;
    this.paths = paths ?? { projects: '/etc/projects', projid: '/etc/projid' };
    this.commands = commands ?? quotaCommands;
  }

  /** Has what the folder takes counted from now on, if its file system can. Never rejects. @param bytes its limit; 0: none */
  assign(folder: string, bytes: number): Promise<void> {
    return this.inTurn(async () => {
      if (this.given.get(folder) != null) return;
      const root = await this.commands.counting(folder);
      if (root === null) return;
      let id = 0;
      let before = true;
      await changeProjects(this.paths, async (all) => {
        const lists = this.withoutGone(all, folder);
        const made = await withFolder(lists, folder, async (each) => {
          const { bytes: used, inodes } = await this.commands.use(root, each);
          return used > 0 || inodes > 0;
        });
        id = made.id;
        before = made.lists.projects === lists.projects;
        return made.lists;
      });
      try {
        await this.commands.give(root, folder, id, bytes > 0);
      } catch (error) {
        if (!before) await this.forget(folder);
        throw error;
      }
      this.given.set(folder, { root, id });
    }, `Set quota on ${folder} failed`);
  }

  /** Gives back the projects of all folders below this one. Never rejects. */
  release(below: string): Promise<void> {
    return this.inTurn(async () => {
      const isBelow = (path: string): boolean => path.startsWith(`${below}/`);
      for (const path of this.given.keys()) if (isBelow(path)) this.given.delete(path);
      const { projects } = await readProjects(this.paths);
      for (const { of: folder, id } of projects) {
        if (id === null || !isBelow(folder)) continue;
        // A folder that is gone has nothing that could be counted.
        const root = await this.commands.counting(folder).catch(() => null);
        if (root !== null)
          await this.commands
            .clear(root, id)
            .catch((error: unknown) => this.tell(`Failed to clear quota on ${folder}`, error));
        await this.forget(folder);
      }
    }, `Failed to clear quotas below ${below}`);
  }

  /** What the folder takes, as its file system counts it; null when that does not. Never rejects. */
  async use(folder: string): Promise<{ bytes: number; inodes: number } | null> {
    try {
      const given = this.given.get(folder) ?? (this.given.has(folder) ? null : await this.find(folder));
      return given === null ? null : await this.commands.use(given.root, given.id);
    } catch (error) {
      this.tell(`Quota of ${folder} cannot be read`, error);
      return null;
    }
  }

  /** What an earlier agent has given it; kubelet forgets that when it ends. */
  private async find(folder: string): Promise<Given | null> {
    const { projects } = await readProjects(this.paths);
    const id = projects.find(({ of }) => of === folder)?.id ?? null;
    // It may be about to be given one.
    if (id === null) return null;
    const root = await this.commands.counting(folder);
    const found = root === null ? null : { root, id };
    this.given.set(folder, found);
    return found;
  }

  /** Without folders of pods that an earlier agent did not come to give back. */
  private withoutGone(lists: ProjectLists, but: string): ProjectLists {
    const gone = lists.projects.filter(
      ({ id, of }) => id !== null && of !== but && of.startsWith(`${this.podsDir}/`) && !existsSync(of),
    );
    return gone.reduce((left, { of }) => withoutFolder(left, of), lists);
  }

  private forget(folder: string): Promise<void> {
    return changeProjects(this.paths, (lists) => Promise.resolve(withoutFolder(lists, folder)));
  }

  private inTurn(work: () => Promise<void>, failed: string): Promise<void> {
    const done = this.turn.then(work).catch((error: unknown) => this.tell(failed, error));
    this.turn = done;
    return done;
  }

  private tell(what: string, error: unknown): void {
    this.log.warn({ problem: messageOf(error) }, what);
  }
}
