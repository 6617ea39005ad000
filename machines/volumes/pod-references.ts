import type { Pod, Volume } from '../protocol/api-types.ts';
import { allContainers } from './pod-containers.ts';

/** Names of API objects in the pod's namespace, each once, in the order in which the pod names them. */
export interface References {
  configMaps: string[];
  secrets: string[];
}

/**
 * The configMaps and secrets that a pod names anywhere: `imagePullSecrets`, environment, volumes (also of volume kinds
 * that other parts mount). What a persistent volume names is not among them.
 */
export function podReferences(pod: Pod): References {
  const configMaps: (string | undefined)[] = [];
  const secrets: (string | undefined)[] = [];
  for (const { name } of pod.spec?.imagePullSecrets ?? []) secrets.push(name);
  for (const { envFrom, env } of allContainers(pod)) {
    for (const { configMapRef, secretRef } of envFrom ?? []) {
      configMaps.push(configMapRef?.name);
      secrets.push(secretRef?.name);
    }
    for (const { valueFrom } of env ?? []) {
      configMaps.push(valueFrom?.configMapKeyRef?.name);
      secrets.push(valueFrom?.secretKeyRef?.name);
    }
  }
  const shown = volumeReferences(pod);
  const drivers = (pod.spec?.volumes ?? []).map(driverSecret);
  return {
    configMaps: names([...configMaps, ...shown.configMaps]),
    secrets: names([...secrets, ...shown.secrets, ...drivers]),
  };
}

/** The configMaps and secrets whose content the pod's volumes show: a change of one changes files of the pod. */
export function volumeReferences(pod: Pod): References {
  const configMaps: (string | undefined)[] = [];
  const secrets: (string | undefined)[] = [];
  for (const { configMap, secret, projected } of pod.spec?.volumes ?? []) {
    configMaps.push(configMap?.name, ...(projected?.sources ?? []).map((source) => source.configMap?.name));
    secrets.push(secret?.secretName, ...(projected?.sources ?? []).map((source) => source.secret?.name));
  }
  return { configMaps: names(configMaps), secrets: names(secrets) };
}

/** The secret with which a volume driver of the node signs in. */
function driverSecret(volume: Volume): string | undefined {
  const { azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos, csi } = volume;
  return (
    azureFile?.secretName ??
    (cephfs ?? cinder ?? flexVolume ?? rbd ?? scaleIO ?? iscsi ?? storageos)?.secretRef?.name ??
    csi?.nodePublishSecretRef?.name
  );
}

function names(found: (string | undefined)[]): string[] {
  return [...new Set(found.filter((name): name is string => name !== undefined && name !== ''))];
}
