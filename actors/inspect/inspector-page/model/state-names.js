export { toneOf } from '../../../../machines/charts/state-tone.ts';
/** Last part of a dotted path. */
export function leafOf(path) {
  return path.slice(path.lastIndexOf('.') + 1);
}
/** `terminating.stoppingSandbox` -> `terminating`; '' for a state at the top. */
export function parentOf(path) {
  var dot = path.lastIndexOf('.');
  return dot < 0 ? '' : path.slice(0, dot);
}
/** The path itself and all states around it, innermost first, without the root. */
export function withParents(path) {
  var all = [];
  for (var p = path; p !== ''; p = parentOf(p)) all.push(p);
  return all;
}
