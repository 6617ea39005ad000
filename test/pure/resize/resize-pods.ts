import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import type { Requirements } from '../../../machines/protocol/requirements.ts';

/** A container whose limits are its requests. */
export function sized(name: string, cpu: string, memory: string, over: Partial<Container> = {}): Container {
  const amounts = { cpu, memory };
  return { name, image: 'img:1', resources: { requests: { ...amounts }, limits: { ...amounts } }, ...over };
}

/** A pod of the API with these containers. @param whole what is asked for the whole pod */
export function apiPod(containers: Container[], generation = 1, uid = 'u1', whole?: Requirements): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid,
      generation,
      annotations: { 'kubernetes.io/config.source': 'api' },
    },
    spec: { restartPolicy: 'Always', terminationGracePeriodSeconds: 1, containers, ...(whole && { resources: whole }) },
  };
}
