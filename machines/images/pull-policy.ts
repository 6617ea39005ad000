/** `imagePullCredentialsVerificationPolicy` with its `preloadedImagesVerificationAllowlist` (KEP-2535). */
export interface VerificationPolicy {
  policy: 'NeverVerify' | 'NeverVerifyPreloadedImages' | 'NeverVerifyAllowlistedImages' | 'AlwaysVerify';
  /** Full names without tag and digest, or prefixes that end with `/*`; checked with the configuration. */
  allowlist: readonly string[];
}

/**
 * Must a pod show that it may use an image that is on the node? `image` is the container's own spelling: an entry of
 * the list without `/*` covers only an image that is written without tag and digest, as in kubelet.
 */
export function mustVerify({ policy, allowlist }: VerificationPolicy, image: string, pulledByAgent: boolean): boolean {
  switch (policy) {
    case 'NeverVerify':
      return false;
    case 'NeverVerifyPreloadedImages':
      return pulledByAgent;
    case 'NeverVerifyAllowlistedImages':
      return !allowlist.some((entry) =>
        entry.endsWith('/*') ? image.startsWith(entry.slice(0, -1)) : image === entry,
      );
    case 'AlwaysVerify':
      return true;
  }
}
