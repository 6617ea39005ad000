import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ownImageArchive } from '../../../cri/private-containerd/own-images.ts';
import { stopOnSignal } from '../../cluster/support/end-with-test.ts';
import { waitFor } from '../../tools/wait-for.ts';

/** The checkout, in the machine under the same path. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const run = promisify(execFile);

/** How long a test waits for something that must come in a machine, ms: computing takes twelve times as long there. */
export const PATIENCE_MS = 900_000;

/** How often a test looks, ms: a look is a process or two, which take half a second of an emulator that is at something else. */
export const LOOK_MS = 2_000;

/** Where the agent is in a machine, as an installed package would be: an emulator takes minutes to strip the types of its sources. */
export const AGENT = '/opt/actorlet';

/**
 * A virtual machine of `bin/vm` for one test file, with this checkout's agent at {@link AGENT}, and the images
 * `localhost/actorlet/{pause,busybox}:1` in its containerd.
 */
export class Machine {
  private readonly name: string;
  private readonly forget: () => void;

  private constructor(name: string) {
    this.name = name;
    this.forget = stopOnSignal(() => this.down());
  }

  /** Boots one that has neither agent nor images, with `options` of `bin/vm up`. The caller ends it with {@link down}. */
  static async bare(...options: string[]): Promise<Machine> {
    const machine = new Machine(`test-${process.pid}`);
    try {
      await machine.vm(...options, 'up');
      return machine;
    } catch (error) {
      await machine.down();
      throw error;
    }
  }

  /** Boots one, with `options` of `bin/vm up`. The caller ends it with {@link down}. */
  static async up(...options: string[]): Promise<Machine> {
    const machine = new Machine(`test-${process.pid}`);
    const folder = await mkdtemp(join(tmpdir(), 'actorlet-vm-'));
    try {
      // The agent is built while the machine boots; whatever fails is told when both are over.
      const [built, booted] = await Promise.allSettled([pack(folder), machine.vm(...options, 'up')]);
      for (const each of [built, booted]) if (each.status === 'rejected') throw each.reason;
      await machine.fill(folder);
      return machine;
    } catch (error) {
      await machine.down();
      throw error;
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /** What a shell command in the machine writes to its output. Rejects with both outputs when it ends with another code than 0. */
  async run(command: string): Promise<string> {
    return this.vm('run', command);
  }

  /** Like {@link run}, for what takes long and says much: both outputs go to a file of this side as they come. */
  async stream(command: string, file: string): Promise<void> {
    const out = openSync(file, 'w');
    try {
      const child = spawn(join(ROOT, 'bin/vm'), ['--name', this.name, 'run', command], { stdio: ['ignore', out, out] });
      const [code] = (await once(child, 'close')) as [number | null];
      if (code !== 0) throw new Error(`${command.slice(0, 80)} ... ended with ${code}; see ${file}`);
    } finally {
      closeSync(out);
    }
  }

  /** Writes a file in the machine, in one piece; until then it has a name with a dot, which agents do not look at. */
  async write(path: string, content: string): Promise<void> {
    const encoded = Buffer.from(content).toString('base64');
    const fresh = join(dirname(path), `.${basename(path)}.new`);
    await this.run(`mkdir -p ${dirname(path)} && echo ${encoded} | base64 -d > ${fresh} && mv ${fresh} ${path}`);
  }

  /** Copies a file or a folder of this side into it. */
  async copy(source: string, target: string): Promise<void> {
    await this.vm('copy', source, target);
  }

  /** Waits until a shell command ends with 0; returns what it wrote. `explain`: another one for the error's text. */
  async until(what: string, command: string, explain = 'true'): Promise<string> {
    return waitFor(
      what,
      () => this.run(command),
      () => this.run(explain),
      PATIENCE_MS,
      LOOK_MS,
    );
  }

  /** Boots it again: by `systemctl reboot`, or as when the power fails. Returns when its units have started. */
  async reboot({ crash = false } = {}): Promise<void> {
    await this.vm('reboot', ...(crash ? ['--crash'] : []));
  }

  async down(): Promise<void> {
    await this.vm('down');
    this.forget();
  }

  private async fill(folder: string): Promise<void> {
    await this.copy(join(folder, 'agent.tar'), '/root/agent.tar');
    await this.run(
      `tar -C /root -xf /root/agent.tar && mv /root/agent ${AGENT} && ln -s ${ROOT}/node_modules ${AGENT}/`,
    );
    await this.copy(join(folder, 'images.tar'), '/root/images.tar');
    await this.until('containerd', 'ctr -n k8s.io images ls -q > /dev/null');
    await this.run('ctr -n k8s.io images import /root/images.tar > /dev/null');
  }

  private async vm(...words: string[]): Promise<string> {
    const { stdout } = await run(join(ROOT, 'bin/vm'), ['--name', this.name, ...words], { maxBuffer: 64 << 20 });
    return stdout;
  }
}

/** Makes what a machine is filled with: `agent.tar` and `images.tar`. */
async function pack(folder: string): Promise<void> {
  await run(join(ROOT, 'bin/build'), [join(folder, 'agent/dist')]);
  await mkdir(join(folder, 'agent/bin'));
  for (const file of ['bin/actorlet', 'package.json']) await cp(join(ROOT, file), join(folder, 'agent', file));
  // In one piece: each file of its own takes its time in an emulator.
  await run('tar', ['-C', folder, '--exclude=*.d.ts', '-cf', join(folder, 'agent.tar'), 'agent']);
  await writeFile(join(folder, 'images.tar'), (await ownImageArchive()).archive);
}
