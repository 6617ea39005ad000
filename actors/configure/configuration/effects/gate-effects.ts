import { FEATURE_GATES } from '../feature-gate-table.ts';

/** What switching a feature gate brings about here. */
export type GateEffect =
  | {
      kind: 'acts';
      /** What it switches. */
      on: string;
    }
  | {
      /** Kubelet switches it; here it is always as `is` says. Who asks for the other value is warned at start. */
      kind: 'fixed';
      is: boolean;
      why: string;
    };

const acts = (on: string): GateEffect => ({ kind: 'acts', on });
const always = (why: string): GateEffect => ({ kind: 'fixed', is: true, why });
const never = (why: string): GateEffect => ({ kind: 'fixed', is: false, why });

const WIRE = 'how objects are written on the way: JSON is spoken';
const INFORMERS = "client-go's informers; the caches here have one order of events";

/** The gates that kubelet 1.35 reads and that can be switched; all others of the registry are other components'. */
export const GATE_EFFECTS: Readonly<Record<string, GateEffect>> = {
  AllAlpha: acts('all alpha gates that are not named'),
  AllBeta: acts('all beta gates that are not named'),
  AllowDNSOnlyNodeCSR: acts('requests for a serving certificate without an IP address'),
  AllowParsingUserUIDFromCertAuth: acts("the user's uid in client certificates"),
  ChangeContainerStatusOnKubeletRestart: acts(
    'whether containers are no longer started and ready when the agent starts, until their probes have said so again',
  ),
  CPUManagerPolicyAlphaOptions: acts('alpha options of `cpuManagerPolicyOptions`'),
  CPUManagerPolicyBetaOptions: acts('beta options of `cpuManagerPolicyOptions`'),
  CSIVolumeHealth: acts('the health that CSI drivers tell of their volumes'),
  ClientsAllowCBOR: never(WIRE),
  ClientsPreferCBOR: never(WIRE),
  ClusterTrustBundleProjection: acts('projected volumes of trust bundles'),
  ComponentFlagz: acts('`/flagz`'),
  ComponentStatusz: acts('`/statusz`'),
  ConcurrentWatchObjectDecode: never("a detail of Go's client"),
  ContainerCheckpoint: acts('`/checkpoint`'),
  ContainerRestartRules: acts('`restartPolicy` and `restartPolicyRules` of containers'),
  ContainerStopSignals: acts("containers' `lifecycle.stopSignal`, and `stopSignal` of their statuses"),
  ContextualLogging: always("a detail of Go's logs"),
  CustomCPUCFSQuotaPeriod: acts('whether `cpuCFSQuotaPeriod` may be other than 100ms'),
  DRAExtendedResource: acts('extended resources that drivers give (`extendedResourceClaimStatus`)'),
  DisableCPUQuotaWithExclusiveCPUs: acts('containers with CPUs of their own have no quota'),
  DisableNodeKubeProxyVersion: acts("whether the node object's `kubeProxyVersion` is empty; off, it says kubelet's"),
  EnvFiles: acts(
    'variables from files of a volume (`fileKeyRef`); off, such a variable is there and empty, as with kubelet',
  ),
  EventedPLEG: acts("whether the runtime's events are listened to"),
  GitRepoVolumeDriver: acts('volumes of the kind gitRepo; off, a pod that mounts one waits, and is told why'),
  GracefulNodeShutdown: acts('whether a shutdown waits for pods'),
  GracefulNodeShutdownBasedOnPodPriority: acts('whether `shutdownGracePeriodByPodPriority` is accepted'),
  HostnameOverride: acts("pods' `hostnameOverride`"),
  ImageVolume: acts('volumes of images; off, a pod that mounts one waits for it'),
  InOrderInformers: always(INFORMERS),
  InOrderInformersBatchProcess: always(INFORMERS),
  InPlacePodLevelResourcesVerticalScaling: acts(
    "whether pods' `spec.resources` are resized in place, and told in their statuses",
  ),
  InPlacePodVerticalScalingExclusiveCPUs: acts('whether a pod with CPUs of its own may be resized'),
  InPlacePodVerticalScalingExclusiveMemory: acts('whether a pod with memory of its own may be resized'),
  InformerResourceVersion: always(INFORMERS),
  KubeletCrashLoopBackOffMax: acts('`crashLoopBackOff`'),
  KubeletEnsureSecretPulledImages: acts('`imagePullCredentialsVerificationPolicy`'),
  KubeletFineGrainedAuthz: acts('rights such as `nodes/pods` instead of `nodes/proxy`'),
  KubeletInUserNamespace: acts('an agent that is root in a user namespace only: what it may not do is logged'),
  KubeletPSI: acts('pressure stall information in statistics and metrics'),
  KubeletPodResourcesDynamicResources: acts('whether the pod-resources API tells of claims'),
  KubeletPodResourcesGet: acts('whether the pod-resources API tells of one pod'),
  KubeletPodResourcesListUseActivePods: acts('whether the pod-resources API leaves ended pods out'),
  KubeletRegistrationGetOnExistsOnly: acts('whether a node that may not be made is looked up'),
  KubeletSeparateDiskGC: always('eviction knows file systems of containers and of images'),
  KubeletServiceAccountTokenForCredentialProviders: acts('tokens for credential provider plugins'),
  LocalStorageCapacityIsolationFSQuotaMonitoring: acts(
    'emptyDir volumes of pods with `hostUsers: false` are measured by project quotas of XFS and ext4',
  ),
  LoggingAlphaOptions: acts('whether `logging.options` are accepted'),
  LoggingBetaOptions: always('the format json'),
  MemoryQoS: acts('`memory.min`, `memory.low` and `memory.high` (cgroup v2)'),
  MutableCSINodeAllocatableCount: acts(
    'whether CSI drivers are asked again how many volumes the node can hold, and pods are rejected whose volumes find no room',
  ),
  NodeDeclaredFeatures: acts("the node object's `declaredFeatures`, and whether pods are judged by it"),
  NodeLogQuery: acts('whether `enableSystemLogQuery` is accepted'),
  PodAndContainerStatsFromCRI: acts(
    'whether the runtime is asked for what pods use, in `/stats/summary` and `/metrics/*`, in place of cgroups',
  ),
  PodCertificateRequest: acts('projected volumes of pod certificates'),
  PodLevelResources: acts("pods' `spec.resources`"),
  PodLogsQuerySplitStreams: acts('logs of one stream'),
  PodReadyToStartContainersCondition: acts('the condition `PodReadyToStartContainers`'),
  PreventStaticPodAPIReferences: acts('static pods that name objects of the API server are refused'),
  QOSReserved: acts('whether `qosReserved` has effect'),
  ReduceDefaultCrashLoopBackOffDecay: acts(
    'the back-off of restarts begins at 1 s, and ends at 60 s where KubeletCrashLoopBackOffMax is off',
  ),
  ReloadKubeletServerCertificateFile: acts('whether `tlsCertFile` is read again'),
  ResourceHealthStatus: acts('whether the health of devices is told in pod statuses'),
  RestartAllContainersOnContainerExits: acts("the action `RestartAllContainers` of containers' `restartPolicyRules`"),
  RotateKubeletServerCertificate: acts('whether `serverTLSBootstrap` is accepted'),
  RuntimeClassInImageCriApi: acts(
    "whether images are looked for, pulled and collected for the handler of the pod's RuntimeClass",
  ),
  SELinuxChangePolicy: acts('whether pods may ask for SELinux labels of each file, `seLinuxChangePolicy: Recursive`'),
  SELinuxMount: acts('whether volumes of all access modes are mounted with SELinux labels'),
  SELinuxMountReadWriteOncePod: acts('whether ReadWriteOncePod volumes are mounted with SELinux labels'),
  TaintTolerationComparisonOperators: acts('tolerations with `Lt` and `Gt`'),
  TopologyManagerPolicyAlphaOptions: never('there are no alpha options of the topology manager, in kubelet neither'),
  TopologyManagerPolicyBetaOptions: always('all options of the topology manager are stable, in kubelet, too'),
  TopologyManagerPolicyOptions: acts('whether `topologyManagerPolicyOptions` is accepted'),
  UserNamespacesHostNetworkSupport: acts(
    "whether a static pod in the host's network may have `hostUsers: false`; all others are judged by the API server",
  ),
  UserNamespacesSupport: acts("pods' user namespaces"),
  WatchListClient: always('first lists come as a stream of the watch'),
};

/** A warning for each gate that is given the value that it cannot have yet. */
export function fixedGates(wanted: Readonly<Record<string, boolean>>): string[] {
  return Object.entries(wanted).flatMap(([gate, value]) => {
    const effect = GATE_EFFECTS[gate];
    if (effect?.kind !== 'fixed' || effect.is === value) return [];
    return [`Feature gate ${gate}=${value} is accepted; here it is always ${effect.is}: ${effect.why}`];
  });
}

/** Gates of the registry that can be switched and that kubelet never reads. */
export function gatesOfOthers(): string[] {
  return Object.entries(FEATURE_GATES).flatMap(([name, [, , locked]]) =>
    locked || Object.hasOwn(GATE_EFFECTS, name) ? [] : [name],
  );
}
