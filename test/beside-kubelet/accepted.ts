import type { Difference } from './compare.ts';

/** Differences that are meant, and why. */
const ACCEPTED: readonly { why: string; about: RegExp; actorlet?: RegExp }[] = [
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
];

/** Why this difference is meant; undefined when it is not. */
export function whyAccepted({ about, actorlet }: Difference): string | undefined {
  return ACCEPTED.find((one) => one.about.test(about) && (one.actorlet?.test(actorlet) ?? true))?.why;
}
