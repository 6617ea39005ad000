import { claimUid, driversOf } from '../world/claims-api.ts';
import type { World } from '../world/world.ts';
import { isTerminalPhase } from '../../../machines/status/phase.ts';
import type { Rule } from './rule.ts';

/** Names of the claims that a pod uses; none of a static pod. */
function claimsOf(world: World, uid: string): string[] {
  return (world.workload.planOf(uid)?.spec.resourceClaims ?? []).map(
    ({ resourceClaimName }) => resourceClaimName ?? '',
  );
}

/** Claims are prepared and given back as kubelet's DRA manager has it. */
export const claimsArePrepared: Rule = {
  name: 'a claim is prepared before a container of its pod starts, is given back after the last one has ended, and always is',
  source: 'KEP-4381, "Prepare/Unprepare"; kubelet cm/dra; kubernetes#116411, #140527, #141433',
  begin: ({ world, say }) => ({
    on(fact) {
      const { prepared } = world.plugins;
      if (fact.f === 'container' && fact.change === 'started')
        for (const name of claimsOf(world, fact.uid))
          for (const driver of driversOf(name))
            if (!prepared.has(`${driver} ${claimUid(name)}`))
              say(`${fact.uid}/${fact.record.metadata.name} starts, and ${driver} has not prepared ${name}`);
      if (fact.f !== 'claim' || fact.change !== 'unprepared') return;
      for (const { state, metadata, sandbox } of world.runtime.core.containers.byId.values()) {
        const { uid } = sandbox.metadata;
        if (state === 1 && claimsOf(world, uid).some((name) => claimUid(name) === fact.claim))
          say(`${fact.driver} gives ${fact.claim} back, and ${uid}/${metadata.name} runs`);
      }
    },
    end() {
      const used = new Set(
        world.api
          .list()
          .filter(({ status }) => !isTerminalPhase(status?.phase))
          .flatMap(({ spec }) => (spec?.resourceClaims ?? []).map((one) => claimUid(one.resourceClaimName ?? ''))),
      );
      for (const key of world.plugins.prepared) {
        const [driver, claim = ''] = key.split(' ');
        if (!used.has(claim)) say(`nobody uses ${claim}, and ${driver} was not told so`);
      }
    },
  }),
};
