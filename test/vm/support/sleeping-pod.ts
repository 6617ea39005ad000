import type { Container, Pod } from '../../../machines/protocol/api-types.ts';

/** A pod of one container, `main`, that sleeps; it is gone a second after it is told to end. */
export function sleepingPod(name: string, resources: NonNullable<Container['resources']> = {}): Pod {
  const image = 'localhost/actorlet/busybox:1';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      // Nothing waits for what does not listen to SIGTERM.
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', image, command: ['sleep', '100000'], imagePullPolicy: 'Never', resources }],
    },
  };
}
