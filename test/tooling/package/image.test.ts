import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createReadStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import type { Header } from 'tar-stream';

const checkout = realpathSync(join(import.meta.dirname, '..', '..', '..'));
const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string };
const arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
const REF = `localhost/actorlet/actorlet:${version}`;
const FILE = `actorlet-${version}-${arch}.oci.tar`;

interface Blob {
  digest: string;
}
interface Config {
  architecture: string;
  created: string;
  config: { Entrypoint: string[]; Cmd: string[]; Env: string[]; User: string; Labels: Record<string, string> };
}

const has = (tool: string): boolean => spawnSync('sh', ['-c', `command -v ${tool}`]).status === 0;
function lacking(): string | false {
  if (process.getuid?.() !== 0) return 'needs root (chroot)';
  const missing = ['dpkg-deb', 'dpkg-query', 'ldd', 'npm', 'xz', 'chroot'].filter((tool) => !has(tool));
  return missing.length > 0 && `needs ${missing.join(', ')}`;
}

describe('the container image', { skip: lacking() }, () => {
  const work = mkdtempSync(join(tmpdir(), 'actorlet-image-'));
  const layout = join(work, 'layout');
  const root = join(work, 'root');
  const entries: Header[] = [];
  let image: Config;
  let layers: string[];

  const make = (out: string, ...args: string[]) =>
    spawnSync(join(checkout, 'bin/package'), ['image', '--quick', '--out', join(work, out), ...args], {
      encoding: 'utf8',
      cwd: work,
    });
  const blob = ({ digest }: Blob): string => join(layout, 'blobs', digest.replace(':', '/'));
  const json = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
  const text = (path: string): string => readFileSync(join(root, path), 'utf8');

  /** A command of the image where nothing is but the image, as its user, with its environment. */
  function inside(...command: string[]): { status: number | null; out: string } {
    const env = Object.fromEntries(image.config.Env.map((line) => line.split(/=(.*)/s)));
    const args = [`--userspec=${image.config.User}`, root, ...command];
    const done = spawnSync('/usr/sbin/chroot', args, { encoding: 'utf8', env });
    return { status: done.status, out: done.stdout + done.stderr };
  }

  before(async () => {
    const made = make('first');
    assert.equal(made.status, 0, made.stdout + made.stderr);
    assert.equal(made.stdout.trim().split('\n').at(-1), join(work, 'first', FILE));
    for (const folder of [layout, root]) mkdirSync(folder);
    assert.equal(spawnSync('tar', ['-xf', join(work, 'first', FILE), '-C', layout]).status, 0);
    const { manifests } = json(join(layout, 'index.json')) as { manifests: Blob[] };
    assert.equal(manifests.length, 1);
    const manifest = json(blob(manifests[0] ?? { digest: '' })) as { config: Blob; layers: Blob[] };
    image = json(blob(manifest.config)) as Config;
    layers = manifest.layers.map(blob);
    for (const layer of layers) {
      for await (const entry of createReadStream(layer).pipe(createGunzip()).pipe(extract())) {
        entries.push(entry.header);
        entry.resume();
      }
      assert.equal(spawnSync('tar', ['-xzpf', layer, '-C', root]).status, 0);
    }
  });
  after(() => rmSync(work, { recursive: true, force: true }));

  it('has the same bytes when it is made again', () => {
    assert.equal(make('second').status, 0);
    assert.equal(spawnSync('cmp', [join(work, 'first', FILE), join(work, 'second', FILE)]).status, 0);
    rmSync(join(work, 'second'), { recursive: true });
  });

  it('is refused for another kind of machine than this, before anything is made', () => {
    const other = arch === 'arm64' ? 'amd64' : 'arm64';
    const { status, stdout, stderr } = make('other', '--arch', other);
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(
      stderr,
      new RegExp(`^package: an image holds the system's libraries .* ${other} on such a machine\n$`),
    );
  });

  it('has one name for those who read the layout, and for Docker before that', () => {
    const { manifests } = json(join(layout, 'index.json')) as { manifests: { annotations: Record<string, string> }[] };
    assert.equal(manifests[0]?.annotations['io.containerd.image.name'], REF);
    const [docker] = json(join(layout, 'manifest.json')) as { Config: string; RepoTags: string[]; Layers: string[] }[];
    assert.deepEqual(docker?.RepoTags, [REF]);
    assert.deepEqual(json(join(layout, docker.Config)), image);
    assert.deepEqual(
      docker.Layers.map((path) => join(layout, path)),
      layers,
    );
    assert.equal(image.architecture, arch);
    assert.ok(Math.abs(Date.parse(image.created)) > Date.parse('2020-01-01'), image.created);
  });

  it('belongs to root, and its user may write nothing but /tmp', () => {
    assert.ok(entries.length > 100);
    const others = entries.filter(({ uid, gid }) => uid !== 0 || gid !== 0);
    assert.deepEqual(others, []);
    const writable = entries.filter(({ mode = 0, type }) => type !== 'symlink' && (mode & 0o022) !== 0);
    assert.deepEqual(
      writable.map(({ name, mode }) => [name.replace(/\/$/, ''), mode]),
      [['tmp', 0o1777]],
    );
    assert.match(image.config.User, /^[1-9]\d*:[1-9]\d*$/, 'a number, or runAsNonRoot refuses it');
    assert.match(text('etc/passwd'), new RegExp(`^actorlet:x:${image.config.User}:`, 'm'));
    assert.match(inside('/usr/bin/node', '-p', 'os.userInfo().username').out, /^actorlet$/m);
  });

  it('starts Node with the flags and the variables that bin/actorlet gives `nodes`', () => {
    const launcher = readFileSync(join(checkout, 'bin/actorlet'), 'utf8').replaceAll('\\\n', ' ');
    const flags = /^ *nodes\) exec "\$node" (.+) "\$main" "\$@" ;;$/m.exec(launcher)?.[1]?.split(' ');
    const [node, ...words] = image.config.Entrypoint;
    assert.ok(flags !== undefined && flags.length > 1);
    assert.deepEqual(words, [...flags, '/usr/lib/actorlet/dist/bundled/bin/actorlet.js']);
    assert.equal(node, `/usr/lib/actorlet/node_modules/node-linux-${process.arch}/bin/node`);
    const names = image.config.Env.map((line) => line.split('=')[0]);
    const exported = [...launcher.matchAll(/^(?:export )?([A-Z_]{4,})=.*$/gm)].map(([, name]) => name);
    assert.deepEqual(
      exported.filter((name) => !names.includes(name)),
      [],
    );
    assert.ok(image.config.Env.includes('NODE_COMPILE_CACHE=/tmp/.cache/actorlet/compile-cache'));
  });

  it('needs nothing that is not in it: no library, no shell', () => {
    const start = (...args: string[]) => inside(...image.config.Entrypoint, ...args);
    assert.equal(start('--version').out.trim(), `Kubernetes v1.35.4-actorlet.${version}`);
    assert.match(start('nodes', '--help').out, /--healthz-port/);
    assert.match(start('explain', '--help').out, /^Usage: actorlet explain/);
    assert.match(start('replay', '/nothing').out, /^JRN001: /);
    // Who comes by `kubectl exec` comes by no Entrypoint.
    assert.equal(inside('actorlet', '--version').out.trim(), `Kubernetes v1.35.4-actorlet.${version}`);
    const { status, out } = start(...image.config.Cmd);
    assert.equal(status, 1);
    assert.match(out, /^NDS008: There is no --kubeconfig, and no service account of a pod: /);
    const programs = entries.filter(
      ({ mode = 0, type, name }) => type === 'file' && mode & 0o111 && !name.startsWith('lib'),
    );
    assert.deepEqual(
      programs.map(({ name }) => name),
      [image.config.Entrypoint[0]?.slice(1), 'usr/bin/actorlet'],
    );
    for (const profile of readdirSync(join(checkout, 'docs/profiles')))
      assert.ok(text(join('usr/share/actorlet/profiles', profile)).length > 0);
  });

  it('says which Debian packages its libraries are from, to people and to scanners, and has their licences', () => {
    const named = (image.config.Labels['actorlet.debian-packages'] ?? '').split(' ');
    assert.ok(named.length >= 3, String(named));
    for (const one of named) {
      const [name = '', packageVersion = ''] = one.split('=');
      const stanza = text(`var/lib/dpkg/status.d/${name}`);
      assert.match(stanza, /^Package: .+\nVersion: .+\nArchitecture: .+\n/);
      assert.ok(stanza.includes(`\nVersion: ${packageVersion}\n`), stanza);
      assert.match(text(`usr/share/doc/${name}/copyright`), /GPL|General Public License/);
    }
    assert.match(text('etc/os-release'), /^ID=\w+$/m);
    assert.match(text('usr/share/doc/actorlet/LIBRARIES'), /^node-linux-\w+ .*$/m);
  });

  it('vouches for no authority of the machine that made it', () => {
    const certificates = entries.filter(({ name }) => /\.(?:crt|pem)$|^etc\/ssl/.test(name));
    assert.deepEqual(
      certificates.map(({ name }) => name),
      [],
    );
  });
});
