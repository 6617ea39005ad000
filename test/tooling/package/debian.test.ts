import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';

const checkout = realpathSync(join(import.meta.dirname, '..', '..', '..'));
const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string };
const arch = process.arch === 'arm64' ? 'arm64' : 'amd64';

const ELF = Buffer.from('\x7fELF', 'latin1');
/** `e_machine`, at byte 18 of a program or library (System V ABI, `elf.h`). */
const ELF_MACHINE = { amd64: 62, arm64: 183 };

function headOf(file: string): Buffer {
  const head = Buffer.alloc(20);
  const opened = openSync(file, 'r');
  try {
    readSync(opened, head, 0, head.length, 0);
    return head;
  } finally {
    closeSync(opened);
  }
}

function lacking(): string | false {
  if (process.getuid?.() !== 0) return 'needs root (dpkg)';
  const missing = ['dpkg', 'dpkg-deb', 'deb-systemd-helper', 'npm', 'xz'].filter((tool) => !has(tool));
  return missing.length > 0 && `needs ${missing.join(', ')}`;
}

function has(tool: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${tool}`]).status === 0;
}

/** Can a machine be made here that runs containers? False when it can. */
function lacksContainers(): string | false {
  const missing = ['containerd', 'runc', 'busybox', 'ip'].filter((tool) => !has(tool));
  if (missing.length > 0) return `needs ${missing.join(', ')}`;
  const made = spawnSync(join(checkout, 'test/tools/own-machine.sh'), ['--check'], { encoding: 'utf8' });
  return made.status !== 0 && `needs a machine that namespaces can be made on: ${made.stderr.trim()}`;
}

describe('the Debian package and the tarball', { skip: lacking() }, () => {
  const work = mkdtempSync(join(tmpdir(), 'actorlet-debian-'));
  const scratch = join(work, 'root');
  const tree = join(scratch, 'usr/lib/actorlet');
  const deb = `actorlet_${version}_${arch}.deb`;
  const tarball = `actorlet-${version}-linux-${arch}`;

  function run(command: string, args: readonly string[], more: { env?: NodeJS.ProcessEnv; cwd?: string } = {}): string {
    const done = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, cwd: work, ...more });
    assert.equal(
      done.status,
      0,
      `${command} ${args.join(' ')}\n${done.stdout}\n${done.stderr}${String(done.error ?? '')}`,
    );
    return done.stdout;
  }
  const make = (out: string, ...kinds: string[]): string =>
    run(join(checkout, 'bin/package'), [...kinds, '--quick', '--out', join(work, out)]);
  /** dpkg on the scratch root, whose scripts run as they would in a chroot. */
  const dpkg = (...args: string[]): string =>
    run('dpkg', [
      '--root',
      scratch,
      '--force-script-chrootless',
      '--force-depends',
      '--log',
      join(work, 'log'),
      ...args,
    ]);
  const status = (): string =>
    run('dpkg-query', ['--root', scratch, '--show', '--showformat', '${db:Status-Abbrev}', 'actorlet']).trim();
  const bare = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: work };

  before(() => {
    make('first');
    for (const folder of ['info', 'updates']) mkdirSync(join(scratch, 'var/lib/dpkg', folder), { recursive: true });
    writeFileSync(join(scratch, 'var/lib/dpkg/status'), '');
    dpkg('--install', join(work, 'first', deb));
  });
  after(() => rmSync(work, { recursive: true, force: true }));

  it('has the same bytes when it is made again', () => {
    make('second', 'deb');
    run('cmp', [join(work, 'first', deb), join(work, 'second', deb)]);
    rmSync(join(work, 'second'), { recursive: true });
  });

  it('is made for the other kind of machine, too, with programs and libraries of that kind alone', () => {
    const other = arch === 'arm64' ? 'amd64' : 'arm64';
    make('other', 'deb', '--arch', other);
    const root = join(work, 'other', 'root');
    run('dpkg-deb', ['--extract', join(work, 'other', `actorlet_${version}_${other}.deb`), root]);
    const programs = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => ({ name: entry.name, head: headOf(join(entry.parentPath, entry.name)) }))
      .filter(({ head }) => head.subarray(0, 4).equals(ELF));
    assert.ok(programs.some(({ name }) => name === 'node'));
    assert.deepEqual(
      programs.filter(({ head }) => head.readUInt16LE(18) !== ELF_MACHINE[other]).map(({ name }) => name),
      [],
    );
    rmSync(join(work, 'other'), { recursive: true });
  });

  it('says what it is', () => {
    const fields = run('dpkg-deb', ['--field', join(work, 'first', deb)]);
    assert.match(fields, new RegExp(`^Version: ${version.replaceAll('.', '\\.')}$`, 'm'));
    assert.match(fields, new RegExp(`^Architecture: ${arch}$`, 'm'));
    assert.match(fields, /^Maintainer: [^<>]+ <[^<>@]+@[^<>@]+>$/m);
    const size = Number(/^Installed-Size: (\d+)$/m.exec(fields)?.[1]);
    assert.ok(size > 100_000 && size < 250_000, `${size} KiB`);
    const entries = run('dpkg-deb', ['--contents', join(work, 'first', deb)])
      .split('\n')
      .filter((line) => line !== '');
    // Debian's policy 5.6.20; a folder's own size would differ from one making to the next
    const kib = entries.map((line) => (line.startsWith('-') ? Math.ceil(Number(line.split(/\s+/)[2]) / 1024) : 1));
    assert.equal(
      size,
      kib.reduce((sum, one) => sum + one, 0),
    );
    assert.deepEqual(
      entries.filter((line) => !/^\S+ root\/root /.test(line)),
      [],
    );
  });

  it('holds code and data, a Node, and nothing that only builds or tests', () => {
    const files = readdirSync(tree, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(tree.length + 1));
    const strays = files.filter((file) => /\.[cm]?ts$|\.map$|(?:^|\/)tests?\//.test(file));
    assert.deepEqual(strays, []);
    const libraries = readdirSync(join(tree, 'node_modules'));
    for (const development of ['typescript', 'eslint', 'esbuild', '@kubernetes', '.bin'])
      assert.ok(!libraries.includes(development), development);
    assert.deepEqual(readdirSync(join(tree, 'node_modules', `node-linux-${process.arch}`)).sort(), [
      'LICENSE',
      'bin',
      'package.json',
    ]);
  });

  it('lacks no file of a library that is loaded late', () => {
    const { dependencies } = JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const missing = Object.keys(dependencies).filter((name) => !existsSync(join(tree, 'node_modules', name)));
    assert.deepEqual(missing, ['@kubernetes/client-node'], 'only types of it are used');
    const names = Object.keys(dependencies).filter((name) => !missing.includes(name) && name !== '@bufbuild/protobuf');
    const imports = [...names, '@bufbuild/protobuf/wire'].map((name) => `await import('${name}');`).join('');
    // what x509-process.ts gives @peculiar/x509 in the place of a library
    const script = `const none = () => undefined; Object.assign(Reflect, { getMetadata: none, getOwnMetadata: none, defineMetadata: none }); ${imports}`;
    const ownNode = join(tree, 'node_modules', `node-linux-${process.arch}`, 'bin/node');
    run(ownNode, ['--input-type=module', '--eval', script], { env: bare, cwd: tree });
  });

  it('runs where it was installed, with its own Node', () => {
    const command = join(scratch, 'usr/bin/actorlet');
    assert.equal(run(command, ['--version'], { env: bare }).trim(), `Kubernetes v1.35.4-actorlet.${version}`);
    const looks = spawnSync(command, ['doctor'], { env: bare, encoding: 'utf8', cwd: '/' }).stdout;
    assert.match(looks, /^ok +root /m);
    assert.match(looks, /^ok +node +Node\.js 24\./m);
  });

  it('brings a service that systemd takes, enabled by nobody but its user', () => {
    const unit = readFileSync(join(scratch, 'usr/lib/systemd/system/actorlet.service'), 'utf8');
    const program = '/usr/lib/actorlet/bin/run-service';
    assert.ok(unit.includes(`ExecStart=${program}\n`));
    assert.ok(!existsSync(join(scratch, 'etc/systemd/system/multi-user.target.wants/actorlet.service')));
    if (!has('systemd-analyze')) return;
    const here = join(work, 'actorlet.service');
    const verify = (text: string) => {
      writeFileSync(here, text);
      const done = spawnSync('systemd-analyze', ['verify', '--man=no', here], { encoding: 'utf8' });
      return {
        status: done.status,
        words: done.stderr.split('\n').filter((line) => line.includes('actorlet.service')),
      };
    };
    const placed = unit.replace(program, join(scratch, program));
    assert.deepEqual(verify(placed), { status: 0, words: [] });
    assert.notDeepEqual(verify(placed.replace('Type=notify', 'Type=nonsense')).words, []);
    // kubelet's own service with the drop-in of the package
    const dropIn = readFileSync(join(scratch, 'usr/share/actorlet/90-actorlet.conf'), 'utf8');
    const both = `[Service]\nExecStart=/bin/true\n${dropIn.replaceAll('/usr/bin/actorlet', join(scratch, 'usr/bin/actorlet'))}`;
    assert.deepEqual(verify(both), { status: 0, words: [] });
  });

  it('starts with the files of kubeadm where they are, else with its own', () => {
    const bin = join(work, 'choice/bin');
    const root = join(work, 'choice/root');
    for (const folder of [bin, join(root, 'etc/kubernetes')]) mkdirSync(folder, { recursive: true });
    copyFileSync(join(tree, 'bin/run-service'), join(bin, 'run-service'));
    writeFileSync(join(bin, 'actorlet'), '#!/bin/sh\nprintf "%s\\n" "$@"\n');
    chmodSync(join(bin, 'actorlet'), 0o755);
    const choice = (env: NodeJS.ProcessEnv = {}) =>
      run(join(bin, 'run-service'), [], { env: { ...bare, ACTORLET_ROOT: root, ...env } })
        .trim()
        .split('\n');
    assert.deepEqual(choice({ KUBELET_EXTRA_ARGS: '--v=2 --node-ip=10.0.0.1' }), [
      `--config=${root}/etc/actorlet/config.yaml`,
      '--v=2',
      '--node-ip=10.0.0.1',
    ]);
    writeFileSync(join(root, 'etc/kubernetes/kubelet.conf'), '');
    assert.deepEqual(choice({ KUBELET_KUBEADM_ARGS: '--pod-infra-container-image=p --node-labels=a=*' }), [
      `--bootstrap-kubeconfig=${root}/etc/kubernetes/bootstrap-kubelet.conf`,
      `--kubeconfig=${root}/etc/kubernetes/kubelet.conf`,
      `--config=${root}/var/lib/kubelet/config.yaml`,
      '--pod-infra-container-image=p',
      '--node-labels=a=*',
    ]);
    assert.deepEqual(choice({ KUBELET_CONFIG_ARGS: '--config=/mine' }), ['--config=/mine']);
  });

  it('brings a configuration without a fault', () => {
    const { config, warnings } = loadConfiguration({
      configFile: join(scratch, 'etc/actorlet/config.yaml'),
      configDir: '',
      flags: [],
      cgroupVersion: 2,
    });
    assert.deepEqual(warnings, []);
    assert.equal(config.staticPodPath, '/etc/kubernetes/manifests');
    assert.equal(config.address, '127.0.0.1');
  });

  it('is a tarball, too, that runs from where it was unpacked', () => {
    run('tar', ['-xf', join(work, 'first', `${tarball}.tar.gz`)]);
    const home = join(work, tarball);
    assert.match(
      run(join(home, 'bin/actorlet'), ['--version'], { env: bare, cwd: '/' }),
      /^Kubernetes v1\.35\.4-actorlet/,
    );
    assert.deepEqual(readdirSync(join(home, 'systemd')).sort(), [
      '90-actorlet.conf',
      'actorlet.service',
      'config.yaml',
      'default',
    ]);
    rmSync(home, { recursive: true });
  });

  it('runs a static pod on a real containerd with nothing of the checkout', { skip: lacksContainers() }, () => {
    const script = join(import.meta.dirname, 'support/agent-of-tree.ts');
    const words = run(
      join(checkout, 'test/tools/own-machine.sh'),
      [process.execPath, script, join(scratch, 'usr/bin/actorlet')],
      { cwd: checkout },
    );
    assert.equal(words, 'well\n');
  });

  it('goes without a trace when it is purged', () => {
    mkdirSync(join(scratch, 'var/cache/actorlet'), { recursive: true });
    mkdirSync(join(scratch, 'var/lib/kubelet/journal'), { recursive: true });
    mkdirSync(join(scratch, 'var/lib/kubelet/pods'), { recursive: true });
    dpkg('--remove', 'actorlet');
    assert.equal(status(), 'rc');
    assert.ok(!existsSync(tree) && existsSync(join(scratch, 'etc/actorlet/config.yaml')));
    dpkg('--purge', 'actorlet');
    const left = readdirSync(scratch, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.includes('actorlet') || name.includes('journal'),
    );
    assert.deepEqual(left, []);
    assert.ok(existsSync(join(scratch, 'var/lib/kubelet/pods')), 'what kubelet uses, too, stays');
  });
});
