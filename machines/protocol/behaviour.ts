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
  /** A container is not made before the postStart hooks of those before it in the spec have ended. */
  startsAfterHooks: 12,
  /**
   * A preStop hook goes on for the two seconds that its container still has when the hook has used up the grace period, and
   * what becomes of it then is told. A pod that ends gets a second at least; a sidecar waits for its turn for whole seconds,
   * and only for regular containers and later sidecars.
   */
  hooksGoOnToTheEnd: 13,
  /**
   * While a pod ends, sidecars are probed on, and a run that is under way is counted; a pod that has failed, or that no source
   * names any more, is not probed at all. What had not started is not told as started. While the last regular containers are stopped for good, sidecars
   * are left as they are.
   */
  sidecarsAreProbedToTheEnd: 14,
  /**
   * What ran of a pod that its source names again while it ends stays for its next life, which counts its restarts on; and
   * whether the node admits that life is known when it begins.
   */
  nextLifeCountsOn: 15,
  /** A variable with `fileKeyRef` is read from its file (KEP-3721) when the container is created, instead of refused. */
  envFiles: 16,
  /** A pull says whether an earlier one will do, and a pod that waits for one says so in the words of `explain`. */
  pullsAreShared: 17,
  /**
   * A container that an earlier agent made and that is seen as created is started, not removed and made anew: that agent's
   * StartContainer may still be under way.
   */
  createdAreStarted: 18,
  /** No sandbox is made before the pod's cgroup and volumes are there: a pod that lacks a volume has no address, and is not ready to start containers. */
  sandboxAfterVolumes: 19,
  /**
   * A container that was stopped so that it starts again (its definition changed, a probe failed) does, however its old one ended;
   * and its back-off goes by the one before that.
   */
  stoppedToStartAgain: 20,
  /** A container is not told as running before its postStart hook has ended. */
  runsAfterItsHook: 21,
  /**
   * A liveness or startup probe that fails before kubelet's would have run at the latest counts for nothing. After a restart
   * without memory a container with a readiness probe is ready only if its pod was.
   */
  firstRunsOfProbes: 22,
  /**
   * An ephemeral container waits for the container that it targets; and that no sandbox could be made of a pod is not told once
   * the pod is to end.
   */
  failedStartsAsKubelets: 23,
  /**
   * After a StartContainer that failed no other container of that name is made before a look that began later has told what
   * became of it. And a look follows a CreateContainer that failed.
   */
  failedStartsAreLookedAt: 24,
  /** Who remembers nothing of a pod takes its start from the status that the API server has, so that its active deadline stays what it was. */
  startTimeIsTheApis: 25,
  /** A container that asks for an extended resource is told so to who makes it: a device plugin may have given it something. */
  devicesOfPlugins: 30,
  /** A pod that ends stops sandboxes that have died, too: they keep their address until then. */
  deadSandboxesAreStopped: 31,
  /** Back-off of a container that was stopped to start again goes on when the one before it was collected. */
  collectedEndsCount: 32,
  /** The pod's cgroup limits huge pages: to what the pod asks for, 0 of those that it does not. */
  podHugePages: 40,
  /** A pod that the node ends for its own sake while it is being deleted is told so: failed, with that reason. */
  evictedWhileDeleted: 60,
  /** Claims, generic ephemeral volumes, NFS and what drivers serve are asked of the volume manager, instead of refused. */
  managedVolumes: 70,
  /** A set-up of volumes that ends because its pod is to end is no failure to tell of. */
  canceledMountsAreQuiet: 71,
  /** FlexVolumes and volumes of clouds are asked of the volume manager, too. */
  oldKindsAreManaged: 72,
  /** Volumes of iSCSI and Fibre Channel are asked of the volume manager, too. */
  scsiKindsAreManaged: 73,
  /** A pod's ResourceClaims are prepared before its sandbox is made, and given back when nothing of it runs any more. */
  claimsArePrepared: 80,
  /**
   * That a container runs for the first time is told when the look that follows its start has answered: what the runtime says of it by then (its user) is in
   * the same status.
   */
  toldOnceLookedAt: 90,
  /** A pod that the node ended for its own sake has succeeded if all of its containers have, as kubelet tells it: without the reason, but as disrupted. */
  endsAsItsContainersDid: 91,
  /** `lifecycle.stopSignal` counts only where its gate is on ({@link NodeSettings.stopSignals}). */
  gatedStopSignals: 92,
  /** What vanished of a pod that is not restarted is not made again either when it was told meanwhile that it is gone: its phase was final then. */
  toldVanishedEnd: 93,
  /** What was being started in a sandbox that vanished is given up first: in the new one the pod begins from its first init container. */
  vanishedSandboxEndsStarts: 94,
  /** Without memory a container has passed its startup probe when the status that the API server has says so of it. */
  startedIsTheApis: 110,
  /** Images are asked for by the pod's runtime handler only where its gate is on ({@link NodeSettings.imagesByHandler}). */
  gatedImageHandlers: 111,
  /** Last words of a container stand behind what the runtime says of its end; of one that could not run no log is read. */
  wordsFollowTheRuntimes: 120,
  /** A pod that the node does not admit is told as failed, and why: nothing of containers that it never had. */
  rejectedTellNoMore: 121,
  /** Why a start or a postStart hook failed is told in kubelet's words: without the code of the runtime's error, and with what the hook said. */
  failuresInKubeletsWords: 122,
  /** A container that crashed is told as backing off until the one that follows it runs, and that one when it was looked at. */
  backsOffUntilItRuns: 123,
  /** The end of a pod is told once: why it is not ready, and that a container of it never ran, are not made again of what was told. */
  endIsToldOnce: 124,
  /** A container whose postStart hook failed is not probed while it is stopped for that. */
  failedHookEndsProbes: 125,
  /** Without cgroups per QoS the runtime chooses where a pod's cgroup is. */
  noParentWithoutQos: 126,
  /** A container that could not be started and is seen as ended is started again soon, as one that crashed: kubelet's PLEG wakes the pod for its end. */
  endedStartsAreRetriedSoon: 127,
  /**
   * A container that is stopped so that it starts again is told as it was, until the next one runs, or its start is held back or takes long: kubelet stops and
   * starts it in one pass, and tells nothing in between.
   */
  restartsAreToldOnce: 128,
  /** Why the request of a postStart hook failed is told without a code, which only words of the runtime have. */
  requestsFailWithoutCodes: 129,
  /** A sidecar that is stopped for its failed postStart hook has not started: what comes after it waits on. */
  failedHookIsNoStart: 130,
  /** That a container of a pod that ends was not stopped is an event, as it is of its sandbox. */
  failedStopsAreTold: 131,
  /** A container's AppArmor profile is named in CRI's older field, too, which is all that older runtimes know. */
  profilesHaveOldNames: 132,
  /** While a pull is held back the image is looked for again and again, and before each further pull: somebody else may have brought it. */
  imagesAreLookedForAgain: 150,
  /** Failures of image volumes are told as those of containers' own images: that one could not be looked for is an event, and a failed pull's has the runtime's words. */
  imageVolumesFailAsImages: 151,
  /** Crash-loop back-off belongs to a container's resources, too: one that is resized starts at once, and its delays begin anew. */
  resizeEndsBackOff: 152,
  /** Of a container that the runtime does not know any more, logs tell how often it was restarted: the next one counts on, with a log of its own. */
  logsTellRestarts: 153,
  /** Images are asked for and pulled with the pod's annotations. */
  imagesHaveAnnotations: 154,
  /** A pod that only the runtime knows of gets a second to end, whatever grace period it had. */
  orphansEndAtOnce: 155,
  /** The pod's cgroup is made again before a sandbox that takes the place of another. */
  lostCgroupsAreMade: 156,
  /** A sandbox that is ready and has no address is replaced by another, with what runs in it. */
  unaddressedAreReplaced: 157,
  /** `$(NAME)` in the command of an exec probe stands for what the container's spec sets it to. */
  probeCommandsAreExpanded: 140,
  /** An init container that ended with 0 although something of it was ended for want of memory has failed. */
  oomKilledInitsFail: 141,
  /** The file for last words is mounted at the shortest form of its path, and so is a volume whose path has no root. */
  mountPathsAreClean: 142,
  /** A probe that names a port which there is not is told as one that errored; such ports are told of in kubelet's words. */
  unknownPortsAreTold: 143,
  /** The event of a start that failed has the container's name where the runtime says its id. */
  failedStartsNameTheContainer: 144,
  /** The event of a command that ran too long says the command and the time as Go writes them: `1m0s`. */
  timeoutsAreGos: 145,
  /** A block volume that could not be set up is told of as one: `FailedMapVolume`. */
  failedMapsAreTold: 170,
  /** The path of a block volume in a container is absolute, or the container is not made. */
  devicePathsAreAbsolute: 171,
  /** With SELinux what git has fetched for a pod gets the pod's label, too. */
  gitReposAreRelabelled: 172,
  /** What a probe said in a row of one container goes on counting with the next one, as in kubelet's workers. */
  rowsOfProbesGoOn: 146,
  /** Only static pods wait for the one before them of the same name; those of the API start at once, so that deletion by force has its effect. */
  staticPodsWaitAlone: 160,
  /** A pod of the API whose phase somebody else made terminal is ended, instead of running on behind a status that says otherwise. */
  endedElsewhere: 161,
  /** That the runtime's network is not ready is an event each time that kubelet would have tried again. */
  noNetworkIsToldAgain: 162,
  /** That volumes were not there within two minutes is no event where nothing has failed; kubelet's pod worker tells none either. */
  slowVolumesAreQuiet: 180,
  /** The readiness probe of a container that is not ready runs at each sync of its pod, too, and its period counts from there. */
  unreadyAreProbedAtSyncs: 192,
  /**
   * Another sandbox is told of at each try, what is wrong with a pod's resolver settings at each sync; why a hook's request failed is what
   * https said; the path of a probe is asked for as it is written.
   */
  triesAreToldOf: 193,
  /** A pod of whose containers the runtime has none any more, and whose phase is final by what was told of them, gets no other sandbox, also where an old one is left. */
  endedBeforeTheirSandbox: 190,
  /** A container that only waited was never there: a pod that the node refuses when it has waited to be judged is told without it, as one that is refused at once. */
  waitingWereNone: 191,
  /** A `subPathExpr` may name variables that device plugins gave its container, and without an API server its command, too. */
  variablesOfDevices: 194,
} as const;

/** All changes there are, as a node that starts now has them in its settings. */
export const ALL_BEHAVIOUR: readonly number[] = Object.values(BEHAVIOUR);

/** For whoever decides now, and is never replayed. */
export const CURRENT: Pick<NodeSettings, 'behaviour'> = { behaviour: [...ALL_BEHAVIOUR] };

/** Is this change on? */
export function behaves(
  { behaviour = [] }: { behaviour?: readonly number[] },
  change: keyof typeof BEHAVIOUR,
): boolean {
  return behaviour.includes(BEHAVIOUR[change]);
}
