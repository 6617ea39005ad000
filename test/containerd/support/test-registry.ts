import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../../bin/demo-steps/free-ports.ts';
import { findProgram } from '../../../cri/private-containerd/binaries.ts';
import { DaemonProcess } from '../../../bin/control-plane/daemon-process.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { pushArchive, pushImage } from './push-image.ts';
import type { PushWish } from './push-image.ts';
import { RegistryGate } from './registry-gate.ts';

/** Who may pull from a private registry, with the bcrypt hashes that its htpasswd file holds. */
const HTPASSWD = [
  'ann:$2y$05$abcdefghijklmnopqrstuuk90YNDvFAx6TcnP5Yi7caTcl0vu4usC',
  'bob:$2y$05$abcdefghijklmnopqrstuu4L3E7mnaeQFMYC6A8OO0BczYtpy80x2',
].join('\n');

/** `user:password` of those who are let in. */
export const ANN = 'ann:ann-opens';
export const BOB = 'bob:bob-opens';

/**
 * Debian's docker-registry on loopback, without TLS, behind a {@link RegistryGate}; containerd takes plain HTTP from
 * 127.0.0.1 without being told.
 */
export class TestRegistry {
  readonly gate: RegistryGate;
  /** `127.0.0.1:PORT`, the first part of an image's name. */
  readonly host: string;
  private readonly port: number;
  private readonly upstream: number;
  private readonly dir: string;
  private readonly login: string;
  private readonly daemon: DaemonProcess;

  private constructor(parts: {
    gate: RegistryGate;
    port: number;
    upstream: number;
    dir: string;
    login: string;
    daemon: DaemonProcess;
  }) {
    this.gate = parts.gate;
    this.port = parts.port;
    this.upstream = parts.upstream;
    this.dir = parts.dir;
    this.login = parts.login;
    this.daemon = parts.daemon;
    this.host = `127.0.0.1:${parts.port}`;
  }

  /** Starts one; `open` lets everybody in, otherwise only {@link ANN} and {@link BOB} may push and pull. */
  static async start(wish: { open?: boolean } = {}): Promise<TestRegistry> {
    const program = await findProgram('docker-registry');
    if (program === null) throw new Error('docker-registry is missing; apt-get install docker-registry');
    const dir = await mkdtemp(join(tmpdir(), 'registry-'));
    const [upstream = 0] = await freePorts(1);
    const htpasswd = join(dir, 'htpasswd');
    const config = {
      version: '0.1',
      log: { level: 'error', accesslog: { disabled: true } },
      storage: { filesystem: { rootdirectory: join(dir, 'blobs') }, delete: { enabled: true } },
      http: { addr: `127.0.0.1:${upstream}`, relativeurls: true },
      ...(wish.open !== true && { auth: { htpasswd: { realm: 'test', path: htpasswd } } }),
    };
    await writeFile(htpasswd, `${HTPASSWD}\n`, { mode: 0o600 });
    // JSON is YAML
    await writeFile(join(dir, 'config.yml'), JSON.stringify(config));
    const daemon = new DaemonProcess({
      name: 'docker-registry',
      program,
      args: ['serve', join(dir, 'config.yml')],
      logFile: join(dir, 'log'),
    });
    const gate = new RegistryGate(upstream);
    try {
      const port = await gate.open();
      await waitFor('the registry', async () => {
        await daemon.mustRun();
        const { status } = await fetch(`http://127.0.0.1:${upstream}/v2/`);
        return status === 200 || status === 401 ? true : undefined;
      });
      return new TestRegistry({ gate, port, upstream, dir, login: wish.open === true ? '' : ANN, daemon });
    } catch (error) {
      await gate.close().catch(() => undefined);
      await daemon.kill();
      await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }

  /** Puts a busybox image into it (past the gate); returns its name and its manifest's digest. */
  async push(
    repository: string,
    tag = '1',
    more: Pick<PushWish, 'config' | 'layers'> = {},
  ): Promise<{ image: string; digest: string }> {
    const registry = `http://127.0.0.1:${this.upstream}`;
    // each image is one of its own
    const config = { Labels: { is: `${repository}:${tag}` }, ...more.config };
    const digest = await pushImage({ registry, login: this.login, repository, tag, ...more, config });
    return { image: `${this.host}/${repository}:${tag}`, digest };
  }

  /** Puts all images of an OCI archive into it, under their names without the registry's. */
  async pushAll(archive: Buffer): Promise<void> {
    await pushArchive({ registry: `http://127.0.0.1:${this.upstream}`, login: this.login }, archive);
  }

  /** The registry is away: connections are refused. */
  goAway(): Promise<void> {
    return this.gate.close();
  }

  /** It is back, on the same port. */
  async comeBack(): Promise<void> {
    await this.gate.open(this.port);
  }

  /** Content of a `config.json`, or of a secret of type `kubernetes.io/dockerconfigjson`, with a login for `location`. */
  dockerConfig(login: string, location = this.host): string {
    return JSON.stringify({ auths: { [location]: { auth: Buffer.from(login).toString('base64') } } });
  }

  /** Ends it and removes all that it stored. */
  async stop(): Promise<void> {
    await this.gate.close().catch(() => undefined);
    await this.daemon.terminate();
    await rm(this.dir, { recursive: true, force: true });
  }
}
