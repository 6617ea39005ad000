import { fillPod } from '../pod-defaults/default-pod.ts';
import { filledResources } from '../pod-defaults/pod-level-resources.ts';
import type { Pod } from '../protocol/api-types.ts';
import { withoutDropped } from '../sources/annotations.ts';
import { addGoQuantities, compareGoQuantities, parseGoQuantity } from './go-quantity.ts';

type Spec = NonNullable<Pod['spec']>;

/**
 * What becomes of a `v1.Pod`, as it was written, when it is decoded into the internal type (pkg/apis/core/v1: defaults.go, then
 * conversion.go). Amounts stay as they were written, since the Go type remembers how; those that are sums are `GoQuantity`.
 */
export function internalPod(pod: Pod): object {
  // A pod without a spec is defaulted like one whose spec is empty.
  const { metadata, spec, status } = fillPod({ ...pod, spec: pod.spec ?? ({} as Spec) });
  return {
    metadata: { ...metadata, annotations: withoutDropped(metadata?.annotations) },
    // A list that was not written stays none.
    spec: spec && { ...internalSpec(spec), containers: pod.spec?.containers && spec.containers },
    status: status && { ...status, podIPs: addresses(status) },
  };
}

function internalSpec(spec: Spec): object {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } = spec;
  const grace = spec.terminationGracePeriodSeconds ?? 0;
  return {
    ...spec,
    terminationGracePeriodSeconds: grace < 0 ? 1 : grace,
    securityContext: { ...spec.securityContext, hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers },
    resources: filledResources(spec, { read: parseGoQuantity, add: addGoQuantities, compare: compareGoQuantities }),
  };
}

/** `podIP` is the first of the internal list, and the only one when the list says otherwise. */
function addresses({ podIP, podIPs }: NonNullable<Pod['status']>): object[] | undefined {
  if (!podIP || podIPs?.[0]?.ip === podIP) return podIPs;
  return [{ ip: podIP }];
}
