import { acts, type Effect, moot, noneInKubelet, unbuilt } from './effect.ts';

/** Fields of pod sources, of the runtime and its images, of logs and of the network. */
export const podEffects: Readonly<Record<string, Effect>> = {
  staticPodPath: acts('the folder or file of static pods'),
  staticPodURL: acts('the URL of static pods'),
  staticPodURLHeader: acts('the headers that this URL is asked with'),
  syncFrequency: acts('how often a pod that does not change is looked at'),
  fileCheckFrequency: acts('how often the folder of static pods is read'),
  httpCheckFrequency: acts('how often the URL of static pods is asked'),

  containerRuntimeEndpoint: acts('the socket of the runtime'),
  imageServiceEndpoint: acts('the socket of the image service'),
  runtimeRequestTimeout: acts('the deadline of calls to the runtime, of exec in probes and of checkpoints'),
  registryPullQPS: acts('pulls a second'),
  registryBurst: acts('pulls at once above that rate'),
  serializeImagePulls: acts('one pull at a time'),
  maxParallelImagePulls: acts('pulls side by side'),
  imagePullCredentialsVerificationPolicy: acts('whose image a pod may use without a pull'),
  preloadedImagesVerificationAllowlist: acts('the images that need no check of credentials'),
  imageMinimumGCAge: acts('collection of images: the least age'),
  imageMaximumGCAge: acts('collection of images: those unused for longer go'),
  imageGCHighThresholdPercent: acts('collection of images: when it begins'),
  imageGCLowThresholdPercent: acts('collection of images: when it ends'),
  containerLogMaxSize: acts("rotation of containers' logs: when"),
  containerLogMaxFiles: acts("rotation of containers' logs: how many are kept"),
  containerLogMaxWorkers: acts("rotation of containers' logs: how many side by side"),
  containerLogMonitorInterval: acts("rotation of containers' logs: how often it is looked"),
  podLogsDir: acts("the folder of containers' logs"),
  seccompDefault: acts("containers without a seccomp profile get the runtime's"),
  hairpinMode: noneInKubelet('was of dockershim; it is checked only'),
  'crashLoopBackOff.maxContainerRestartPeriod': acts('the longest back-off between restarts'),

  clusterDomain: acts("pods' search domains"),
  clusterDNS: acts("pods' name servers"),
  resolvConf: acts("the resolver file that pods' own is made of"),
  podCIDR: unbuilt(
    "told to the runtime by the CRI call UpdateRuntimeConfig at start; an API server's node has its own",
  ),
  makeIPTablesUtilChains: unbuilt('the chains KUBE-IPTABLES-HINT and KUBE-FIREWALL'),
  iptablesMasqueradeBit: noneInKubelet('of rules that kubelet does not make since 1.28'),
  iptablesDropBit: noneInKubelet('of rules that kubelet does not make since 1.28'),
  volumePluginDir: unbuilt('FlexVolume, which is deprecated: a pod that asks for one has an unknown kind of volume'),
  volumeStatsAggPeriod: acts('how often volumes are measured'),
  contentType: moot(
    'only how objects are written on the way to and from the API server: JSON is spoken here, which each server takes',
  ),
};
