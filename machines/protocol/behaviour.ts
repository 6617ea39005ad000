import type { NodeSettings } from './node-settings.ts';

/**
 * Changes of what machines decide, by number: on for nodes that start now, off for logs that were written before, so that
 * those replay as they were. Numbers are never used again.
 */
export const BEHAVIOUR = {
  /** A static pod that has terminated is told with the phase that follows from its containers' ends at once. */
  phaseOfEndedStaticPod: 1,
  /** The sandbox's config names sysctls with dots, however the pod spells them. */
  dottedSysctls: 2,
  /** A restart count never falls, also when several containers that never ran are removed, or a list lacked one for a while. */
  restartCountNeverFalls: 3,
  /** A removed pod's logs go before its last sandbox does: an agent that begins in between still knows of the pod by it. */
  logsBeforeSandbox: 4,
  /** An end that is seen is taken in however late its look comes: nothing is looked at again for it. */
  endingsAreFinal: 5,
  /** A container that is told to stop while it is being started is stopped once it was: an earlier StopContainer finds nothing to stop. */
  stopsAfterStart: 6,
  /** A probe that goes on saying the same is not told of: its runs are counted only until they decide something. */
  steadyProbesAreQuiet: 7,
  /** A container that runs in the place of the one that is being stopped is stopped as well. */
  stopsWhatRuns: 8,
  /** A pod that was being ended because no source named it, and that one names after a restart, is not ended. */
  orphansComeBack: 9,
  /**
   * A pod that is not restarted, and whose containers vanished with its sandbox, ends. And nobody is woken for the probes of
   * a container that its pod does not name any more.
   */
  vanishedPodsEnd: 10,
  /** A pod whose deadline is over asks for no further start, also when the message that finds it out is of a start. */
  deadlineComesFirst: 11,
} as const;

/** All changes there are, as a node that starts now has them in its settings. */
export const ALL_BEHAVIOUR: readonly number[] = Object.values(BEHAVIOUR);

/** For whoever decides now, and is never replayed. */
export const CURRENT: Pick<NodeSettings, 'behaviour'> = { behaviour: [...ALL_BEHAVIOUR] };

/** Is this change on? */
export function behaves({ behaviour }: Pick<NodeSettings, 'behaviour'>, change: keyof typeof BEHAVIOUR): boolean {
  return behaviour.includes(BEHAVIOUR[change]);
}
