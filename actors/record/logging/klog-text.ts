/** Fields of a line that the header or the message hold already; `v` is not part of klog's text. */
const IN_HEADER = new Set(['level', 'ts', 'caller', 'msg', 'v']);

/**
 * Turns one JSON line into klog's structured text:
 * `I1121 02:10:08.123456   4711 file.ts:12] "message" key="value"`. `ts` is in ms, written in local time.
 */
export function formatKlogLine(json: string, pid: number): string {
  const line = JSON.parse(json) as Record<string, unknown>;
  const level = Number(line.level ?? 30);
  const caller =
    String(line.caller ?? '???:1')
      .split('/')
      .pop() ?? '???:1';
  let text = `${severity(level)}${stamp(Number(line.ts))} ${String(pid).padStart(7)} ${caller}] ${quote(String(line.msg ?? ''))}`;
  // klog writes the error first.
  if ('err' in line) text += pair('err', line.err);
  for (const [key, value] of Object.entries(line)) {
    if (!IN_HEADER.has(key) && key !== 'err') text += pair(key, value);
  }
  return `${text}\n`;
}

function severity(level: number): string {
  if (level >= 60) return 'F';
  return level >= 50 ? 'E' : level >= 40 ? 'W' : 'I';
}

/** `mmdd hh:mm:ss.uuuuuu` */
function stamp(ms: number): string {
  const at = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  const micros = String(Math.floor((ms - Math.floor(ms / 1000) * 1000) * 1000)).padStart(6, '0');
  const day = `${two(at.getMonth() + 1)}${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${micros}`;
}

function pair(key: string, value: unknown): string {
  if (typeof value === 'string') {
    if (!value.includes('\n')) return ` ${key}=${quote(value)}`;
    // More than one line: each after a tab, the end on a line of its own.
    return ` ${key}=<\n\t${value.replace(/\n$/, '').replaceAll('\n', '\n\t')}\n >`;
  }
  const reference = objectReference(value);
  return ` ${key}=${reference === undefined ? JSON.stringify(value) : quote(reference)}`;
}

/** klog prints a reference to an object as `namespace/name`. */
function objectReference(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('name' in value) || typeof value.name !== 'string')
    return undefined;
  const keys = Object.keys(value).length;
  if ('namespace' in value && typeof value.namespace === 'string' && keys === 2)
    return `${value.namespace}/${value.name}`;
  return keys === 1 ? value.name : undefined;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
