/** As Go spells gRPC's codes: after these a call may still be under way in the driver (kubelet: isFinalError). */
const UNCERTAIN: ReadonlySet<string> = new Set([
  'Canceled',
  'DeadlineExceeded',
  'Unavailable',
  'ResourceExhausted',
  'Aborted',
]);

/** A driver that answers an expansion so will not make it, however often it is asked (kubelet: isInfeasibleError). */
const INFEASIBLE: ReadonlySet<string> = new Set(['InvalidArgument', 'OutOfRange', 'NotFound']);

/** Is a call with this outcome over for sure, so that nothing of it goes on in the driver? */
export function isFinal(code: string): boolean {
  return !UNCERTAIN.has(code);
}

/** Will an expansion with this outcome never work? */
export function isInfeasible(code: string): boolean {
  return INFEASIBLE.has(code);
}

/** What is said of an expansion that failed, in kubelet's words. `text`: the driver's `rpc error: ...`. */
export function expansionFailure(code: string, text: string): string {
  if (isInfeasible(code)) return `Expander.NodeExpand failed to expand the volume ${text}`;
  return `Expander.NodeExpand failed to expand the volume : ${text}`;
}
