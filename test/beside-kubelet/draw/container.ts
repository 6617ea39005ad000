import type { Draws } from './draws.ts';
import { drawnEnvironment } from './environment.ts';
import { drawnHttpGet, drawnProbe } from './probes.ts';
import { drawnSecurity } from './security.ts';

/** What a container is for; each may have other fields. */
export type Role = 'init' | 'sidecar' | 'app';

const IMAGES = ['busybox', 'docker.io/library/busybox:1.36', 'registry.example/app:v1', 'late.example/app:v1'];
/** What a container that never pulls may name: an image that is there, and one that no other container has pulled for it. */
const UNPULLED_IMAGES = ['registry.example/app:v1', 'unpulled.example/app:v1'];
/** Images that cannot be had: not to be pulled, not a name. */
const BROKEN_IMAGES = ['missing.example/app:v1', 'Not A Name'];

/** A container of a drawn pod, without `name`. */
export function drawnContainer(d: Draws, role: Role, mounts: readonly string[]): Record<string, unknown> {
  const servesProbes = role !== 'init';
  return {
    image: d.chance(0.06) ? d.one(BROKEN_IMAGES) : d.one(IMAGES),
    ...d.maybe(0.2, () => ({ imagePullPolicy: d.one(['Always', 'IfNotPresent']) })),
    ...d.maybe(0.1, () => ({ imagePullPolicy: 'Never', image: d.one(UNPULLED_IMAGES) })),
    ...d.maybe(0.6, () => ({ command: d.one([['run'], ['sh', '-c', 'echo $(GREETING) $$(GREETING) $(NONE)']]) })),
    ...d.maybe(0.4, () => ({ args: ['--name=$(POD_NAME)', '$(GREETING)'] })),
    ...d.maybe(0.1, () => ({ workingDir: '/work' })),
    ...d.maybe(0.1, () => ({ stdin: true, ...d.maybe(0.5, () => ({ stdinOnce: true })) })),
    ...d.maybe(0.1, () => ({ tty: true })),
    ...drawnEnvironment(d),
    ...d.maybe(0.5, () => ({ resources: drawnResources(d) })),
    ...d.maybe(0.4, () => ({ securityContext: drawnSecurity(d) })),
    ...d.maybe(0.3, () => ({ ports: drawnPorts(d) })),
    ...d.maybe(0.15, () => ({ terminationMessagePath: '/dev/other-log' })),
    ...d.maybe(0.2, () => ({ terminationMessagePolicy: d.one(['File', 'FallbackToLogsOnError']) })),
    ...(mounts.length > 0 && { volumeMounts: drawnMounts(d, mounts) }),
    ...(role === 'sidecar' && { restartPolicy: 'Always' }),
    ...(role !== 'sidecar' && d.maybe(0.15, () => drawnRestarts(d, role))),
    ...(servesProbes && d.maybe(0.35, () => ({ readinessProbe: drawnProbe(d, 'ready') }))),
    ...(servesProbes && d.maybe(0.25, () => ({ livenessProbe: drawnProbe(d, 'live') }))),
    ...(servesProbes && d.maybe(0.2, () => ({ startupProbe: drawnProbe(d, 'started') }))),
    ...(servesProbes && d.maybe(0.25, () => ({ lifecycle: drawnLifecycle(d) }))),
  };
}

/** A container's own policy of restarts, with or without rules (KEP-5307). */
function drawnRestarts(d: Draws, role: Role): Record<string, unknown> {
  const restartPolicy = d.one(role === 'init' ? ['Never', 'OnFailure'] : ['Never', 'OnFailure', 'Always']);
  const exitCodes = { operator: d.one(['In', 'NotIn']), values: d.one([[7], [1, 3]]) };
  return { restartPolicy, ...d.maybe(0.6, () => ({ restartPolicyRules: [{ action: 'Restart', exitCodes }] })) };
}

function drawnResources(d: Draws): Record<string, unknown> {
  const cpu = d.one(['5m', '10m', '0.02', '20m']);
  const memory = d.one(['16Mi', '20M', '64Mi']);
  return {
    ...d.maybe(0.7, () => ({ requests: { ...d.maybe(0.7, () => ({ cpu })), ...d.maybe(0.7, () => ({ memory })) } })),
    ...d.maybe(0.5, () => ({
      limits: {
        ...d.maybe(0.7, () => ({ cpu: d.one([cpu, '40m']) })),
        ...d.maybe(0.7, () => ({ memory: d.one([memory, '128Mi']) })),
        ...d.maybe(0.2, () => ({ 'ephemeral-storage': '100Mi' })),
      },
    })),
  };
}

function drawnPorts(d: Draws): unknown[] {
  const port = d.between(1000, 9000);
  return [
    { containerPort: port, ...d.maybe(0.5, () => ({ name: `p${String(port)}` })) },
    ...(d.chance(0.3) ? [{ containerPort: port, protocol: 'UDP' }] : []),
  ];
}

function drawnMounts(d: Draws, names: readonly string[]): unknown[] {
  return d.some(names, 0.7).map((name) => ({
    name,
    mountPath: `/mnt/${name}`,
    ...d.maybe(0.25, () => ({
      readOnly: true,
      ...d.maybe(0.4, () => ({ recursiveReadOnly: d.one(['Disabled', 'IfPossible', 'Enabled']) })),
    })),
    ...d.maybe(0.15, () => ({ mountPropagation: d.one(['None', 'HostToContainer']) })),
    ...(name.startsWith('empty') &&
      d.maybe(0.3, () => (d.chance(0.5) ? { subPath: 'below/it' } : { subPathExpr: '$(POD_NAME)' }))),
  }));
}

function drawnLifecycle(d: Draws): Record<string, unknown> {
  return {
    ...d.maybe(0.5, () => ({
      postStart: d.one([
        { exec: { command: ['hook', 'good'] } },
        { exec: { command: ['hook', 'bad'] } },
        { sleep: { seconds: 1 } },
        { httpGet: drawnHttpGet(d) },
      ]),
    })),
    ...d.maybe(0.6, () => ({
      preStop: d.one([
        ...[{ exec: { command: ['hook', 'good'] } }, { exec: { command: ['hook', 'bad'] } }],
        ...[
          { exec: { command: ['hook', 'long'] } },
          { sleep: { seconds: 2 } },
          { httpGet: { path: '/stop', port: 9090 } },
          { httpGet: drawnHttpGet(d) },
        ],
      ]),
    })),
    ...d.maybe(0.1, () => ({ stopSignal: 'SIGUSR1' })),
  };
}
