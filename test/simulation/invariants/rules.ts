import { limitsAreKept, neededContainersStay } from './container-gc.ts';
import { claimsArePrepared } from './resource-claims.ts';
import { claimsAreGone, claimsComeFirst, detachedLast, neverUnderALiveContainer } from './claims.ts';
import { cpusAreOnesOwn } from './cpus.ts';
import { devicesAreOnesOwn, pluginsAreAwaited, runningPodsStay } from './devices.ts';
import { staysUntilItEnded } from './deletion.ts';
import { shutDownPodsFail, shutdownIsOrderly, staticPodsComeBack, statusesGoFirst } from './shutdown.ts';
import { evictedPodsFail, evictionIsOrderly, evictionsAreNeeded, victimsAreInOrder } from './eviction.ts';
import { oneCallAtOnce, oneLabel, oneWriter, sameArguments, stagedFirst, unstagedLast } from './csi-calls.ts';
import { hungCallsAreCalledOff, othersGoOn } from './claims-at-once.ts';
import { graceGiven, graceIsKept, nothingIsKilledAside } from './grace.ts';
import { hooksGoOn } from './hooks.ts';
import { nothingIsLeft, sandboxComesAfterVolumes, volumesOutliveContainers } from './host.ts';
import { imagesInUseStay } from './images-in-use.ts';
import { everyPodArrives } from './liveness.ts';
import { restIsTold } from './rest.ts';
import { nothingStartsAtTheEnd } from './nothing-starts-at-the-end.ts';
import { oneContainerOfAName } from './one-container-of-a-name.ts';
import { comesBackNew } from './new-life.ts';
import { putBackCountsOn, putBackRunsAgain } from './put-back.ts';
import { localLimitsAreKept } from './local-limits.ts';
import { memoryIsOnesOwn } from './memory.ts';
import { noBusyLoop } from './no-busy-loop.ts';
import { onePodOfAName } from './one-pod-of-a-name.ts';
import { onePull } from './one-pull.ts';
import { oneSandbox } from './one-sandbox.ts';
import { pressureIsTrue, shortagesAreEnded } from './pressure.ts';
import { hooksComeFirst } from './post-start-order.ts';
import { probesEndWithTheirPod, sidecarsAreProbedOn, sidecarsOfTheLast } from './probes-at-the-end.ts';
import { adoptedGoOn, backOff, noStopWithoutCause, probedStartAgain, restartPolicy } from './restarts.ts';
import { criticalPodsGetIn, displacedInOrder } from './preemption.ts';
import { unusedImagesGoFirst } from './reclaim.ts';
import { shortNodesTakeNobody } from './refused-under-pressure.ts';
import type { Rule } from './rule.ts';
import { startOrder, stopOrder } from './start-order.ts';
import { phaseIsFinal, restartsAreCounted, runsAfterItsHook, statusIsTrue } from './status.ts';

/** All rules, in the order in which they are asked. */
export const rules: readonly Rule[] = [
  oneContainerOfAName,
  onePodOfAName,
  oneSandbox,
  onePull,
  imagesInUseStay,
  neededContainersStay,
  limitsAreKept,
  nothingStartsAtTheEnd,
  startOrder,
  hooksComeFirst,
  stopOrder,
  graceGiven,
  nothingIsKilledAside,
  graceIsKept,
  hooksGoOn,
  probesEndWithTheirPod,
  sidecarsAreProbedOn,
  sidecarsOfTheLast,
  phaseIsFinal,
  restartsAreCounted,
  statusIsTrue,
  runsAfterItsHook,
  staysUntilItEnded,
  comesBackNew,
  putBackRunsAgain,
  putBackCountsOn,
  restartPolicy,
  probedStartAgain,
  backOff,
  noStopWithoutCause,
  adoptedGoOn,
  volumesOutliveContainers,
  sandboxComesAfterVolumes,
  nothingIsLeft,
  stagedFirst,
  unstagedLast,
  oneWriter,
  sameArguments,
  oneCallAtOnce,
  oneLabel,
  neverUnderALiveContainer,
  claimsComeFirst,
  detachedLast,
  claimsAreGone,
  othersGoOn,
  hungCallsAreCalledOff,
  noBusyLoop,
  evictionIsOrderly,
  evictionsAreNeeded,
  cpusAreOnesOwn,
  memoryIsOnesOwn,
  devicesAreOnesOwn,
  pluginsAreAwaited,
  runningPodsStay,
  claimsArePrepared,
  victimsAreInOrder,
  unusedImagesGoFirst,
  localLimitsAreKept,
  pressureIsTrue,
  shortagesAreEnded,
  shortNodesTakeNobody,
  criticalPodsGetIn,
  displacedInOrder,
  evictedPodsFail,
  shutdownIsOrderly,
  shutDownPodsFail,
  statusesGoFirst,
  staticPodsComeBack,
  everyPodArrives,
  restIsTold,
];
