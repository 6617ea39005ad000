/** Moves that the definition of a machine allows and that no run of the simulation makes. */
export interface UnreachedMoves {
  machine: string;
  /** States, as dotted paths; one with states within it stands for them all. */
  from: readonly string[];
  to: readonly string[];
  /** What keeps them away. */
  why: string;
}

/** Machines that no run has yet, by name, with what proves them instead. */
export const unsimulatedMachines: Readonly<Record<string, string>> = {};

/** Machines of which runs make many moves and need not make all, by name, with what makes each. */
export const partlySimulated: Readonly<Record<string, string>> = {
  mount: 'runs with claims: test/pure/volume-manager makes each of its moves, with drivers that fail and hang',
  device: 'the same',
};

/** States that no run has yet, by machine, with what proves them instead. */
export const unsimulatedStates: Readonly<Record<string, Readonly<Record<string, string>>>> = {};

/** Of a pod: its containers are being started, or cannot be yet. */
const STARTING = [
  'syncing.pullingImage',
  'syncing.imageBackOff',
  'syncing.initializing',
  'syncing.startingContainers',
  'syncing.retryingStart',
  'syncing.crashLoopBackOff',
];
/** They run, and a probe has not said yes yet. */
const AWAITED = ['syncing.waitingForStartupProbe', 'syncing.waitingForReadiness'];
/** They run. */
const UP = [...AWAITED, 'syncing.running'];
/** All that comes when the cgroup is there. */
const PREPARED = [
  'syncing.mountingVolumes',
  'syncing.preparingClaims',
  'syncing.creatingSandbox',
  ...STARTING,
  ...UP,
  'syncing.stoppingContainers',
];

/**
 * What definitions allow and no run comes to. Container, probe and volume: guards that exclude each other. Pod and node: what is
 * declared because it would break no rule of theirs, and follows only from a world that this one is not. A run in which a
 * machine makes such a move has found something, or a row is to go.
 */
export const unreachedMoves: readonly UnreachedMoves[] = [
  {
    machine: 'pod',
    from: ['syncing.waitingForNetwork', 'syncing.creatingCgroup', 'syncing.stoppingOldSandbox', ...PREPARED],
    to: ['syncing.waitingForPlugin'],
    why: 'a pod is told to wait for its plugin when it starts, and never after it was judged',
  },
  {
    machine: 'pod',
    from: ['syncing.waitingForPlugin'],
    to: PREPARED,
    why: 'the step that hears of the verdict is the first that wants cgroup and volumes: nothing after these can be waited for yet',
  },
  {
    machine: 'pod',
    from: ['terminated.kept'],
    to: ['terminated.finished'],
    why: 'the supervisor tells that it comes back once it was given up, so in removing: the step that first removes what is left waits there (removeAll)',
  },
  {
    machine: 'pod',
    from: ['syncing.waitingForNetwork'],
    to: ['syncing.stoppingContainers', ...AWAITED],
    why: 'there is no sandbox that serves, and the look that shows the next one shows that nothing runs in it',
  },
  {
    machine: 'pod',
    from: ['syncing.stoppingOldSandbox'],
    to: ['terminated.cleaningUp'],
    why: 'the old sandbox has its address until it is stopped, so a pod that ends stops it first; one that is gone leads on to the next',
  },
  {
    machine: 'pod',
    from: ['syncing.stoppingOldSandbox'],
    to: ['syncing.stoppingContainers', ...AWAITED],
    why: 'a sandbox that an earlier worker had made is empty, and what ran in the old one had ended before it was asked for',
  },
  {
    machine: 'pod',
    from: ['syncing.imageBackOff'],
    to: UP,
    why: 'the image is looked for, or pulled; one that need not be started again is given up when its pull fails (restartsEnded)',
  },
  {
    machine: 'pod',
    from: [...STARTING, ...UP],
    to: ['syncing.creatingSandbox'],
    why: 'when the sandbox is lost the cgroup is made again first (forgetLostCgroup)',
  },
  {
    machine: 'pod',
    from: ['syncing.creatingSandbox'],
    to: ['syncing.stoppingContainers'],
    why: 'what stops is over before a new sandbox is made, also when the old one vanished (startsGivenUp)',
  },
  {
    machine: 'pod',
    from: ['syncing.stoppingContainers'],
    to: ['syncing.creatingSandbox'],
    why: 'while containers stop for a sandbox that vanished the pod is in stoppingOldSandbox (startsGivenUp)',
  },
  {
    machine: 'pod',
    from: AWAITED,
    to: ['syncing.imageBackOff'],
    why: 'a container that is started again had its image: no delay of an earlier pull is left',
  },
  {
    machine: 'container',
    from: ['backingOff'],
    to: ['running'],
    why: 'what is started is started by this machine: a container that an earlier worker was starting is looked at first (Supervisor)',
  },
  {
    machine: 'container',
    from: ['starting.started'],
    to: ['stopping.preStop', 'stopping.waitingTurn', 'stopping.killing'],
    why: 'the answer of StartContainer is waited for first, in awaitingStart (behaviour stopsAfterStart, which all new journals have)',
  },
  {
    machine: 'probe',
    from: ['idle'],
    to: ['onHold'],
    why: 'a runtime does not lose sight of a container that runs and find it again; the guard is there for one that says UNKNOWN for a while',
  },
  {
    machine: 'probe',
    from: ['onHold'],
    to: ['waiting'],
    why: 'the container that it rests for ends, and is seen to, before the next one runs',
  },
  {
    machine: 'volume',
    from: ['pending.mounting', 'mounted.remounting'],
    to: ['leaving'],
    why: 'the teardown waits until no set-up is under way (planTerminated)',
  },
  {
    machine: 'volume',
    from: ['pending.mounting'],
    to: ['pending.invalid'],
    why: 'a set-up under way is told that it ended before the new definition is refused (followTask)',
  },
  {
    machine: 'node',
    from: ['starting'],
    to: ['ready.running'],
    why: 'sources are read once the runtime and PLEG have been asked (the order in which an agent starts)',
  },
];

/**
 * Moves that runs with plugins (`--plugins`) make when a fault meets one moment; the fixed seeds and pinned plans make some of them. They break no
 * rule, and are not asked for. Which of a syncing pod's states comes before or after its claims are seen to follows from what else it waits for then.
 */
export const rareMoves: readonly UnreachedMoves[] = [
  {
    machine: 'pod',
    from: ['syncing'],
    to: ['syncing.preparingClaims', 'terminating.unpreparingClaims'],
    why: 'the sandbox is lost, or the pod ends, in that very state, and it uses claims',
  },
  {
    machine: 'pod',
    from: ['syncing.preparingClaims'],
    to: ['syncing', 'terminating', 'terminated.cleaningUp'],
    why: 'while drivers are asked the runtime goes away, the definition changes, or the pod is to end',
  },
  {
    machine: 'pod',
    from: ['terminating'],
    to: ['terminating.unpreparingClaims'],
    why: 'containers and sandbox were stopped by others while the pod waited for something else',
  },
  {
    machine: 'pod',
    from: ['terminating.unpreparingClaims'],
    to: ['terminating', 'terminated.cleaningUp'],
    why: 'a container of a start that was in doubt turns up while drivers are asked',
  },
  {
    machine: 'pod',
    from: ['syncing.waitingForPlugin'],
    to: [
      'syncing.waitingForRuntime',
      'syncing.waitingForNetwork',
      'syncing.stoppingOldSandbox',
      'terminating',
      'terminated.cleaningUp',
    ],
    why: 'the runtime goes away, or the pod ends, while its plugin is',
  },
];
