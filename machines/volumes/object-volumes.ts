import type { Pod, Volume } from '../protocol/api-types.ts';
import type { ObjectFiles, ProjectedSource, VolumeSetup } from '../protocol/effects.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { downwardFiles } from './downward-files.ts';
import { aggregate } from '../values/aggregate.ts';

/** Mode of files where the volume says none: the API's default. */
export const FILE_MODE = 0o644;

/** Seconds that a projected token lives where the source says nothing: the API's default. */
const TOKEN_SECONDS = 3600;

interface KeyItem {
  key: string;
  path: string;
  mode?: number;
}

type Source = NonNullable<NonNullable<Volume['projected']>['sources']>[number];
type Of<K extends keyof Source> = NonNullable<Source[K]>;

/** Volume `configMap`. */
export function configMapSetup(name: string, source: NonNullable<Volume['configMap']>): VolumeSetup {
  const { defaultMode = FILE_MODE, items, optional } = source;
  return { name, kind: 'configMap', defaultMode, ...objectFiles(source.name, items, optional) };
}

/** Volume `secret`. */
export function secretSetup(name: string, source: NonNullable<Volume['secret']>): VolumeSetup {
  const { secretName, defaultMode = FILE_MODE, items, optional } = source;
  return { name, kind: 'secret', defaultMode, ...objectFiles(secretName, items, optional) };
}

/** Volume `projected` with its sources in order, so that a later one wins where two make the same file. A string: why not. */
export function projectedSetup(
  pod: Pod,
  name: string,
  projected: NonNullable<Volume['projected']>,
  settings: NodeSettings,
): VolumeSetup | string {
  const defaultMode = projected.defaultMode ?? FILE_MODE;
  const sources: ProjectedSource[] = [];
  const faults: string[] = [];
  for (const [index, source] of (projected.sources ?? []).entries()) {
    const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
    if (secret) sources.push({ kind: 'secret', ...objectFiles(secret.name, secret.items, secret.optional) });
    else if (configMap)
      sources.push({ kind: 'configMap', ...objectFiles(configMap.name, configMap.items, configMap.optional) });
    else if (downwardAPI) {
      const found = downwardFiles(pod, downwardAPI.items, defaultMode, settings);
      faults.push(...found.faults);
      sources.push({ kind: 'downwardAPI', files: found.files });
    } else if (serviceAccountToken) {
      const { audience = '', expirationSeconds = TOKEN_SECONDS, path } = serviceAccountToken;
      sources.push({ kind: 'serviceAccountToken', audience, expirationSeconds, path });
    } else if (clusterTrustBundle) {
      const made = trustBundleSource(clusterTrustBundle);
      if (typeof made === 'string') faults.push(made);
      else sources.push(made);
    } else if (podCertificate) sources.push(certificateSource(podCertificate, index));
  }
  if (faults.length > 0) return aggregate(faults);
  return { name, kind: 'projected', defaultMode, sources };
}

function trustBundleSource(source: Of<'clusterTrustBundle'>): ProjectedSource | string {
  const { name, signerName, labelSelector, optional = false, path } = source;
  if (name !== undefined) return { kind: 'clusterTrustBundle', name, optional, path };
  if (signerName === undefined) return 'ClusterTrustBundle projection requires either name or signerName to be set';
  return { kind: 'clusterTrustBundle', signerName, optional, path, ...(labelSelector && { labelSelector }) };
}

function certificateSource(source: Of<'podCertificate'>, index: number): ProjectedSource {
  const { credentialBundlePath, keyPath, certificateChainPath } = source;
  return {
    ...{ kind: 'podCertificate', index },
    ...(credentialBundlePath && { bundlePath: credentialBundlePath }),
    ...(keyPath && { keyPath }),
    ...(certificateChainPath && { chainPath: certificateChainPath }),
  };
}

function objectFiles(
  object: string | undefined,
  items: KeyItem[] | undefined,
  optional: boolean | undefined,
): ObjectFiles {
  const out: ObjectFiles = { object: object ?? '', optional: optional ?? false };
  if (items && items.length > 0) {
    out.items = items.map(({ key, path, mode }) => (mode === undefined ? { key, path } : { key, path, mode }));
  }
  return out;
}
