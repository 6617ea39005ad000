export { toneOf } from '../../../../machines/charts/state-tone.ts';
export type { Tone } from '../../../../machines/charts/state-tone.ts';

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
