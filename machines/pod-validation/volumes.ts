import type { Pod, Volume } from '../protocol/api-types.ts';
import { parseQuantity } from '../values/quantity.ts';
import { fieldRef, resourceRef } from './environment.ts';
import { dnsLabel, named, noBacksteps, unreservedPath } from './names.ts';
import { duplicate, forbidden, invalid, notSupported, type Problems, required } from './problem.ts';
import { VOLUME_SOURCES } from './volume-shape.ts';

type DownwardItem = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number];
type KeyPath = NonNullable<NonNullable<Volume['configMap']>['items']>[number];
type Projection = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

const FILE_FIELDS = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];
const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];

function* mode(field: string, value: number | undefined): Problems {
  if (value !== undefined && (value < 0 || value > 0o777)) {
    yield invalid(field, value, 'must be a number between 0 and 0777 (octal), both inclusive');
  }
}

function* keyPaths(field: string, items: KeyPath[] | undefined): Problems {
  for (const [i, item] of (items ?? []).entries()) {
    if (!item.key) yield required(`${field}[${i}].key`);
    if (!item.path) yield required(`${field}[${i}].path`);
    else yield* unreservedPath(`${field}[${i}].path`, item.path);
    yield* mode(`${field}[${i}].mode`, item.mode);
  }
}

function* downwardItems(field: string, items: DownwardItem[] | undefined): Problems {
  for (const [i, item] of (items ?? []).entries()) {
    const at = `${field}[${i}]`;
    if (!item.path) yield required(`${at}.path`);
    else yield* unreservedPath(`${at}.path`, item.path);
    if (item.fieldRef) {
      yield* fieldRef(`${at}.fieldRef`, item.fieldRef, FILE_FIELDS);
      if (item.resourceFieldRef) {
        yield invalid(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
      }
    } else if (item.resourceFieldRef) yield* resourceRef(`${at}.resourceFieldRef`, item.resourceFieldRef, true);
    else yield required(at, 'one of fieldRef and resourceFieldRef is required');
    yield* mode(`${at}.mode`, item.mode);
  }
}

function* projection(field: string, source: Projection): Problems {
  const kinds = Object.keys(source);
  if (kinds.length === 0) yield required(field, 'one of the projected sources is required');
  for (const extra of kinds.slice(1))
    yield forbidden(`${field}.${extra}`, 'may not specify more than 1 volume type per source');
  for (const kind of ['configMap', 'secret'] as const) {
    const given = source[kind];
    if (given && !given.name) yield required(`${field}.${kind}.name`);
    yield* keyPaths(`${field}.${kind}.items`, given?.items);
  }
  yield* downwardItems(`${field}.downwardAPI.items`, source.downwardAPI?.items);
  const token = source.serviceAccountToken;
  if (token) {
    const seconds = token.expirationSeconds ?? 3600;
    if (seconds < 600)
      yield invalid(
        `${field}.serviceAccountToken.expirationSeconds`,
        seconds,
        'may not specify a duration less than 10 minutes',
      );
    if (!token.path) yield required(`${field}.serviceAccountToken.path`);
  }
}

/** Two files of a projected volume may not have the same path. */
function* projectedPaths(field: string, sources: Projection[]): Problems {
  const seen = new Set<string>();
  for (const [i, source] of sources.entries()) {
    const paths = [
      ...(source.configMap?.items ?? []).map((item) => item.path),
      ...(source.secret?.items ?? []).map((item) => item.path),
      ...(source.downwardAPI?.items ?? []).map((item) => item.path),
      ...[source.serviceAccountToken?.path, source.clusterTrustBundle?.path].filter((path) => path !== undefined),
    ];
    for (const path of paths) {
      if (seen.has(path)) yield invalid(`${field}[${i}]`, path, 'conflicting duplicate paths');
      seen.add(path);
    }
  }
}

function* source(at: string, volume: Volume): Problems {
  const { emptyDir, hostPath, configMap, secret, downwardAPI, projected, image, nfs, persistentVolumeClaim } = volume;
  const size = emptyDir?.sizeLimit === undefined ? 0n : (parseQuantity(emptyDir.sizeLimit) ?? 0n);
  if (size < 0n) yield forbidden(`${at}.emptyDir.sizeLimit`, 'SizeLimit field must be a valid resource quantity');
  if (hostPath) {
    if (!hostPath.path) yield required(`${at}.hostPath.path`);
    else yield* noBacksteps(`${at}.hostPath.path`, hostPath.path);
    if (!HOST_PATH_TYPES.includes(hostPath.type ?? '')) {
      yield notSupported(`${at}.hostPath.type`, hostPath.type, HOST_PATH_TYPES);
    }
  }
  if (configMap && !configMap.name) yield required(`${at}.configMap.name`);
  yield* mode(`${at}.configMap.defaultMode`, configMap?.defaultMode);
  yield* keyPaths(`${at}.configMap.items`, configMap?.items);
  if (secret && !secret.secretName) yield required(`${at}.secret.secretName`);
  yield* mode(`${at}.secret.defaultMode`, secret?.defaultMode);
  yield* keyPaths(`${at}.secret.items`, secret?.items);
  yield* mode(`${at}.downwardAPI.defaultMode`, downwardAPI?.defaultMode);
  yield* downwardItems(`${at}.downwardAPI.items`, downwardAPI?.items);
  yield* mode(`${at}.projected.defaultMode`, projected?.defaultMode);
  for (const [i, item] of (projected?.sources ?? []).entries())
    yield* projection(`${at}.projected.sources[${i}]`, item);
  yield* projectedPaths(`${at}.projected.sources`, projected?.sources ?? []);
  if (image) {
    if (!image.reference) yield required(`${at}.image.reference`);
    if (!PULL_POLICIES.includes(image.pullPolicy ?? '')) {
      yield notSupported(`${at}.image.pullPolicy`, image.pullPolicy ?? '', PULL_POLICIES);
    }
  }
  if (nfs && !nfs.server) yield required(`${at}.nfs.server`);
  if (nfs && !nfs.path) yield required(`${at}.nfs.path`);
  else if (nfs && !nfs.path.startsWith('/')) yield invalid(`${at}.nfs.path`, nfs.path, 'must be an absolute path');
  if (persistentVolumeClaim && !persistentVolumeClaim.claimName)
    yield required(`${at}.persistentVolumeClaim.claimName`);
}

/** `spec.volumes`: names, exactly one source each, and the source's own fields. */
export function* volumesOf(spec: NonNullable<Pod['spec']>): Problems {
  const names = new Set<string>();
  for (const [i, volume] of (spec.volumes ?? []).entries()) {
    const at = `spec.volumes[${i}]`;
    if (!volume.name) yield required(`${at}.name`);
    else yield* named(`${at}.name`, volume.name, dnsLabel);
    if (names.has(volume.name)) yield duplicate(`${at}.name`, volume.name);
    names.add(volume.name);
    const kinds = Object.keys(volume).filter((key) => key in VOLUME_SOURCES);
    if (kinds.length === 0) yield required(at, 'must specify a volume type');
    for (const extra of kinds.slice(1)) yield forbidden(`${at}.${extra}`, 'may not specify more than 1 volume type');
    yield* source(at, volume);
    for (const [k, item] of (volume.projected?.sources ?? []).entries()) {
      if (item.serviceAccountToken && !spec.serviceAccountName) {
        yield forbidden(
          `${at}.projected.sources[${k}].serviceAccountToken`,
          'must not be specified when serviceAccountName is not set',
        );
      }
    }
  }
}
