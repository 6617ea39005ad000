/** What the names of annotations begin with that tell where a pod came from. */
export const CONFIG_PREFIX = 'kubernetes.io/config.';
/** Where a pod came from: `file`, `http` or `api`. */
export const CONFIG_SOURCE = 'kubernetes.io/config.source';
/** On a mirror pod: the hash of the static pod that it mirrors. */
export const CONFIG_MIRROR = 'kubernetes.io/config.mirror';
/** When the agent first saw the pod, RFC 3339. */
export const CONFIG_FIRST_SEEN = 'kubernetes.io/config.seen';
/** Hash of a static pod's manifest; the pod's uid when the manifest sets none. */
export const CONFIG_HASH = 'kubernetes.io/config.hash';

/** Annotations that the agent adds itself: they do not count when two versions of a pod are compared. */
export const LOCAL_ANNOTATIONS: readonly string[] = [CONFIG_SOURCE, CONFIG_MIRROR, CONFIG_FIRST_SEEN];

/** What init containers were told by before Kubernetes 1.8: whoever reads a pod drops it (dropInitContainerAnnotations). */
const DROPPED: readonly string[] = [
  'pod.beta.kubernetes.io/init-containers',
  'pod.alpha.kubernetes.io/init-containers',
  'pod.beta.kubernetes.io/init-container-statuses',
  'pod.alpha.kubernetes.io/init-container-statuses',
];

/** Annotations as they are after a pod has been decoded. */
export function withoutDropped(annotations: Record<string, string> | undefined): Record<string, string> | undefined {
  return annotations && Object.fromEntries(Object.entries(annotations).filter(([key]) => !DROPPED.includes(key)));
}
