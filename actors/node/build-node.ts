import { networkProblemOf } from '../../machines/node-object/ready-message.ts';
import { afterAgentRestart } from '../../machines/pod/adopt-probes.ts';
import { afterShutdown } from '../../machines/pod/after-shutdown.ts';
import { judgedAnew } from '../../machines/pod/judged-anew.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import { podObject } from '../../machines/protocol/recorded-event.ts';
import { trackedPod, trackedPods } from '../../machines/supervisor/pod-table.ts';
import { EventRecorder } from '../cluster/events/event-recorder.ts';
import { declaredFeaturesOf } from '../configure/configuration/declared-features-of.ts';
import type { JournalSettings } from '../record/journal/machine-journal.ts';
import { endOf, restoreMemory } from '../record/journal/restore-memory.ts';
import { errorOf } from '../pods/shard/effect-runner.ts';
import { createPodSources } from '../pods/sources/pod-sources.ts';
import { PodStore } from '../pods/store/pod-store.ts';
import { Supervisor } from '../pods/supervisor/supervisor.ts';
import { admissionRules } from '../resources/admission/admission-rules.ts';
import { MakeRoom } from '../resources/admission/make-room.ts';
import { NodeAdmission } from '../resources/admission/node-admission.ts';
import { ClaimManager } from '../resources/claims/claim-manager.ts';
import { attachedVolumes } from '../resources/volumes/attached-volumes.ts';
import { VolumeManager } from '../resources/volumes/volume-manager.ts';
import { DeviceManager } from '../resources/devices/device-manager.ts';
import type { ListedPod } from '../runtime/pleg/observe-pod.ts';
import { Pleg } from '../runtime/pleg/pleg.ts';
import { GENERIC_RATE } from '../runtime/pleg/relist-rate.ts';
import { RuntimeWatch } from '../runtime/runtime-state/runtime-watch.ts';
import { AsidePods, blameOf } from './aside-pods.ts';
import { burstableShares, memoryRequests } from './burstable-shares.ts';
import { ClockWatch } from './clock-watch.ts';
import type { NodeEdges } from './edges.ts';
import { handleFromShard } from './from-shard.ts';
import { HostIPs } from './host-ips.ts';
import type { JournalShares } from './journal-shares.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { NodeManager } from './managers.ts';
import { looksForSecrets } from './secret-looks.ts';
import { makeManagers, notReadyBy, pressureOf, reclaimBy, refusalOf } from './managers.ts';
import { nodeAnswers } from './node-answers.ts';
import { nodeImagePuller } from './node-image-puller.ts';
import type { NodeGround } from './node-ground.ts';
import { orderNode } from './node-order.ts';
import { NodeState } from './node-state.ts';
import { podGatesOf } from './pod-gates-of.ts';
import { PodIntake } from './pod-intake.ts';
import { PodMetrics } from './pod-metrics.ts';
import { HealthTeller } from './pod-health.ts';
import { Resync } from './resync.ts';
import { runningContainers } from './running-containers.ts';
import { runtimeEvents } from './runtime-events.ts';
import { spareOf } from './spare.ts';
import { staticLife } from './static-life.ts';

/** What a node is made of, as {@link buildNode} makes it. */
export type NodeParts = ReturnType<typeof buildNode>;

/**
 * Makes every part of a node, once, over the edges that it is given, and tells `life` in which order they are started and
 * stopped; none of them does anything yet. Parts tell each other things when they have something to tell, never while
 * they are made. Throws when the plugins' configuration is bad (IMG002 to IMG004).
 */
