/**
 * Writes the container image of a tree that bin/package has made: `node make-image.ts TREE FILE VERSION ARCH LIBRARIES [--quick]`.
 * LIBRARIES is the list of libraries that keep-needed-modules.ts has written; SOURCE_DATE_EPOCH is the time that it was made at.
 *
 * No shell and no other program is in it: what nobody can start needs no care, and the launcher's part of the work is done here, once
 * (launch-words.ts). A static busybox would be less to write, and brings 300 programs and a licence to hold into an image that needs one.
 *
 * No certificates of authorities either: Node 24 has Mozilla's in itself and reads no file for them, a cluster's own authority is in the
 * kubeconfig or the service account, and /etc/ssl/certs of the machine that makes the image may vouch for authorities of that machine alone.
 */
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { imageArchive } from '../../../cri/image-maker/image-archive.ts';
import { launchWords } from './launch-words.ts';
import { filesBelow, layerTar } from './layer-tar.ts';
import type { Entry } from './layer-tar.ts';
import { sharedLibraries } from './shared-libraries.ts';
import type { LibraryPackage } from './shared-libraries.ts';

/** Where the tree stands, as in the Debian package. */
const HOME = 'usr/lib/actorlet';
/** A user without a name elsewhere; by number, since `runAsNonRoot` believes no name. */
const USER = 65_532;
const checkout = join(import.meta.dirname, '../../..');

const [given = '', file = '', version = '', arch = '', libraries = '', quick] = process.argv.slice(2);
// The launcher finds itself by the path without links.
const tree = realpathSync(given);
const created = new Date(Number(process.env['SOURCE_DATE_EPOCH'] ?? 0) * 1000);
const nodePath = `${HOME}/node_modules/node-linux-${process.arch}/bin/node`;
const { words, env } = launchWords(join(tree, 'bin/actorlet'), 'nodes', '/tmp');
const placed = words.map((word) => word.replace(tree, `/${HOME}`));
const { files, packages } = sharedLibraries(join(tree, nodePath.slice(HOME.length + 1)));

/** What changes with a release of Debian or Node alone, so it has no commit's time: whoever takes the next version has this layer already. */
function ground(node: Entry): Entry[] {
  return [
    ...files,
    ...packages.flatMap(papers),
    node,
    { path: 'usr/bin/node', link: `/${nodePath}` },
    { path: 'tmp', folder: 0o1777 },
    { path: 'etc/os-release', content: readFileSync('/etc/os-release') },
    { path: 'etc/nsswitch.conf', content: 'hosts: files dns\n' },
    { path: 'etc/passwd', content: `root:x:0:0::/tmp:\nactorlet:x:${USER}:${USER}::/tmp:\n` },
    { path: 'etc/group', content: `root:x:0:\nactorlet:x:${USER}:\n` },
  ];
}

/** Where scanners look for packages of an image that has no dpkg (`status.d` is what distroless images have), and the licence. */
function papers({ name, stanza }: LibraryPackage): Entry[] {
  const copyright = `/usr/share/doc/${name}/copyright`;
  return [
    { path: `var/lib/dpkg/status.d/${name}`, content: stanza },
    { path: copyright.slice(1), content: readFileSync(copyright) },
  ];
}

/** For `kubectl exec POD -- actorlet ...`, which comes by no Entrypoint. */
const command = `#!/usr/bin/node\nimport(${JSON.stringify(placed.at(-1))});\n`;

const all = filesBelow(tree, HOME);
const node = all.find(({ path }) => path === nodePath);
if (node === undefined) throw new Error(`no ${nodePath} in ${tree}`);
const own: Entry[] = [
  // The shell scripts of bin/ are for where there is a shell.
  ...all.filter((entry) => entry !== node && !entry.path.startsWith(`${HOME}/bin/`)),
  { path: 'usr/bin/actorlet', content: command, mode: 0o755 },
  ...filesBelow(join(checkout, 'docs/profiles'), 'usr/share/actorlet/profiles'),
  { path: 'usr/share/doc/actorlet/LIBRARIES', content: readFileSync(libraries) },
  { path: 'usr/share/doc/actorlet/LICENSE', content: readFileSync(join(checkout, 'LICENSE')) },
];

const archive = await imageArchive(
  [
    {
      // Nobody pulls from this registry by mistake. Docker would take a name without one for docker.io's, which may be another's.
      ref: `localhost/actorlet/actorlet:${version}`,
      architecture: arch,
      created,
      config: {
        // The flags are those of `nodes`; the launcher gives `replay` a larger young generation, which is a matter of time alone.
        Entrypoint: [`/${nodePath}`, ...placed],
        Cmd: ['nodes'],
        Env: Object.entries({ PATH: '/usr/bin', HOME: '/tmp', ...env }).map(([name, value]) => `${name}=${value}`),
        User: `${USER}:${USER}`,
        WorkingDir: '/',
        ExposedPorts: { '10250/tcp': {} },
        Labels: {
          'org.opencontainers.image.title': 'actorlet',
          'org.opencontainers.image.description': 'simulated Kubernetes nodes: actorlet nodes',
          'org.opencontainers.image.version': version,
          'org.opencontainers.image.licenses': 'Apache-2.0',
          'actorlet.debian-packages': packages.map((one) => `${one.name}=${one.version}`).join(' '),
        },
      },
      layers: [await layerTar(ground({ ...node, mode: 0o755 }), new Date(0)), await layerTar(own, created)],
    },
  ],
  { level: quick === '--quick' ? 1 : 9, forDocker: true },
);
writeFileSync(file, archive);
