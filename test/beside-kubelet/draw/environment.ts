import type { Draws } from './draws.ts';

/** `env` and `envFrom` of a container: each source there is, now and then one that is missing. */
export function drawnEnvironment(d: Draws): Record<string, unknown> {
  const env: unknown[] = [
    ...d.some<unknown>(
      [
        { name: 'GREETING', value: 'hello $(POD_NAME)' },
        { name: 'EMPTY' },
        { name: 'TWICE', value: '$(GREETING)-$$(GREETING)' },
      ],
      0.5,
    ),
    ...d.some(FIELDS, 0.15).map((fieldPath, i) => ({
      name: i === 0 ? 'POD_NAME' : `F${String(i)}`,
      valueFrom: { fieldRef: { fieldPath } },
    })),
    ...d.some(RESOURCES, 0.1).map((resource, i) => ({
      name: `R${String(i)}`,
      valueFrom: {
        resourceFieldRef: { resource, ...d.maybe(0.4, () => ({ divisor: resource.includes('cpu') ? '1m' : '1Mi' })) },
      },
    })),
    ...(d.chance(0.25) ? [{ name: 'FROM_MAP', valueFrom: { configMapKeyRef: drawnKey(d, 'settings') } }] : []),
    ...(d.chance(0.25) ? [{ name: 'FROM_SECRET', valueFrom: { secretKeyRef: drawnKey(d, 'hidden') } }] : []),
    ...(d.chance(0.2) ? [{ name: 'GREETING', value: 'again' }] : []),
  ];
  return {
    ...(env.length > 0 && { env }),
    ...d.maybe(0.2, () => ({
      envFrom: [
        {
          ...d.maybe(0.5, () => ({ prefix: 'P_' })),
          ...(d.chance(0.5) ? { configMapRef: drawnName(d, 'settings') } : { secretRef: drawnName(d, 'hidden') }),
        },
      ],
    })),
  };
}

const FIELDS = [
  ...['metadata.name', 'metadata.namespace', "metadata.labels['app']", "metadata.annotations['note']"],
  ...['spec.serviceAccountName', 'status.podIP', 'status.podIPs', 'status.hostIP', 'spec.nodeName', 'metadata.uid'],
];
const RESOURCES = ['limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory', 'limits.ephemeral-storage'];

function drawnName(d: Draws, name: string): Record<string, unknown> {
  const missing = d.chance(0.12);
  return { name: missing ? `no-${name}` : name, ...d.maybe(missing ? 0.5 : 0.2, () => ({ optional: true })) };
}

function drawnKey(d: Draws, name: string): Record<string, unknown> {
  return { ...drawnName(d, name), key: d.chance(0.1) ? 'absent' : d.one(['plain', 'dotted.key']) };
}
