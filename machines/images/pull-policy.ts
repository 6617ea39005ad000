import { behaves } from '../protocol/behaviour.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';

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

/**
 * Must a pull begin after it was asked for? `imagePullPolicy: Always` asks the registry what the tag means now, and whether the
 * pod may still have it; any other policy is content with what another pull brings.
 */
export function wantsFreshPull(policy: string | undefined, settings: Pick<NodeSettings, 'behaviour'>): boolean {
  return policy === 'Always' && behaves(settings, 'pullsAreShared');
}
