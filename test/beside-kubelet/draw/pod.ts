import { drawnContainer } from './container.ts';
import type { Role } from './container.ts';
import { Draws } from './draws.ts';
import { drawnPodSecurity } from './security.ts';
import { drawnVolumes } from './volumes.ts';

/** A pod to create on a node, as the API takes it (its namespace and node are set by whom it is created for). */
export interface DrawnPod {
  apiVersion: 'v1';
  kind: 'Pod';
  metadata: { name: string; labels: Record<string, string>; annotations: Record<string, string> };
  spec: Record<string, unknown>;
}

/** The pod of this number; what its containers do stands in their names' middle (`app-0-runs`), which `behaviour.ts` knows. */
export function drawnPod(seed: number, number: number): DrawnPod {
  const d = new Draws(seed, `pod-${String(number)}`);
  const volumes = d.chance(0.5) ? drawnVolumes(d) : [];
  const mounts = volumes.map(({ name }) => name);
  const restartPolicy = d.one(['Always', 'Always', 'OnFailure', 'Never']);
  const inits = Array.from({ length: d.one([0, 0, 1, 2]) }, (_, i): [Role, number] => [
    d.chance(0.4) ? 'sidecar' : 'init',
    i,
  ]);
  const apps = Array.from({ length: d.one([1, 1, 2, 3]) }, (_, i): [Role, number] => ['app', i]);
  const container = ([role, i]: [Role, number]): Record<string, unknown> => ({
    name: `${role}-${String(i)}-${drawnEnd(d, role)}`,
    ...drawnContainer(d, role, mounts),
  });
  const hostNetwork = d.chance(0.1);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `p${String(number)}`,
      labels: { app: `a${String(d.between(1, 3))}`, 'example.com/tier': 'back' },
      annotations: { note: 'a "quoted" note\nof two lines' },
    },
    spec: {
      restartPolicy,
      ...(inits.length > 0 && { initContainers: inits.map(container) }),
      containers: apps.map(container),
      ...(volumes.length > 0 && { volumes }),
      ...d.maybe(0.4, () => ({ securityContext: drawnPodSecurity(d) })),
      ...d.maybe(0.7, () => ({ terminationGracePeriodSeconds: d.between(0, 4) })),
      automountServiceAccountToken: d.chance(0.2),
      ...d.maybe(0.1, () => ({
        resources: d.one([{ requests: { cpu: '30m' } }, { limits: { cpu: '60m', memory: '400Mi' } }]),
      })),
      ...(!hostNetwork && d.maybe(0.06, () => ({ hostUsers: false }))),
      ...(hostNetwork && { hostNetwork }),
      ...d.maybe(0.08, () => ({ hostPID: true })),
      ...d.maybe(0.08, () => ({ hostIPC: true })),
      ...d.maybe(0.1, () => ({ shareProcessNamespace: true })),
      ...d.maybe(0.15, () => ({ hostname: 'own-name', ...d.maybe(0.6, () => ({ subdomain: 'below' })) })),
      ...d.maybe(0.1, () => ({ setHostnameAsFQDN: true })),
      ...d.maybe(0.1, () => ({ hostAliases: [{ ip: '10.1.2.3', hostnames: ['one', 'two'] }] })),
      ...d.maybe(0.3, () => drawnDns(d)),
      ...d.maybe(0.2, () => ({ enableServiceLinks: false })),
      ...d.maybe(0.08, () => ({ activeDeadlineSeconds: d.between(5, 12) })),
      ...d.maybe(0.1, () => ({ runtimeClassName: d.one(['sandboxed', 'sandboxed', 'sandboxed', 'unknown']) })),
      ...d.maybe(0.1, () => ({ readinessGates: [{ conditionType: 'example.com/gate' }] })),
      ...d.maybe(0.04, () => ({ nodeSelector: { 'example.com/none': 'such' } })),
      ...d.maybe(0.04, () => ({ os: { name: d.one(['linux', 'windows']) } })),
    },
  };
}

function drawnEnd(d: Draws, role: Role): string {
  if (role === 'init') return d.one(['ends', 'ends', 'ends', 'fails-once', 'fails']);
  return d.one(['runs', 'runs', 'runs', 'runs', 'ends', 'fails', 'fails-once', 'ignores', 'unstartable']);
}

function drawnDns(d: Draws): Record<string, unknown> {
  const dnsConfig = {
    nameservers: ['10.9.9.9'],
    searches: ['example.com'],
    options: [{ name: 'ndots', value: '3' }, { name: 'edns0' }],
  };
  return d.one<Record<string, unknown>>([
    { dnsPolicy: 'Default' },
    { dnsPolicy: 'ClusterFirstWithHostNet' },
    { dnsPolicy: 'None', dnsConfig },
    { dnsConfig },
  ]);
}
