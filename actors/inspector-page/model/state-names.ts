/** How a state is coloured: what a reader of the list wants to tell apart at a glance. */
export type Tone = 'ok' | 'wait' | 'fail' | 'stop' | 'end';

const FAILING = new Set([
  ...['imageBackOff', 'retryingStart', 'crashLoopBackOff', 'backingOff', 'retrying'],
  ...['mountFailed', 'invalid', 'remountFailed', 'unmountFailed'],
]);

/** Last part of a dotted path. */
export function leafOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** `terminating.stoppingSandbox` -> `terminating`; '' for a state at the top. */
export function parentOf(path: string): string {
  const dot = path.lastIndexOf('.');
  return dot < 0 ? '' : path.slice(0, dot);
}

/** The path itself and all states around it, innermost first, without the root. */
export function withParents(path: string): string[] {
  const all: string[] = [];
  for (let p = path; p !== ''; p = parentOf(p)) all.push(p);
  return all;
}

const tones = new Map<string, Tone>();

/** Tone of a state of any of the machines; there are few states, so each is judged once. */
export function toneOf(path: string): Tone {
  let tone = tones.get(path);
  if (tone === undefined) {
    tone = judge(path);
    tones.set(path, tone);
  }
  return tone;
}

function judge(path: string): Tone {
  const leaf = leafOf(path);
  if (FAILING.has(leaf)) return 'fail';
  if (leaf === 'running' || leaf === 'postStart' || leaf === 'upToDate') return 'ok';
  const top = path.split('.')[0];
  if (top === 'notReady') return 'fail';
  if (leaf === 'unmounted') return 'end';
  if (top === 'terminating' || top === 'stopping' || top === 'leaving' || top === 'shuttingDown') return 'stop';
  if (top === 'terminated' || top === 'exited' || top === 'ended') return 'end';
  return 'wait';
}