export function buildNode(ground: NodeGround, edges: NodeEdges, life: Lifecycle) {
  const { config, featureGates, rootDir, settings, journals, agent, log, metrics } = ground;
  const { clock, cri } = edges;
  const { nodeName } = settings;
  const { now } = clock;
  const podMetrics = new PodMetrics(metrics);
  const store = new PodStore();
  const events = new EventRecorder(log);
  const warn = (pod: Pick<Pod, 'metadata'>, reason: string, message: string): void =>
    events.record({ object: podObject(pod), at: now(), type: 'Warning', reason, message });
  const remembered = journals === null ? new Map<string, never>() : restoreMemory(journals.dir);
  const journalOf = (share: Exclude<keyof JournalShares, 'dir' | 'shard' | 'disk'>): JournalSettings | undefined =>
    journals === null
      ? undefined
      : { dir: journals.dir, agent, maxBytes: journals[share], log, ...(journals.disk && { disk: journals.disk }) };
  let listed: ReadonlyMap<string, ListedPod> | null = null;

  // What is seen of the runtime.
  const images = edges.images({ tokens: () => cluster?.objects.pluginTokens });
  const puller = nodeImagePuller({
    ...{ cri, config, metrics, log, events, now, steady: clock.steady },
    edge: images,
    podOf: (uid) => trackedPod(supervisor.context.pods, uid)?.pod,
    pullSecret: async (namespace, name) => (await cluster?.objects.secret(namespace, name)) ?? null,
    journal: journalOf('pulls'),
  });
  const pleg: Pleg = new Pleg({
    stopSignals: settings.stopSignals,
    ...{ cri, clock, rate: GENERIC_RATE, log, metrics },
    onPod: (seen) =>
      edges.seen(seen, (observed) => {
        const failure = supervisor.take({ type: 'seen', at: now(), observed });
        // The pod is looked at again.
        if (failure !== null) throw failure;
      }),
    onUnseen: (uid, error) => supervisor.tell(uid, { type: 'pod.unseen', at: now(), error: errorOf(error) }),
    onFailure: () => runtime.suspect(),
    onRelist: (pods) => {
      listed = pods;
      admission.listed(pods, () => trackedPods(supervisor.context.pods).map(({ uid }) => uid));
    },
  });
  const runtime: RuntimeWatch = new RuntimeWatch({ cri, clock, log, onChange: () => nodeState.runtimeChanged() });

  // The pods' actors.
  const shards = edges.shards({
    onMessage: (shard, message) => {
      handleFromShard(parts, shard, message);
      if (message.t === 'report') ground.onPod?.(message.report);
    },
    onReplaced: (shard, death) => {
      const blame = death && blameOf(death, supervisor.started());
      supervisor.take({ type: 'shardReplaced', at: now(), shard, ...(blame !== undefined && { blame }) });
      for (const pod of supervisor.started()) if (pod.shard === shard) pleg.observe(pod.uid);
    },
  });
  const supervisor: Supervisor = new Supervisor({
    ...{ shards: ground.shards, log, now, store },
    runtimeState: () => runtime.state,
    held: (uid) => pleg.holds(uid),
    grantsOf: (uid) => admission.resources.grantsOf(uid),
    healthOf: (uid) => health.start(uid),
    nodeIPs: () => hostIPs.now,
    observe: (uid) => pleg.observe(uid),
    remembered: (uid) => {
      const tracked = trackedPod(supervisor.context.pods, uid);
      const memory = afterAgentRestart(
        judgedAnew(afterShutdown(remembered.get(uid)?.memory ?? null, tracked?.source), tracked?.source),
        settings.restartChangesStatus === true,
      );
      return tracked === undefined ? memory : admission.remembered(tracked.pod, memory);
    },
    endedAs: (uid) => endOf(remembered.get(uid)),
    journal: journalOf('supervisor'),
    onAside: (uid, harm) => asidePods.putAside(uid, harm),
    post: (shard, uid, message) => {
      podMetrics.posted(uid, message);
      shards.post(shard, { t: 'pod', uid, message });
    },
  });

  const hostIPs = new HostIPs(settings.nodeIPs, (nodeIPs) =>
    supervisor.broadcast({ type: 'pod.sync', at: now(), nodeIPs }),
  );
  const asidePods: AsidePods = new AsidePods({
    ...{ clock, store, log, metrics },
    remembered: (uid) => remembered.get(uid)?.memory ?? null,
    tell: (shard, message) => handleFromShard(parts, shard, message),
    tryAgain: (uid, until) => supervisor.take({ type: 'tryAgain', at: now(), uid, until }),
    podOf: (uid) => trackedPod(supervisor.context.pods, uid),
  });

  // The node itself. Its orders go to the API server, the observer, and all pods.
  const nodeState: NodeState = new NodeState({
    ...{ nodeName, agent, cluster: edges.cluster !== null, log, clock },
    facts: () => ({
      runtime: runtime.state,
      plegError: pleg.unhealthy(),
      sourcesReady: supervisor.context.sourcesReady,
      registered: cluster !== null && cluster.node.node() !== null,
    }),
    carryOut: (order) => {
      if (order.type === 'status.post') cluster?.node.changed();
      else if (order.type === 'pods.observe') pleg.observeAll();
      else {
        const { runtimeReady, networkReady } = order;
        const networkProblem = networkProblemOf({ ...runtime.state, networkReady });
        const why = { ...(networkProblem !== undefined && { networkProblem }) };
        supervisor.broadcast({ type: 'runtime.state', at: now(), runtimeReady, networkReady, ...why });
      }
    },
    journal: journalOf('node'),
  });
  const conditions = () => managers.flatMap((manager) => [...(manager.conditions?.() ?? [])]);
  const managers: NodeManager[] = makeManagers({
    ...{ config, featureGates, rootDir, settings, cri, clock, log, metrics, events },
    ...(ground.spans && { spans: ground.spans }),
    journal: journalOf('manager') ?? null,
    logind: edges.logind,
    pods: () => store.list(),
    images,
    containerGc: ground.containerGc,
    ...(ground.allocatableIgnoresEviction && { allocatableIgnoresEviction: true as const }),
    podLogs: edges.podLogs,
    // One that waits for its predecessor of the same name has not come to the store.
    stateOf: (uid) => store.stateOf(uid) ?? (supervisor.tracks(uid) ? 'waiting' : null),
    sourcesReady: () => intake.allSeen,
    usage: edges.usage({
      ...{ nodeName, pods: () => store.list(), claimed: (pod) => volumes.measured(pod) },
      onAbnormal: (pod, volume, why) => warn(pod, 'VolumeConditionAbnormal', `Volume ${volume}: ${why}`),
    }),
    reclaim: (what) => reclaimBy(managers, what),
    spare: () => spareOf(cri, managers),
    tell: (uid, message) => supervisor.tell(uid, message),
    changed: () => cluster?.node.changed(),
    told: (uids) => cluster?.told(uids) ?? true,
    heardOf: (uid) => cluster?.heardOf(uid) ?? true,
  });
  // Pods of which something may run, though their source gave them up, and those that are not judged yet: what they have is theirs.
  const unended = (): string[] =>
    trackedPods(supervisor.context.pods)
      .map(({ uid }) => uid)
      .filter((uid) => !store.stateOf(uid)?.startsWith('terminated.'));
  const devices =
    edges.devices === null
      ? null
      : new DeviceManager({
          ...{ ...edges.devices, clock, log, metrics },
          active: () => (intake.allSeen ? unended() : null),
          listed: () => listed,
          patienceMs: ground.waitForPluginsMs,
          returned: () => intake.pluginReturned(),
          running: (uid) => runningContainers({ cri, now, listed: () => listed }, uid),
          changed: () => cluster?.node.changed(),
          healthChanged: () => health.changed(),
          alignment: (pod) => admission.resources.alignment(pod),
          affinity: (pod, asked) => admission.resources.affinity(pod, asked),
          extended: featureGates.enabled('DRAExtendedResource'),
          journal: journalOf('manager'),
        });
  const claims =
    edges.claims === null
      ? null
      : new ClaimManager({
          ...{ ...edges.claims, clock, log, metrics },
          claim: (namespace, name) =>
            cluster?.claims.get(namespace, name) ?? Promise.reject(new Error('no API server')),
          healthChanged: () => health.changed(),
          wipe: (driver) => cluster?.wipeSlices(driver) ?? Promise.resolve(),
          active: () => (intake.allSeen ? trackedPods(supervisor.context.pods).map(({ uid }) => uid) : null),
          extended: featureGates.enabled('DRAExtendedResource'),
          journal: journalOf('manager'),
        });
  const health = new HealthTeller({
    enabled: featureGates.enabled('ResourceHealthStatus'),
    devices: () => devices,
    claims: () => claims,
    podOf: (uid) => trackedPod(supervisor.context.pods, uid)?.pod,
    tell: (uid, message) => supervisor.tell(uid, message),
    now,
  });
  const volumes: VolumeManager = new VolumeManager({
    ...{ rootDir: settings.rootDir, nodeName, clock, log, metrics, selinux: settings.selinux },
    plugins: edges.volumes({
      warn,
      csi: () => cluster?.objects.csi ?? null,
      secret: (namespace, name) =>
        cluster?.objects.storage.secret?.(namespace, name) ?? Promise.reject(new Error('cannot get kube client')),
      journal: journalOf('manager'),
    }),
    labelRules: edges.labelRules,
    objects: () => cluster?.objects.storage ?? null,
    record: (event) => events.record(event),
    attached: attachedVolumes(
      () => cluster?.node.node() ?? null,
      () => cluster?.freshNode() ?? Promise.resolve(null),
    ),
    nodeLabels: () => (cluster?.node.node() ?? ground.ownNode ?? null)?.metadata?.labels ?? null,
    podOf: (uid) => trackedPod(supervisor.context.pods, uid)?.pod,
    tell: (uid, message) => supervisor.tell(uid, message),
    changed: () => cluster?.node.changed(),
    journal: journalOf('manager'),
  });
  const cluster =
    edges.cluster?.connect({
      ...{ cri, clock, events },
      runtimeState: () => runtime.state,
      plegError: () => pleg.unhealthy(),
      conditions,
      pressure: () => pressureOf(managers),
      devices: () => devices?.capacity() ?? { capacity: {}, allocatable: {} },
      volumesInUse: () => volumes.inUse(),
      onHostIPs: (ips) => hostIPs.take(ips),
      onNode: () => volumes.nodeTold(),
      shutdownErrors: () => notReadyBy(managers),
      onPods: (pods, changed) => {
        if (changed === undefined || !sources.changePod('api', changed)) sources.setPods('api', pods());
      },
      lifeOf: (uid) => staticLife(trackedPod(supervisor.context.pods, uid), store.reportOf(uid)),
      tell: (uid, message) => supervisor.tell(uid, message),
      journalOf,
    }) ?? null;

  // The pods' way in: source, admission by the node's object, resources, supervisor.
  const declaredFeatures = declaredFeaturesOf(config, featureGates);
  const admission: NodeAdmission = new NodeAdmission({
    ...{ rootDir, log, now, metrics },
    rules: admissionRules(config, settings, {
      ...(ground.resources && { resources: ground.resources }),
      ...(declaredFeatures && { declaredFeatures }),
      ...(featureGates.enabled('TaintTolerationComparisonOperators') && { taintComparison: true }),
      ...(featureGates.enabled('DRAExtendedResource') && { driversGiveResources: true }),
      ...(!featureGates.enabled('PodLevelResources') && { noPodLevelResources: true }),
    }),
    journal: journalOf('admission'),
    node: () => cluster?.node.node() ?? ground.ownNode ?? null,
    freshNode: () => cluster?.freshNode() ?? Promise.resolve(null),
    record: (event) => events.record(event),
    sourcesReady: () => intake.allSeen,
    refuses: (pod) => refusalOf(managers, pod) ?? devices?.refusesResize(pod) ?? null,
    held: (pod) => devices?.held(pod) ?? null,
    makeRoom: (pod, victims, signal) => intake.makeRoomForResize(pod, victims, signal),
    grantsChanged() {
      for (const { uid } of supervisor.started()) {
        const grants = admission.resources.grantsOf(uid);
        if (grants !== undefined) supervisor.tell(uid, { type: 'pod.grants', at: now(), grants });
      }
    },
    // A change of resources reaches the pod as a change of its source would.
    changed: (pod) => {
      const source = trackedPod(supervisor.context.pods, pod.metadata?.uid ?? '')?.source ?? 'orphan';
      if (source === 'orphan') return;
      supervisor.take({ type: 'config', at: now(), update: { op: 'UPDATE', source, pods: [pod] } });
    },
  });
  const intake: PodIntake = new PodIntake({
    ...{ supervisor, cluster, admission, metrics, now, log },
    room: new MakeRoom({
      ...{ log, now, metrics },
      record: (event) => events.record(event),
      tell: (uid, message) => supervisor.tell(uid, message),
    }),
    refuses: (pod) => refusalOf(managers, pod),
    ...{ devices, claims },
    sources: () => sources,
    mayRun: (uid) => supervisor.tracks(uid) || pleg.holds(uid),
  });
  const sources = createPodSources({
    ...(config.staticPodPath !== '' && { staticPodPath: config.staticPodPath }),
    ...(config.staticPodURL !== '' && { staticPodURL: config.staticPodURL }),
    ...(ground.source !== undefined && { own: ground.source }),
    staticPodURLHeader: config.staticPodURLHeader,
    fileCheckFrequencyMs: config.fileCheckFrequency,
    httpCheckFrequencyMs: config.httpCheckFrequency,
    otherSources: ground.otherSources,
    gates: podGatesOf(featureGates),
    ...{ nodeName, log, now },
    onUpdate: (update) => intake.take(update),
    onReadyChange: () => intake.sourcesSpoke(),
    onError: (error) => log.error({ err: error }, 'Pod source'),
    onInvalid: (pod, message) => warn(pod, 'FailedValidation', message),
  });

  // What works at leisure.
  const clockWatch = new ClockWatch({
    ...{ log, clock },
    onSetBack: (byMs) => supervisor.broadcast({ type: 'clock.steppedBack', at: now(), byMs }),
  });
  const resync = new Resync({
    ...{ supervisor, periodMs: config.syncFrequency, clock },
    // A runtime that only just fell silent holds nothing up.
    heldUp: () => pleg.unhealthy() !== null || !(runtime.state.runtimeReady || runtime.state.quiet === true),
    synced: (uid) => {
      if (looksForSecrets(store.stateOf(uid))) puller.lookForSecrets(uid);
    },
  });
  const leisure = edges.host({
    alive: (uid) => supervisor.tracks(uid) || listed?.has(uid) === true,
    askNode: nodeAnswers(() => parts),
    ready: () => intake.allSeen && pleg.unhealthy() === null,
    burstableShares: () => burstableShares(store.list()),
    memoryMin: () => memoryRequests(store.list()),
    record: (event) => events.record(event),
    journal: journalOf('manager'),
  });

  const parts = {
    ...{
      ground,
      edges,
      nodeName,
      log,
      now,
      metrics,
      podMetrics,
      store,
      events,
      puller,
      pleg,
      runtime,
      shards,
      supervisor,
    },
    ...{ conditions, nodeState, cluster, admission, intake, sources, resync, managers, devices, claims, volumes },
    ...{ userNamespaces: edges.userNamespaces, quotas: edges.quotas },
  };

  orderNode(life, {
    ...{
      shards,
      runtime,
      pleg,
      nodeState,
      managers,
      claims,
      volumes,
      devices,
      sources,
      clockWatch,
      cluster,
      resync,
      leisure,
    },
    ...{ asidePods, supervisor, puller, admission },
    pages: edges.pages(parts),
    runtimeEvents: runtimeEvents({
      ...{ cri, log, metrics, now, pleg, runtime },
      enabled: featureGates.enabled('EventedPLEG'),
    }),
  });
  return parts;
}
