import type { FieldProblem } from '../pod-validation/problem.ts';
import type { Pod, Volume } from '../protocol/api-types.ts';

type Spec = NonNullable<Pod['spec']>;

/** Volume sources that need the API server, and what they need of it, as kubelet names it. */
export const API_VOLUMES: Partial<Record<keyof Volume, string>> = {
  configMap: 'configmaps (via configmap volumes)',
  secret: 'secrets (via secret volumes)',
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  azureFile: 'secrets (via azureFile volumes)',
};

/** The same of the sources of a projected volume. */
export const API_PROJECTIONS: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via projected volumes)',
  secret: 'secrets (via projected volumes)',
  serviceAccountToken: 'serviceaccounts (via projected volumes)',
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
};

/**
 * A static pod must run without the API server, so it may not name API objects
 * (feature gate PreventStaticPodAPIReferences, on by default). All such fields, each with the kind of object. With the gate off
 * only trust bundles and resource claims are refused.
 */
export function apiReferences(pod: Pod, prevent = true): FieldProblem[] {
  if (!pod.spec) return [];
  if (!prevent) return [...neverAllowed(pod.spec)];
  return [...references(pod.spec)].map(([field, resource]) => ({
    field,
    problem: `Forbidden: static pods may not reference ${resource}`,
    accepted: 'fields that need no object of the API server, e.g. a hostPath volume or plain values',
  }));
}

function* references(spec: Spec): Generator<[field: string, resource: string]> {
  if (spec.serviceAccountName) yield ['spec.serviceAccountName', 'serviceaccounts'];
  if (spec.imagePullSecrets?.length) yield ['spec.imagePullSecrets', 'secrets'];
  for (const kind of ['initContainers', 'containers'] as const) {
    for (const [i, container] of (spec[kind] ?? []).entries()) {
      const at = `spec.${kind}[${i}]`;
      for (const [k, from] of (container.envFrom ?? []).entries()) {
        if (from.secretRef) yield [`${at}.envFrom[${k}].secretRef`, 'secrets'];
        if (from.configMapRef) yield [`${at}.envFrom[${k}].configMapRef`, 'configmaps'];
      }
      for (const [k, { valueFrom }] of (container.env ?? []).entries()) {
        if (valueFrom?.secretKeyRef) yield [`${at}.env[${k}].valueFrom.secretKeyRef`, 'secrets'];
        if (valueFrom?.configMapKeyRef) yield [`${at}.env[${k}].valueFrom.configMapKeyRef`, 'configmaps'];
      }
    }
  }
  if (spec.resourceClaims?.length) yield ['spec.resourceClaims', 'resourceclaims'];
  for (const [i, volume] of (spec.volumes ?? []).entries()) {
    const at = `spec.volumes[${i}]`;
    for (const [kind, resource] of Object.entries(API_VOLUMES)) {
      if (volume[kind as keyof Volume] !== undefined) yield [`${at}.${kind}`, resource];
    }
    for (const [k, source] of (volume.projected?.sources ?? []).entries()) {
      for (const [kind, resource] of Object.entries(API_PROJECTIONS)) {
        if (source[kind as keyof typeof source] !== undefined)
          yield [`${at}.projected.sources[${k}].${kind}`, resource];
      }
    }
    const storage = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'] as const;
    for (const kind of storage) if (volume[kind]?.secretRef) yield [`${at}.${kind}.secretRef`, 'secrets'];
  }
}

function* neverAllowed(spec: Spec): Generator<FieldProblem> {
  const accepted = 'fields that need no object of the API server';
  for (const [i, volume] of (spec.volumes ?? []).entries()) {
    for (const [k, { clusterTrustBundle }] of (volume.projected?.sources ?? []).entries()) {
      const field = `spec.volumes[${i}].projected.sources[${k}].clusterTrustBundle`;
      const problem = 'static pods may not use ClusterTrustBundle projected volume sources';
      if (clusterTrustBundle !== undefined) yield { field, problem, accepted };
    }
  }
  if (spec.resourceClaims?.length)
    yield { field: 'spec.resourceClaims', problem: 'static pods may not use ResourceClaims', accepted };
}
