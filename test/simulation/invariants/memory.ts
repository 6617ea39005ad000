import type { ResourceState } from '../../../machines/resource-managers/admit-resources.ts';
import type { MemoryBlock, MemoryState } from '../../../machines/resource-managers/memory/memory-state.ts';
import { atUid, uidEntries } from '../../../machines/supervisor/uid-table.ts';
import { GrantTimes } from './grant-times.ts';
import { grantsReturned } from './grants-returned.ts';
import type { Rule, Say } from './rule.ts';

/** NUMA nodes that the container has memory of, as the kernel lists them; '' for none of its own. */
function nodesFor(memory: MemoryState | null, uid: string, name: string): string {
  const blocks = atUid(memory?.pods ?? {}, uid)?.find((each) => each.name === name)?.blocks ?? [];
  return [...new Set(blocks.flatMap(({ numaAffinity }) => numaAffinity))].sort((a, b) => a - b).join();
}

/** Memory of NUMA nodes is given as the static policy gives it. */
export const memoryIsOnesOwn: Rule = {
  name: 'no memory of a NUMA node is given twice or to nobody, what runs keeps its own over a restart, and each comes back',
  source: 'kubelet memory manager, static policy: machineState, memoryBlocks and memory_manager_state',
  begin: ({ world, say }) => {
    let seen: ResourceState | null = null;
    /** Nodes that containers were made with, by the containers' ids. */
    const made = new Map<string, string>();
    const times = new GrantTimes(world);
    const stillOnesOwn = (memory: MemoryState): void => {
      for (const { id, state, metadata, sandbox } of world.runtime.core.containers.byId.values()) {
        const nodes = made.get(id);
        if (state !== 1 || nodes === undefined) continue;
        const has = nodesFor(memory, sandbox.metadata.uid, metadata.name);
        if (has !== nodes)
          say(
            `${sandbox.metadata.uid}/${metadata.name} runs with memory of ${nodes}, and has that of ${has || 'none'} now`,
          );
      }
    };
    return {
      on(fact) {
        if (fact.f === 'agent' && fact.change === 'crashed') times.forgetUnwritten(made);
        const state = world.agent?.resources ?? null;
        if (state !== seen && state?.memory) {
          wholeMemory(state.memory, say);
          times.look(state.memory.pods);
          stillOnesOwn(state.memory);
        }
        seen = state;
        if (fact.f === 'container' && fact.change === 'removed') made.delete(fact.record.id);
        if (fact.f !== 'container' || fact.change !== 'created' || state === null) return;
        const { name } = fact.record.metadata;
        const own = nodesFor(state.memory, fact.uid, name);
        if (own === '') return;
        made.set(fact.record.id, own);
        const given = fact.record.config.linux?.resources?.cpusetMems ?? '';
        if (given !== own)
          say(`${fact.uid}/${name} has memory of ${own}, and its container was made with ${given || 'all'}`);
      },
      end() {
        const { agent } = world;
        if (agent !== null) grantsReturned(agent, agent.resources?.memory?.pods ?? {}, 'memory', say);
      },
    };
  },
};

/** Each byte of a NUMA node is the system's, in pods' hands, or free; what nodes say that they gave is what pods say that they have. */
function wholeMemory({ nodes, pods }: MemoryState, say: Say): void {
  const blocks = uidEntries(pods).flatMap(([, grants]) => grants.flatMap((grant) => grant.blocks));
  const sum = (of: readonly MemoryBlock[]): number => of.reduce((all, { size }) => all + size, 0);
  const kinds = new Set(nodes.flatMap(({ memoryMap }) => Object.keys(memoryMap)));
  for (const kind of kinds) {
    const given = blocks.filter(({ type }) => type === kind);
    let reserved = 0;
    for (const { id, memoryMap } of nodes) {
      const table = memoryMap[kind];
      if (table === undefined) continue;
      reserved += table.reserved;
      if (table.free < 0 || table.reserved < 0 || table.free + table.reserved !== table.allocatable)
        say(
          `of ${table.allocatable} of ${kind} of node ${id} ${table.free} is free and ${table.reserved} is given away`,
        );
      const touching = given.filter(({ numaAffinity }) => numaAffinity.includes(id));
      const alone = sum(touching.filter(({ numaAffinity }) => numaAffinity.length === 1));
      if (table.reserved < alone) say(`node ${id} gave ${table.reserved} of ${kind}, and pods have ${alone} of it`);
      if (table.reserved > sum(touching))
        say(`node ${id} gave ${table.reserved} of ${kind}, of which nobody has more than ${sum(touching)}`);
    }
    if (reserved !== sum(given)) say(`${reserved} of ${kind} was given away, and pods have ${sum(given)}`);
  }
}
