import { BUSYBOX_IMAGE } from '../../cri/private-containerd/own-images.ts';

/** What the containers write to their logs: `--check` looks for each. */
export const EXPECTED_LOG_LINES: Readonly<Record<string, string>> = {
  prepare: 'prepare: wrote the greeting',
  web: 'web: serving "hello from actorlet"',
  clock: 'clock: tick 1',
};

/** The containers in the order in which they start; the first is the init container. */
export const DEMO_CONTAINERS = ['prepare', 'web', 'clock'] as const;

// a shell as pid 1 ignores SIGTERM unless it traps it, and acts on it only between commands: hence `wait`
const TRAP = 'trap "kill $!; exit 0" TERM';

/** The manifest of the demo pod: an init container, two containers, a volume they share, and a readiness probe. */
export function demoPod(name: string): object {
  const container = (containerName: string, script: string, more: object = {}) => ({
    name: containerName,
    image: BUSYBOX_IMAGE,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', script],
    volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
    resources: { requests: { cpu: '10m', memory: '8Mi' }, limits: { memory: '64Mi' } },
    ...more,
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: { app: 'actorlet-demo' } },
    spec: {
      terminationGracePeriodSeconds: 5,
      volumes: [{ name: 'shared', emptyDir: {} }],
      initContainers: [
        container('prepare', 'echo "hello from actorlet" > /shared/index.html; echo "prepare: wrote the greeting"'),
      ],
      containers: [
        container(
          'web',
          `${TRAP}; echo "web: serving \\"$(cat /shared/index.html)\\""; httpd -f -p 8080 -h /shared & wait $!`,
          { readinessProbe: { httpGet: { port: 8080, path: '/' }, periodSeconds: 1 } },
        ),
        container('clock', `${TRAP}; n=0; while :; do n=$((n+1)); echo "clock: tick $n"; sleep 1 & wait $!; done`),
      ],
    },
  };
}
