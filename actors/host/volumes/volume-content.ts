import type {
  EffectCatalog,
  ObjectFiles,
  ProjectedSource,
  VolumeFile,
  VolumeOwner,
  VolumeSetup,
} from '../../../machines/protocol/effects.ts';
import { aggregate } from '../../../machines/values/aggregate.ts';
import type { Ask, ObjectContent } from '../../../machines/protocol/ask.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { ProjectedFile } from './atomic-writer.ts';
import { HostFailure, codeOf } from '../files/host-failure.ts';

/** Files of one volume by path. */
export type VolumeContent = Map<string, ProjectedFile>;

type SetUpParams = EffectCatalog['host.SetUpVolumes']['params'];
type ObjectKind = 'configMap' | 'secret';
type Source = ProjectedSource | ({ kind: ObjectKind } & ObjectFiles);
type Of<K extends ProjectedSource['kind']> = Extract<ProjectedSource, { kind: K }>;

/** The words that kubelet uses for a missing key. */
const MISSING_KEY: Record<ObjectKind, string> = {
  configMap: 'configmap references non-existent config key',
  secret: 'references non-existent secret key',
};

/**
 * Asks for all that the volumes of a pod show, each object once and all at the same time, and tells the files of each
 * volume. Volumes without files of ours are not in the answer. Failures are HostFailures in kubelet's words, and never
 * hold a value.
 */
export function volumeContents(
  { podUid, owner, fsGroup, volumes }: SetUpParams,
  ask: Ask | undefined,
): Map<string, Promise<VolumeContent>> {
  const objects = new Map<string, Promise<ObjectContent | null>>();
  const get = (kind: ObjectKind, name: string): Promise<ObjectContent | null> => {
    const key = `${kind}/${name}`;
    const asked = objects.get(key) ?? getObject(kind, name, owner.namespace, ask);
    objects.set(key, asked);
    return asked;
  };
  const filesOf = (source: Source, defaultMode: number, volume: string): Promise<VolumeContent> => {
    const own = (files: OwnFile[]): VolumeContent => ownFiles(files, owner, fsGroup, defaultMode);
    switch (source.kind) {
      case 'configMap':
      case 'secret':
        return get(source.kind, source.object).then((found) => objectFiles(source, found, defaultMode));
      case 'downwardAPI':
        return Promise.resolve(knownFiles(source.files));
      case 'serviceAccountToken':
        return tokenFile(source, podUid, owner, ask).then((file) => own([file]));
      case 'clusterTrustBundle':
        return trustFile(source, ask).then((file) => own([file]));
      case 'podCertificate':
        return certificateFiles(source, podUid, volume, ask).then(own);
    }
  };
  const out = new Map<string, Promise<VolumeContent>>();
  for (const volume of volumes) {
    const content = contentOf(volume, filesOf);
    if (content === undefined) continue;
    // A volume may fail while another one is waited for.
    content.catch(() => undefined);
    out.set(volume.name, content);
  }
  return out;
}

function contentOf(
  volume: VolumeSetup,
  filesOf: (source: Source, defaultMode: number, volume: string) => Promise<VolumeContent>,
): Promise<VolumeContent> | undefined {
  switch (volume.kind) {
    case 'downwardAPI':
      return Promise.resolve(knownFiles(volume.files));
    case 'configMap':
    case 'secret':
      return filesOf(volume, volume.defaultMode, volume.name);
    case 'projected':
      return allOf(volume.sources.map((source) => filesOf(source, volume.defaultMode, volume.name)));
    default:
      return undefined;
  }
}

/** A later source wins where two make the same file; all failures are told at once. */
async function allOf(sources: Promise<VolumeContent>[]): Promise<VolumeContent> {
  const out: VolumeContent = new Map();
  const faults: unknown[] = [];
  for (const source of await Promise.allSettled(sources)) {
    if (source.status === 'rejected') faults.push(source.reason);
    else for (const [path, file] of source.value) out.set(path, file);
  }
  if (faults.length === 0) return out;
  throw new HostFailure(codeOf(faults[0]) || 'Volume', aggregate(faults.map(messageOf)), { cause: faults[0] });
}

