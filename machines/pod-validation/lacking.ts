import { type Problems, required } from './problem.ts';

/** Fields that no value of these fields, or item of these lists, lacks: in Go they are no pointers, and not `omitempty`. */
const NEEDED: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    initContainers: ['name'],
    containers: ['name'],
    ephemeralContainers: ['name'],
    env: ['name'],
    volumeMounts: ['name', 'mountPath'],
    volumeDevices: ['name', 'devicePath'],
    volumes: ['name'],
    ports: ['containerPort'],
    httpGet: ['port'],
    tcpSocket: ['port'],
    grpc: ['port'],
    httpHeaders: ['name'],
    sleep: ['seconds'],
    fieldRef: ['fieldPath'],
    resourceFieldRef: ['resource'],
    secretKeyRef: ['key'],
    configMapKeyRef: ['key'],
    items: ['path'],
    hostPath: ['path'],
    persistentVolumeClaim: ['claimName'],
    serviceAccountToken: ['path'],
    seccompProfile: ['type'],
    appArmorProfile: ['type'],
    sysctls: ['name'],
    matchExpressions: ['key', 'operator'],
    matchFields: ['key', 'operator'],
    conditions: ['type', 'status'],
    taints: ['key', 'effect'],
    addresses: ['type', 'address'],
    containerStatuses: ['name'],
    initContainerStatuses: ['name'],
    ephemeralContainerStatuses: ['name'],
  }),
);

/** What no server leaves out, and `null` in a list, which Go reads as an empty value and no server writes. */
export function* lacking(value: unknown, path = '', field = ''): Problems {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      if (item === null) yield required(`${path}[${i}]`);
      else yield* lacking(item, `${path}[${i}]`, field);
    }
    return;
  }
  const object = value as Record<string, unknown>;
  for (const name of NEEDED.get(field) ?? []) if (object[name] == null) yield required(`${path}.${name}`);
  for (const [key, item] of Object.entries(object)) {
    if (key !== 'managedFields') yield* lacking(item, path === '' ? key : `${path}.${key}`, key);
  }
}

/** Would {@link lacking} name anything? */
export function lacks(value: unknown, field = ''): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (item === null || lacks(item, field)) return true;
    return false;
  }
  const object = value as Record<string, unknown>;
  const needed = NEEDED.get(field);
  if (needed !== undefined) for (const name of needed) if (object[name] == null) return true;
  for (const key of Object.keys(object)) if (key !== 'managedFields' && lacks(object[key], key)) return true;
  return false;
}
