import { imageArchive } from '../../../cri/image-maker/image-archive.ts';
import type { ImageConfig } from '../../../cri/image-maker/image-archive.ts';
import { BUSYBOX_IMAGE, ownImages } from '../../../cri/private-containerd/own-images.ts';
import { tarFiles } from '../../tools/tar-files.ts';

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

interface Descriptor {
  digest: string;
}

/** As an archive's index has it. */
interface NamedDescriptor extends Descriptor {
  annotations: { 'io.containerd.image.name': string };
}

/** Where an image goes, and who puts it there. */
export interface PushWish {
  /** `http://127.0.0.1:5000` */
  registry: string;
  /** `user:password`, '' for nobody. */
  login: string;
  /** `team/app` */
  repository: string;
  tag: string;
  /** Added to busybox's own configuration; another label makes another image. */
  config?: ImageConfig;
  /** Further layers (tar). */
  layers?: readonly Buffer[];
}

/**
 * Makes a busybox image and puts it into a registry. Returns the manifest's digest.
 */
export async function pushImage(wish: PushWish): Promise<string> {
  const base = (await ownImages()).find(({ ref }) => ref === BUSYBOX_IMAGE);
  if (base === undefined) throw new Error('no busybox image');
  const config = { ...base.config, ...wish.config };
  const ref = `registry/${wish.repository}:${wish.tag}`;
  const archive = await imageArchive([{ ref, config, layers: [...base.layers, ...(wish.layers ?? [])] }]);
  const [digest] = await pushArchive(wish, archive);
  if (digest === undefined) throw new Error('no manifest');
  return digest;
}

/**
 * Puts all images of an OCI archive into a registry, under their names without their first part, the registry's (OCI distribution spec: blobs in one
 * PUT, then the manifest). Returns the manifests' digests.
 */
export async function pushArchive(to: Pick<PushWish, 'registry' | 'login'>, archive: Buffer): Promise<string[]> {
  const files = await tarFiles(archive);
  const blob = ({ digest }: Descriptor): Buffer => {
    const found = files.get(`blobs/${digest.replace(':', '/')}`);
    if (found === undefined) throw new Error(`no blob ${digest}`);
    return found;
  };
  const { manifests } = JSON.parse(String(files.get('index.json'))) as { manifests: NamedDescriptor[] };
  const call = caller(to);
  for (const descriptor of manifests) {
    const { repository, tag } = placeOf(descriptor.annotations['io.containerd.image.name']);
    const manifest = JSON.parse(String(blob(descriptor))) as { config: Descriptor; layers: Descriptor[] };
    const path = `${to.registry}/v2/${repository}`;
    for (const part of [manifest.config, ...manifest.layers]) {
      if ((await call('HEAD', `${path}/blobs/${part.digest}`, [200, 404])).status === 200) continue;
      const opened = await call('POST', `${path}/blobs/uploads/`, [202]);
      const place = new URL(opened.headers.get('location') ?? '', to.registry);
      place.searchParams.set('digest', part.digest);
      await call('PUT', place.href, [201], blob(part), 'application/octet-stream');
    }
    await call('PUT', `${path}/manifests/${tag}`, [201], blob(descriptor), MANIFEST);
  }
  return manifests.map(({ digest }) => digest);
}

function placeOf(name: string): { repository: string; tag: string } {
  const colon = name.lastIndexOf(':');
  return { repository: name.slice(name.indexOf('/') + 1, colon), tag: name.slice(colon + 1) };
}

function caller({ login }: Pick<PushWish, 'login'>) {
  return async (method: string, url: string, fine: number[], body?: Buffer, type = ''): Promise<Response> => {
    const reply = await fetch(url, {
      method,
      headers: {
        ...(login !== '' && { authorization: `Basic ${Buffer.from(login).toString('base64')}` }),
        ...(type !== '' && { 'content-type': type }),
      },
      ...(body !== undefined && { body: new Uint8Array(body) }),
    });
    if (!fine.includes(reply.status)) throw new Error(`${method} ${url}: ${reply.status} ${await reply.text()}`);
    return reply;
  };
}