async function getObject(kind: ObjectKind, name: string, namespace: string, ask: Ask | undefined) {
  if (ask === undefined) throw new HostFailure('NoClient', 'not supported due to running kubelet in standalone mode');
  return (await ask('object.Get', { kind, namespace, name })).found;
}

function objectFiles(source: { kind: ObjectKind } & ObjectFiles, found: ObjectContent | null, defaultMode: number) {
  if (found === null && !source.optional)
    throw new HostFailure('NotFound', `${source.kind.toLowerCase()} ${JSON.stringify(source.object)} not found`);
  const values = new Map<string, string | Uint8Array>();
  for (const [key, value] of Object.entries(found?.binaryData ?? {})) values.set(key, Buffer.from(value, 'base64'));
  for (const [key, value] of Object.entries(found?.data ?? {})) values.set(key, value);
  const out: VolumeContent = new Map();
  if (source.items === undefined) {
    for (const [key, content] of values) out.set(key, { content, mode: defaultMode });
    return out;
  }
  for (const { key, path, mode } of source.items) {
    const content = values.get(key);
    if (content !== undefined) out.set(path, { content, mode: mode ?? defaultMode });
    else if (!source.optional) throw new HostFailure('NoKey', `${MISSING_KEY[source.kind]}: ${key}`);
  }
  return out;
}

function knownFiles(files: VolumeFile[]): VolumeContent {
  return new Map(files.map(({ path, content, mode }) => [path, { content, mode }]));
}

type OwnFile = [path: string, content: string];

/**
 * A token, a key or an authority is for the pod's user: the file is private, unless the fsGroup opens it to the group (0640).
 */
function ownFiles(
  files: OwnFile[],
  { runAsUser }: VolumeOwner,
  fsGroup: number | undefined,
  defaultMode: number,
): VolumeContent {
  const mode = runAsUser !== undefined || fsGroup !== undefined ? 0o600 : defaultMode;
  const uid = runAsUser === undefined ? {} : { uid: runAsUser };
  return new Map(files.map(([path, content]) => [path, { content, mode, ...uid }]));
}

async function tokenFile(
  { audience, expirationSeconds, path }: Of<'serviceAccountToken'>,
  podUid: string,
  { namespace, name, serviceAccount }: VolumeOwner,
  ask: Ask | undefined,
): Promise<OwnFile> {
  if (ask === undefined)
    throw new HostFailure('NoClient', 'cannot use TokenManager when kubelet is in standalone mode');
  const about = { namespace, serviceAccount, podName: name, podUid, audience, expirationSeconds };
  const { token } = await ask('token.Get', about);
  return [path, token];
}

async function trustFile(
  { kind: _kind, path, ...wish }: Of<'clusterTrustBundle'>,
  ask: Ask | undefined,
): Promise<OwnFile> {
  if (ask === undefined)
    throw new HostFailure('NoClient', 'ClusterTrustBundle projection is not supported in static kubelet mode');
  const { pem } = await ask('trustBundle.Get', wish);
  return [path, pem];
}

/** The bundle is the key followed by the certificates: one file, so that nobody reads a key and another's certificate. */
async function certificateFiles(
  { index, bundlePath, keyPath, chainPath }: Of<'podCertificate'>,
  podUid: string,
  volume: string,
  ask: Ask | undefined,
): Promise<OwnFile[]> {
  if (ask === undefined) throw new HostFailure('NoClient', 'unimplemented');
  const { key, chain } = await ask('podCertificate.Get', { podUid, volume, index });
  const files: [path: string | undefined, content: string][] = [
    [bundlePath, `${key}${chain}`],
    [keyPath, key],
    [chainPath, chain],
  ];
  return files.filter((file): file is OwnFile => file[0] !== undefined);
}
