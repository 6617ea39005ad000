var __spreadArray =
  (this && this.__spreadArray) ||
  function (to, from, pack) {
    if (pack || arguments.length === 2)
      for (var i = 0, l = from.length, ar; i < l; i++) {
        if (ar || !(i in from)) {
          if (!ar) ar = Array.prototype.slice.call(from, 0, i);
          ar[i] = from[i];
        }
      }
    return to.concat(ar || Array.prototype.slice.call(from));
  };
var FAILING = new Set(
  __spreadArray(
    __spreadArray([], ['imageBackOff', 'retryingStart', 'crashLoopBackOff', 'backingOff', 'retrying'], false),
    ['mountFailed', 'invalid', 'remountFailed', 'unmountFailed'],
    false,
  ),
);
var tones = new Map();
/** Tone of a state of any of the machines; there are few states, so each is judged once. */
export function toneOf(path) {
  var tone = tones.get(path);
  if (tone === undefined) {
    tone = judge(path);
    tones.set(path, tone);
  }
  return tone;
}
function judge(path) {
  var leaf = path.slice(path.lastIndexOf('.') + 1);
  if (FAILING.has(leaf)) return 'fail';
  if (leaf === 'running' || leaf === 'postStart' || leaf === 'upToDate') return 'ok';
  var top = path.split('.')[0];
  if (top === 'notReady') return 'fail';
  if (leaf === 'unmounted') return 'end';
  if (top === 'terminating' || top === 'stopping' || top === 'leaving' || top === 'shuttingDown') return 'stop';
  if (top === 'terminated' || top === 'exited' || top === 'ended') return 'end';
  return 'wait';
}
/** A pod in such a state is not where it should be: it waits, fails or is on its way out. */
export function isWaiting(path) {
  var tone = toneOf(path);
  return tone === 'wait' || tone === 'fail' || tone === 'stop';
}
