import { hasClaims } from '../claims/pod-claims.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { Draft } from './draft.ts';
import { taskOf, want } from './draft.ts';

/** Wants the pod's ResourceClaims prepared for the sandbox that is to be made; true once they are. */
export function claimsPrepared(draft: Draft): boolean {
  const { pod, settings, uid } = draft.context;
  if (!hasClaims(pod) || !behaves(settings, 'claimsArePrepared')) return true;
  return want(draft, 'claims', (key) => ({ type: 'host.PrepareClaims', key, params: { podUid: uid } }));
}

/** Wants them given back, now that nothing of the pod runs; true once they are. What is being prepared is waited for. */
export function claimsGivenBack(draft: Draft): boolean {
  const { pod, settings, uid } = draft.context;
  if (!hasClaims(pod) || !behaves(settings, 'claimsArePrepared')) return true;
  if (taskOf(draft, 'claims')?.state === 'running') return false;
  return want(draft, 'claims.back', (key) => ({ type: 'host.UnprepareClaims', key, params: { podUid: uid } }));
}
