import type { HostSettings } from '../files/host-settings.ts';

/** `host.PrepareClaims`, `host.UnprepareClaims`: main has the claims of all pods, so it is asked. */
export function claimsEffect(what: 'claims.Prepare' | 'claims.Unprepare') {
  return async ({ podUid }: { podUid: string }, { ask }: HostSettings): Promise<Record<string, never>> => {
    await ask?.(what, { podUid });
    return {};
  };
}
