/** One killing by the kernel for want of memory, as its log tells it (cadvisor's OomInstance). */
export interface OomReport {
  /** Cgroup of the process that was killed; `/` when the log does not say. */
  readonly container: string;
  /** Cgroup whose limit was reached; `/`: the machine's memory is all used. */
  readonly limitedBy: string;
  /** 0 when the log does not say. */
  readonly pid: number;
  /** '' when the log does not say. */
  readonly process: string;
}

/** What the lines of the log so far have come to. */
export interface OomReading {
  /** The report that is being told, over several lines; null between two. */
  readonly open: OomReport | null;
  /** The one that this line has completed; null when it has not. */
  readonly told: OomReport | null;
}

/** Begins a report. The many lines that do not begin one are told apart by this alone. */
export const OOM_BEGINS = 'invoked oom-killer:';

const NONE: OomReading = { open: null, told: null };
const BEGUN: OomReport = { container: '/', limitedBy: '/', pid: 0, process: '' };

/** Fields of the summary line of kernels from 5.0 on, in their order; a killing for the whole machine has no `oom_memcg`. */
const SUMMARY = [
  ...['oom-kill:constraint=', ',nodemask=', ',cpuset=', ',mems_allowed=', ',oom_memcg=', ',task_memcg='],
  ...[',task=', ',pid=', ',uid='],
] as const;
/** Ends of older kernels' line about the cgroup. */
const TASK_IN = 'Task in ';
const LIMIT_OF = ' killed as a result of limit of ';
const KILLED = 'Killed process ';

/**
 * Takes one line of the kernel's log (cadvisor's oomparser, whose rules these are): a report begins with one line, and ends with the
 * summary of newer kernels or with `Killed process`; what stands between them is passed over, other messages included.
 *
 * @param open the report that earlier lines have begun, or null
 */
export function readOomLine(open: OomReport | null, line: string): OomReading {
  if (open === null) return line.includes(OOM_BEGINS) ? { open: BEGUN, told: null } : NONE;
  const [summary, place] = [summaryOf(line), placeOf(line)];
  if (summary !== null && summary.pid !== null) return { open: null, told: { ...summary, pid: summary.pid } };
  const known: OomReport = {
    ...open,
    ...(summary === null ? place : { ...summary, process: open.process, pid: open.pid }),
  };
  const killed = killedIn(line);
  return killed === null ? { open: known, told: null } : { open: null, told: { ...known, ...killed } };
}

/** Is it the machine that had no memory left, and not a cgroup that reached its limit? */
export function isSystemOom({ limitedBy }: OomReport): boolean {
  return limitedBy === '/';
}

/** What kubelet's event says of it. */
export function systemOomMessage({ process, pid }: OomReport): string {
  return process === '' || pid === 0
    ? 'System OOM encountered'
    : `System OOM encountered, victim process: ${process}, pid: ${pid}`;
}

/** The fields of a summary line; a name may hold anything, so each field begins where it begins last. `pid` is null when it is no number. */
function summaryOf(line: string): (Omit<OomReport, 'pid'> & { pid: number | null }) | null {
  let end = line.length;
  const values: string[] = [];
  for (const field of SUMMARY.toReversed()) {
    const at = line.lastIndexOf(field, end - field.length);
    if (at < 0 || at + field.length > end) return null;
    values.unshift(line.slice(at + field.length, end));
    end = at;
  }
  const [, , , , limitedBy = '/', container = '/', process = '', pid = ''] = values;
  return { container, limitedBy, process, pid: pidOf(pid) };
}

function placeOf(line: string): Partial<OomReport> {
  const from = line.indexOf(TASK_IN);
  const middle = line.lastIndexOf(LIMIT_OF);
  if (from < 0 || middle < from + TASK_IN.length) return {};
  return {
    container: rooted(line.slice(from + TASK_IN.length, middle)),
    limitedBy: rooted(line.slice(middle + LIMIT_OF.length)),
  };
}

/** `Killed process 77 (name)`, anywhere in the line; a name may hold brackets. */
function killedIn(line: string): { pid: number; process: string } | null {
  const end = line.lastIndexOf(')');
  for (let at = line.indexOf(KILLED); at >= 0; at = line.indexOf(KILLED, at + 1)) {
    const digits = /^\d{1,10}/.exec(line.slice(at + KILLED.length, at + KILLED.length + 10))?.[0] ?? '';
    const name = at + KILLED.length + digits.length + 2;
    if (digits !== '' && line.startsWith(' (', name - 2) && end > name)
      return { pid: Number(digits), process: line.slice(name, end) };
  }
  return null;
}

function pidOf(text: string): number | null {
  return /^\d{1,10}$/.test(text) ? Number(text) : null;
}

function rooted(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}
