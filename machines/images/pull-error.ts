/** Beginnings of a runtime's message that kubelet makes a reason of (CRI errors), with what it then says. */
const KNOWN: readonly [reason: string, because: string][] = [
  ['RegistryUnavailable', 'the registry is unavailable'],
  ['SignatureValidationFailed', 'the signature validation failed'],
];

/**
 * Reason and message of `state.waiting` after a failed pull. `error` as events show it: with `rpc error: code = ...`
 * before the runtime's words, unless the code is `Unknown`, which says nothing (only then a known beginning counts).
 */
export function pullFailure(image: string, error: string): { reason: string; message: string } {
  for (const [reason, because] of KNOWN) {
    if (error.startsWith(reason))
      return { reason, message: `image pull failed for ${image} because ${because}${error.slice(reason.length)}` };
  }
  return { reason: 'ErrImagePull', message: error };
}
