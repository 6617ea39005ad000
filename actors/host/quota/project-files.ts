/** A line of `/etc/projects` (`id:path`) or `/etc/projid` (`name:id`), as it stands there; `id` null: a comment, or none of ours to read. */
export interface ProjectLine {
  text: string;
  id: number | null;
  /** The folder, or the project's name. */
  of: string;
}

/** Both files (projects(5), projid(5)). */
export interface ProjectLists {
  projects: ProjectLine[];
  projid: ProjectLine[];
}

/** The first id that is given to a volume (kubelet's FirstQuota). */
export const FIRST_PROJECT = 1_048_577;
/** Ids in use on the file system that nobody wrote down: after so many it is given up (kubelet's maxUnusedQuotasToSearch). */
const MOST_IN_USE = 128;

/** Reads both files' texts. */
export function parseProjectLists(projects: string, projid: string): ProjectLists {
  return { projects: linesOf(projects).map(projectLine), projid: linesOf(projid).map(projidLine) };
}

/** The text of a file. */
export function projectText(lines: readonly ProjectLine[]): string {
  return lines.map(({ text }) => `${text}\n`).join('');
}

/**
 * Writes a folder down under an id: its own, when it has one, else the first that neither file nor file system uses.
 * @throws Error in kubelet's words when there is none
 */
export async function withFolder(
  { projects, projid }: ProjectLists,
  path: string,
  isInUse: (id: number) => Promise<boolean>,
): Promise<{ lists: ProjectLists; id: number }> {
  const own = projects.find(({ of, id }) => of === path && id !== null);
  if (own?.id != null) return { lists: { projects, projid }, id: own.id };
  const taken = new Set([...projects, ...projid].map(({ id }) => id));
  let tried = 0;
  for (let id = FIRST_PROJECT; ; id++) {
    if (taken.has(id)) continue;
    if (await isInUse(id)) {
      if (++tried > MOST_IN_USE) throw new Error('cannot find available quota ID');
      continue;
    }
    const [name, line] = [`volume${id}`, `${id}:${path}`];
    return {
      lists: {
        projects: [...projects, { text: line, id, of: path }],
        projid: [...projid, { text: `${name}:${id}`, id, of: name }],
      },
      id,
    };
  }
}

/** Without a folder; its project goes with the last folder of it. */
export function withoutFolder({ projects, projid }: ProjectLists, path: string): ProjectLists {
  const gone = projects.find(({ of, id }) => of === path && id !== null);
  if (gone === undefined) return { projects, projid };
  const left = projects.filter((each) => each !== gone);
  const needed = left.some(({ id }) => id === gone.id);
  return { projects: left, projid: needed ? projid : projid.filter(({ id }) => id !== gone.id) };
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function projectLine(text: string): ProjectLine {
  const colon = text.indexOf(':');
  return { text, id: numberOf(text.slice(0, Math.max(0, colon))), of: colon < 0 ? '' : text.slice(colon + 1) };
}

function projidLine(text: string): ProjectLine {
  const colon = text.indexOf(':');
  const named = colon > 0 && !text.startsWith('#');
  return { text, id: named ? numberOf(text.slice(colon + 1)) : null, of: named ? text.slice(0, colon) : '' };
}

function numberOf(text: string): number | null {
  return /^\d{1,10}$/.test(text) ? Number(text) : null;
}
