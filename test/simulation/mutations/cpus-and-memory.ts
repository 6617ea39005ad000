import type { Mutation } from './mutation.ts';

/** CPUs and memory of NUMA nodes that pods have alone. */
export const cpusAndMemory: readonly Mutation[] = [
  {
    name: 'grants-stay',
    breaks: 'the CPUs of a pod that has ended stay its own',
    within: 'release',
    from: 'held === undefined ? state : releaseResources(state, uid)',
    to: 'held === undefined ? state : state',
  },
  {
    name: 'cpus-given-twice',
    breaks: 'CPUs that a pod has alone stay in the shared pool, and are given again',
    within: 'give',
    from: 'this.shared = without(this.shared, cpus);',
    to: 'void cpus;',
  },
  {
    name: 'cpus-forgotten',
    breaks: 'an agent forgets who had which CPUs before it began',
    within: 'read',
    from: 'cpu: cpus ?? born.cpu',
    to: 'cpu: born.cpu',
  },
  {
    name: 'shared-pool-not-told',
    breaks: 'containers that share CPUs are not moved when others get some of these alone',
    within: 'changedSince',
    from: 'grantsChanged?.();',
    to: 'void grantsChanged;',
  },
  {
    name: 'grants-of-who-is-deleted',
    breaks: 'the CPUs of a pod that its source gave up are free while its containers run',
    within: 'removed',
    from: 'uid, ...(runs && { runs })',
    to: 'uid',
  },
  {
    name: 'grants-of-who-is-orphaned',
    breaks: 'the CPUs of a pod that was given up while no agent was there are free while its containers run',
    within: 'allSourcesSpoke',
    from: 'unnamed(uid) && mayRun(uid)',
    to: 'unnamed(uid) && !mayRun(uid)',
  },
  {
    name: 'grants-of-who-fails',
    breaks: 'the CPUs of a pod that will have failed are free while its containers are being stopped',
    within: 'reported',
    from: '...(ended && !over && { runs: true as const })',
    to: '...{}',
  },
  {
    name: 'memory-given-twice',
    breaks: 'memory of a NUMA node that a pod has counts as free',
    within: 'take',
    from: "left -= moved(node.tables.get(resource), 'free', 'reserved', left);",
    to: 'left -= 0;',
  },
  {
    name: 'memory-stays',
    breaks: "memory of a NUMA node is nobody's once its pod has ended",
    within: 'release',
    from: "left -= moved(node.tables.get(type), 'reserved', 'free', left);",
    to: 'left -= 0;',
  },
  {
    name: 'memory-forgotten',
    breaks: 'an agent forgets who had memory of which NUMA node before it began',
    within: 'read',
    from: 'memory: pages ?? born.memory',
    to: 'memory: born.memory',
  },
];
