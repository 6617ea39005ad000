/** Moves that the definition of a machine allows and that it never makes. */
export interface ImpossibleMoves {
  machine: string;
  /** States, as dotted paths; one with states within it stands for them all. */
  from: readonly string[];
  to: readonly string[];
  /** What rules it out. */
  why: string;
}

/**
 * What definitions allow and rules rule out: guards that exclude each other, and the code that sets `focus`, which the charts
 * of pod and node follow wherever it goes. A run in which a machine makes such a move all the same has broken a rule.
 */
export const impossibleMoves: readonly ImpossibleMoves[] = [
  {
    machine: 'pod',
    from: ['syncing', 'terminating'],
    to: ['terminated.kept', 'terminated.removing', 'terminated.finished'],
    why: 'the step that first plans the clean-up asks for the teardown, and waits for it in cleaningUp (planTerminated)',
  },
  {
    machine: 'pod',
    from: ['terminated.kept'],
    to: ['terminated.finished'],
    why: 'that it comes back is told once it was given up; the step that first removes what is left asks for the removal of logs, and waits for it in removing (removeAll)',
  },
  {
    machine: 'pod',
    from: ['syncing.waitingForNetwork'],
    to: ['syncing.waitingForStartupProbe', 'syncing.waitingForReadiness', 'syncing.stoppingContainers'],
    why: 'there is no sandbox that serves, and the look that shows the next one shows that nothing runs in it',
  },
  {
    machine: 'pod',
    from: ['syncing.stoppingOldSandbox'],
    to: ['syncing.waitingForStartupProbe', 'syncing.waitingForReadiness', 'syncing.stoppingContainers'],
    why: 'a sandbox that an earlier worker had made is empty, and what ran in the old one had ended before it was asked for',
  },
  {
    machine: 'pod',
    from: ['syncing.imageBackOff'],
    to: ['syncing.running', 'syncing.waitingForStartupProbe', 'syncing.waitingForReadiness'],
    why: 'after the delay the image is pulled; one that need not be started again is given up when its pull fails (restartsEnded)',
  },
  {
    machine: 'pod',
    from: ['syncing.imageBackOff'],
    to: ['syncing.initializing', 'syncing.startingContainers'],
    why: 'after the delay the image is pulled; another definition first has cgroup or volumes set up anew',
  },
  {
    machine: 'pod',
    from: ['syncing.running', 'syncing.waitingForStartupProbe', 'syncing.waitingForReadiness'],
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
    from: ['ready.waitingForSources', 'ready.running'],
    to: ['ready.registering'],
    why: 'a node that is registered stays so',
  },
  {
    machine: 'node',
    from: ['ready.running'],
    to: ['ready.waitingForSources'],
    why: 'sources that have spoken have spoken',
  },
  {
    machine: 'node',
    from: ['starting'],
    to: ['ready.running'],
    why: 'sources are read once the runtime and PLEG have been asked (the order in which an agent starts)',
  },
];
