/** How a state is coloured: what a reader of the list wants to tell apart at a glance. */
export type Tone = 'ok' | 'wait' | 'fail' | 'stop' | 'end';

const FAILING = new Set([
  ...['imageBackOff', 'retryingStart', 'crashLoopBackOff', 'backingOff', 'retrying', 'inDoubt'],
  ...['mountFailed', 'invalid', 'remountFailed', 'unmountFailed'],
]);

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
  const leaf = path.slice(path.lastIndexOf('.') + 1);
  if (FAILING.has(leaf)) return 'fail';
  if (leaf === 'running' || leaf === 'postStart' || leaf === 'upToDate') return 'ok';
  const top = path.split('.')[0];
  if (top === 'notReady') return 'fail';
  if (leaf === 'unmounted') return 'end';
  if (top === 'terminating' || top === 'stopping' || top === 'leaving' || top === 'shuttingDown') return 'stop';
  if (top === 'terminated' || top === 'exited' || top === 'ended') return 'end';
  return 'wait';
}

/** A pod in such a state is not where it should be: it waits, fails or is on its way out. */
export function isWaiting(path: string): boolean {
  const tone = toneOf(path);
  return tone === 'wait' || tone === 'fail' || tone === 'stop';
}
