import type { Difference } from './compare.ts';

const NO_SUCH_ADDRESS =
  'nobody has the address of a simulated pod: whether the kernel gives up looking for it or the probe does first hangs on who else asked';

/** Differences that are meant, and why. */
const ACCEPTED: readonly { why: string; about: RegExp; kubelet?: RegExp; actorlet?: RegExp }[] = [
  {
    why: "kubelet names the node's user namespace, which is what a runtime takes when none is named",
    about: /namespaceOptions\.usernsOptions$/,
  },
  { why: 'kubelet sends an empty overhead for a pod without one', about: /^sandbox\.config\.linux\.overhead$/ },
  {
    why: 'of a container with two faults the agent tells of its user first, kubelet of its environment: that needs the API server',
    about: /^words of (waiting CreateContainerConfigError|event Warning Failed)/,
    actorlet: /non-root|runAsNonRoot/,
  },
  {
    why: 'kubelet counts init containers and sidecars from 0 again when a sandbox is made anew; a count never falls here',
    about: /^container\.config\.(annotations\.io\.kubernetes\.container\.restartCount|logPath|metadata\.attempt)$/,
  },
  {
    why: 'kubelet tells of a resize with the resources of before when it was granted while the pod was being synced (a race that its source names)',
    about: /^words of event Normal ResizeCompleted/,
  },
  { why: 'the agent tells its own version behind that of kubelet', about: /^node\.status\.nodeInfo\.kubeletVersion$/ },
  {
    why: 'kubelet tells of the containers that it could not end when it has tried all, the agent of each',
    about: /^words of event Warning FailedKillPod/,
    actorlet: /failed to \\"KillContainer\\".*failed to \\"KillContainer\\"/,
  },
  {
    why: 'a hook asks on a connection of its own, which is closed then, and for no compressed answer',
    about: /^request of .* by (kube-lifecycle|own)/,
  },
  {
    why: 'the libraries of gRPC have their own words for a server that speaks none',
    about: /^words of event Warning Unhealthy /,
    actorlet: /does not implement the grpc health protocol/,
  },
  {
    why: 'a static pod that the node does not admit is shown with the reason; kubelet makes no mirror of it',
    about: /^shown to clients$/,
    actorlet: /true/,
  },
  {
    why: 'the group of a local volume is that of the first pod that mounts it, and which one that is hangs on the time',
    about: /^on disk: volumes\/kubernetes\.io~local-volume\//,
  },
  {
    why: 'of a static pod that comes back kubelet counts the sandboxes on that it has not removed yet',
    about: /^sandbox\.config\.metadata\.attempt$/,
  },
  {
    why: 'whoever makes the folder of volumes first gives it its mode, in kubelet too; what is above it is closed to others',
    about: /^on disk: volumes$/,
  },
  {
    why: 'a sandbox that is made anew has the labels of its moment',
    about: /^sandbox\.config\.(labels|annotations)\.added$/,
  },
  {
    why: 'how a command breaks off whose container ends hangs on the moment',
    about: /^words of event Warning Unhealthy .* probe errored/,
  },
  {
    why: NO_SUCH_ADDRESS,
    about: /^words of event Warning Unhealthy .* probe failed/,
    kubelet: /context deadline exceeded/,
    actorlet: /no route to host/,
  },
  {
    why: NO_SUCH_ADDRESS,
    about: /^words of event Warning Unhealthy .* probe failed/,
    kubelet: /no route to host/,
    actorlet: /context deadline exceeded/,
  },
  {
    why: 'kubelet prepares claims again a minute later: when its first try came before the claim was reserved for the pod it tells of that alone',
    about: /^words of event Warning FailedPrepareDynamicResources/,
    kubelet: /is not allowed to use ResourceClaim/,
  },
];

/** Why this difference is meant; undefined when it is not. */
export function whyAccepted({ about, kubelet, actorlet }: Difference): string | undefined {
  return ACCEPTED.find(
    (one) => one.about.test(about) && (one.kubelet?.test(kubelet) ?? true) && (one.actorlet?.test(actorlet) ?? true),
  )?.why;
}
