import { imageArchive } from '../../../cri/image-maker/image-archive.ts';
import type { ImageSource } from '../../../cri/image-maker/image-archive.ts';
import { tarFiles } from '../../tools/tar-files.ts';
import { layer, OWNER } from './debian-layers.ts';

/** Where agnhost's `fake-registry-server` looks (test/images/agnhost/fakeregistryserver). */
const FOLDER = 'var/registry';

/**
 * A layer with an image as agnhost's registry serves it: blobs and manifests by their digests, and a file named after the tag with the
 * manifest's digest. Specs pull it as `localhost:5000/pause:testing`, with a user's name and password.
 */
export async function fakeRegistryLayer(name: string, tag: string, image: Omit<ImageSource, 'ref'>): Promise<Buffer> {
  const files = await tarFiles(await imageArchive([{ ...image, ref: `${name}:${tag}` }]));
  const index = JSON.parse(String(files.get('index.json'))) as { manifests: { digest: string }[] };
  const digest = index.manifests[0]?.digest ?? '';
  return layer((tar) => {
    const put = (path: string, content: Buffer | string) =>
      tar.entry({ ...OWNER, name: `${FOLDER}/${name}/${path}`, mode: 0o644 }, content);
    put(`manifests/${tag}`, `${digest}\n`);
    for (const [path, content] of files) {
      const [, hex] = /^blobs\/sha256\/(\w+)$/.exec(path) ?? [];
      if (hex !== undefined) put(`${digest === `sha256:${hex}` ? 'manifests' : 'blobs'}/sha256:${hex}`, content);
    }
  });
}
