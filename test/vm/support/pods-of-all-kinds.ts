import type { Container, Pod, PodSpec } from '../../../machines/protocol/api-types.ts';

const IMAGE = 'localhost/actorlet/busybox:1';
/** Goes on until it is told to end, and ends at once then: nothing waits for it when the machine goes down. */
const STAYS = "trap 'exit 143' TERM; sleep 1000000 & wait";
/** Both kinds of emptyDir, with a line of each start: whose they are is seen from outside. */
const NOTES = 'echo $NAME >> /disk/starts; echo $NAME >> /memory/starts; ';

/** How each of them is to run before anything happens: phase, and its containers, `init: exit 0` or `main: runs`. */
export interface KindOfPod {
  readonly pod: Pod;
  readonly phase: string;
  readonly containers: readonly string[];
}

/**
 * Static pods of all kinds that a boot treats in different ways, as few as show them all: an emulator takes ten seconds for each
 * sandbox and each container.
 */
export const KINDS: readonly KindOfPod[] = [
  kind('always', 'Always', [container('main', NOTES + STAYS)], [], 'Running', ['main: runs']),
  kind('onfailure', 'OnFailure', [container('done', NOTES), container('stays', NOTES + STAYS)], [], 'Running', [
    'done: exit 0',
    'stays: runs',
  ]),
  kind(
    'never',
    'Never',
    [container('done', NOTES), container('stays', NOTES + STAYS)],
    [container('init', NOTES)],
    'Running',
    ['init: exit 0', 'done: exit 0', 'stays: runs'],
  ),
  kind('never-done', 'Never', [container('main', NOTES)], [], 'Succeeded', ['main: exit 0']),
  kind(
    'init-and-sidecar',
    'Always',
    [container('main', NOTES + STAYS)],
    [container('init', NOTES), { ...container('sidecar', NOTES + STAYS), restartPolicy: 'Always' }],
    'Running',
    ['init: exit 0', 'sidecar: runs', 'main: runs'],
  ),
];

function container(name: string, script: string): Container {
  return {
    ...{ name, image: IMAGE, imagePullPolicy: 'Never', command: ['sh', '-c', script] },
    env: [{ name: 'NAME', value: name }],
    volumeMounts: [
      { name: 'disk', mountPath: '/disk' },
      { name: 'memory', mountPath: '/memory' },
    ],
  };
}

function kind(
  name: string,
  restartPolicy: string,
  containers: Container[],
  initContainers: Container[],
  phase: string,
  told: readonly string[],
): KindOfPod {
  const spec: PodSpec = {
    ...{ restartPolicy, terminationGracePeriodSeconds: 5, initContainers, containers },
    volumes: [
      { name: 'disk', emptyDir: {} },
      { name: 'memory', emptyDir: { medium: 'Memory' } },
    ],
  };
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec };
  return { pod, phase, containers: told };
}
