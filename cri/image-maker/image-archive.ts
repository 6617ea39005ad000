import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

/** The `config` of an OCI image: https://github.com/opencontainers/image-spec/blob/main/config.md. */
export interface ImageConfig {
  Entrypoint?: string[];
  Cmd?: string[];
  Env?: string[];
  User?: string;
  WorkingDir?: string;
  StopSignal?: string;
  Labels?: Record<string, string>;
  /** `10250/tcp`, for those who look; it opens nothing. */
  ExposedPorts?: Record<string, Record<string, never>>;
}

/** One image of an archive: its full reference (`localhost/actorlet/busybox:1`), config and layers (tar, not compressed). */
export interface ImageSource {
  ref: string;
  config: ImageConfig;
  layers: Buffer[];
  /** As Go names it (`amd64`); this process's without it. */
  architecture?: string;
  /** When it was made; nothing is said without it. */
  created?: Date;
}

/** How an archive is made. */
export interface ArchiveOptions {
  /** Of gzip, 1 to 9; 1 without it. */
  level?: number;
  /**
   * Adds the list that Docker had before OCI's layout, `manifest.json`, over the same blobs. Docker's classic store finds nothing to load
   * without it; whoever knows the layout looks at `index.json` alone. Docker's own `docker save` writes both.
   */
  forDocker?: boolean;
}

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const ARCHITECTURES: Readonly<Record<string, string>> = {
  x64: 'amd64',
  arm64: 'arm64',
  arm: 'arm',
  riscv64: 'riscv64',
};

/**
 * An OCI image archive (image layout in a tar) with all given images, ready for `ctr images import`. Layers that
 * images share are stored once. Same input, same bytes.
 */
export async function imageArchive(
  images: readonly ImageSource[],
  { level = 1, forDocker = false }: ArchiveOptions = {},
): Promise<Buffer> {
  const blobs = new Map<string, Buffer>();
  const put = (content: Buffer) => {
    const digest = sha256(content);
    blobs.set(digest, content);
    return { digest: `sha256:${digest}`, size: content.length };
  };
  const layers = new Map<string, { digest: string; size: number }>();
  const putLayer = (tar: Buffer) => {
    const diff = sha256(tar);
    const known = layers.get(diff);
    const blob = known ?? put(gzipSync(tar, { level }));
    layers.set(diff, blob);
    return { diff: `sha256:${diff}`, blob };
  };

  const dockers: object[] = [];
  const manifests = images.map(({ ref, config, layers: tars, architecture, created }) => {
    const stored = tars.map(putLayer);
    const time = created === undefined ? {} : { created: created.toISOString() };
    const configBlob = put(
      json({
        ...time,
        architecture: architecture ?? ARCHITECTURES[process.arch] ?? process.arch,
        os: 'linux',
        config,
        rootfs: { type: 'layers', diff_ids: stored.map(({ diff }) => diff) },
        history: stored.map(() => ({ ...time, created_by: 'actorlet image maker' })),
      }),
    );
    const manifest = put(
      json({
        schemaVersion: 2,
        mediaType: MANIFEST,
        config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...configBlob },
        layers: stored.map(({ blob }) => ({ mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', ...blob })),
      }),
    );
    dockers.push({
      Config: blobPath(configBlob.digest),
      RepoTags: [ref],
      Layers: stored.map(({ blob }) => blobPath(blob.digest)),
    });
    // containerd takes the whole reference from its own annotation; the standard one holds the tag only
    const annotations = {
      'io.containerd.image.name': ref,
      'org.opencontainers.image.ref.name': ref.slice(ref.lastIndexOf(':') + 1),
    };
    return { mediaType: MANIFEST, ...manifest, annotations };
  });

  const tar = pack();
  const done = buffer(tar);
  const file = (name: string, content: Buffer) => tar.entry({ name, mode: 0o644, mtime: new Date(0) }, content);
  file('oci-layout', json({ imageLayoutVersion: '1.0.0' }));
  file('index.json', json({ schemaVersion: 2, manifests }));
  if (forDocker) file('manifest.json', json(dockers));
  for (const [digest, content] of blobs) file(`blobs/sha256/${digest}`, content);
  tar.finalize();
  return done;
}

function blobPath(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`;
}

/** Lower-case hex SHA-256. */
export function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
