import { staysUntilItEnded } from './deletion.ts';
import { graceGiven, graceIsKept, nothingIsKilledAside } from './grace.ts';
import { nothingIsLeft, volumesOutliveContainers } from './host.ts';
import { everyPodArrives } from './liveness.ts';
import { restIsTold } from './rest.ts';
import { nothingStartsAtTheEnd } from './nothing-starts-at-the-end.ts';
import { oneContainerOfAName } from './one-container-of-a-name.ts';
import { comesBackNew } from './new-life.ts';
import { noBusyLoop } from './no-busy-loop.ts';
import { onePodOfAName } from './one-pod-of-a-name.ts';
import { oneSandbox } from './one-sandbox.ts';
import { adoptedGoOn, backOff, noStopWithoutCause, restartPolicy } from './restarts.ts';
import type { Rule } from './rule.ts';
import { startOrder, stopOrder } from './start-order.ts';
import { phaseIsFinal, restartsAreCounted, statusIsTrue } from './status.ts';

/** All rules, in the order in which they are asked. */
export const rules: readonly Rule[] = [
  oneContainerOfAName,
  onePodOfAName,
  oneSandbox,
  nothingStartsAtTheEnd,
  startOrder,
  stopOrder,
  graceGiven,
  nothingIsKilledAside,
  graceIsKept,
  phaseIsFinal,
  restartsAreCounted,
  statusIsTrue,
  staysUntilItEnded,
  comesBackNew,
  restartPolicy,
  backOff,
  noStopWithoutCause,
  adoptedGoOn,
  volumesOutliveContainers,
  nothingIsLeft,
  noBusyLoop,
  everyPodArrives,
  restIsTold,
];
