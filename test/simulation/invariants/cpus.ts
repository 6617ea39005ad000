import type { ResourceState } from '../../../machines/resource-managers/admit-resources.ts';
import { cpuSetText, parseCpuSetList } from '../../../machines/resource-managers/cpu/cpu-set.ts';
import { atUid, uidEntries } from '../../../machines/supervisor/uid-table.ts';
import { MACHINE_CPUS } from '../world/node-settings.ts';
import { GrantTimes } from './grant-times.ts';
import { grantsReturned } from './grants-returned.ts';
import type { Rule } from './rule.ts';

/** What the agent says that the container has alone. */
function grantOf(state: ResourceState | null, uid: string, name: string): string | undefined {
  return atUid(state?.cpu?.pods ?? {}, uid)?.find((each) => each.name === name)?.cpus;
}

/** CPUs are given as the static policy gives them. */
export const cpusAreOnesOwn: Rule = {
  name: 'no CPU is given twice or to nobody, a container keeps those that it was made with, and each comes back',
  source: 'kubelet CPU manager, static policy: exclusive allocations, the shared pool, and its reconcile loop',
  begin: ({ world, say }) => {
    let seen: ResourceState | null = null;
    const made = new Map<string, string>();
    const times = new GrantTimes(world);
    return {
      on(fact) {
        if (fact.f === 'agent' && fact.change === 'crashed') times.forgetUnwritten(made);
        const state = world.agent?.resources ?? null;
        if (state !== seen && state?.cpu) {
          wholeTable(state.cpu, say);
          times.look(state.cpu.pods);
          for (const { id, state: runs, metadata, sandbox } of world.runtime.core.containers.byId.values()) {
            const own = made.get(id);
            if (runs !== 1 || own === undefined) continue;
            const has = grantOf(state, sandbox.metadata.uid, metadata.name);
            if (has !== own)
              say(`${sandbox.metadata.uid}/${metadata.name} runs on ${own} alone, and has ${has ?? 'none'} now`);
          }
        }
        seen = state;
        if (fact.f === 'container' && fact.change === 'created') {
          const own = grantOf(state, fact.uid, fact.record.metadata.name);
          const given = fact.record.config.linux?.resources?.cpusetCpus ?? '';
          if (own === undefined) return;
          made.set(fact.record.id, own);
          if (given !== own) say(`${fact.uid} has ${own}, and its container was made with ${given || 'none'}`);
        }
        if (fact.f !== 'call' || fact.rpc !== 'UpdateContainerResources') return;
        const { linux } = fact.request as { linux?: { cpusetCpus?: string } };
        const own = made.get(fact.container?.id ?? '');
        if (own !== undefined && linux?.cpusetCpus && linux.cpusetCpus !== own)
          say(`${fact.uid} ran on ${own} alone, and is moved to ${linux.cpusetCpus}`);
      },
      end() {
        const { agent } = world;
        const state = agent?.resources ?? null;
        if (agent === null || !state?.cpu) return;
        grantsReturned(agent, state.cpu.pods, 'CPUs', say);
        for (const record of world.runtime.core.containers.byId.values()) {
          if (record.state !== 1) continue;
          const { uid } = record.sandbox.metadata;
          const cpus = grantOf(state, uid, record.metadata.name) ?? state.cpu.shared;
          const has = record.resources?.cpusetCpus ?? '';
          if (has !== cpus) say(`${uid}/${record.metadata.name} runs on ${has || 'all CPUs'} instead of ${cpus}`);
        }
      },
    };
  },
};

/** Each CPU of the machine is in one pod's hands, or in the shared pool. */
function wholeTable({ shared, pods }: NonNullable<ResourceState['cpu']>, say: (problem: string) => void): void {
  const owners = new Map<number, string>();
  const take = (cpus: Iterable<number>, who: string): void => {
    for (const cpu of cpus) {
      const other = owners.get(cpu);
      if (other !== undefined && other !== who) say(`CPU ${cpu} is given to ${other} and to ${who}`);
      owners.set(cpu, who);
    }
  };
  take(parseCpuSetList(shared), 'all');
  for (const [uid, grants] of uidEntries(pods)) for (const { cpus } of grants) take(parseCpuSetList(cpus), uid);
  if (owners.size !== MACHINE_CPUS) say(`only ${cpuSetText(owners.keys())} of ${MACHINE_CPUS} CPUs are anybody's`);
}
