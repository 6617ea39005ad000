import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { lacksTool, referenceTool } from '../../../tools/reference-tool.ts';
import { waitFor } from '../../../tools/wait-for.ts';

/** Why tests with a bus cannot run on this machine; false when they can. */
export async function lacksBus(): Promise<string | false> {
  for (const command of ['dbus-daemon', 'systemd-inhibit']) {
    const places = (process.env['PATH'] ?? '').split(delimiter);
    if (!places.some((place) => existsSync(join(place, command))))
      return `needs ${command} (apt-get install dbus systemd)`;
  }
  return lacksTool('fake-logind');
}

/** A message bus of its own, with a logind of its own; both end with the test. */
export class PrivateBus {
  readonly dir: string;
  readonly socket: string;
  /** Folder of logind's configuration. */
  readonly configDir: string;
  /** What logind told: `locked 1 shutdown|kubelet|...`, `released 1`, `killed ...`. */
  readonly told: string[] = [];
  private readonly delaySeconds: number;
  private daemon: ChildProcess | undefined;
  private logind: ChildProcess | undefined;

  private constructor(delaySeconds: number) {
    this.delaySeconds = delaySeconds;
    this.dir = mkdtempSync(join(tmpdir(), 'actorlet-bus-'));
    this.socket = join(this.dir, 'bus');
    this.configDir = join(this.dir, 'logind.conf.d');
  }

  /** @param delaySeconds for so long logind holds a shutdown up at first */
  static async start(t: TestContext, delaySeconds: number): Promise<PrivateBus> {
    const bus = new PrivateBus(delaySeconds);
    t.after(() => bus.end());
    mkdirSync(bus.dir, { recursive: true });
    const anything = '<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>';
    const policy = `<policy context="default">${anything}<allow send_type="signal"/></policy>`;
    const listen = `<listen>unix:path=${bus.socket}</listen><auth>EXTERNAL</auth>`;
    writeFileSync(join(bus.dir, 'bus.conf'), `<busconfig>${listen}${policy}</busconfig>`);
    await bus.up();
    return bus;
  }

  /** Starts bus and logind; `prepare`: a shutdown is under way before anybody can ask. */
  async up(first?: 'prepare'): Promise<void> {
    const { dir, socket } = this;
    const daemon = spawn('dbus-daemon', [`--config-file=${join(dir, 'bus.conf')}`, '--nofork', '--nopidfile'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    this.daemon = daemon;
    await waitFor('the bus', () => existsSync(socket) || undefined);
    const tool = await referenceTool('fake-logind');
    const logind = spawn(tool, [socket, this.configDir, String(this.delaySeconds)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.logind = logind;
    logind.stdin.on('error', () => undefined);
    if (first !== undefined) logind.stdin.write(`${first}\n`);
    const before = this.told.length;
    createInterface(logind.stdout).on('line', (line) => void this.told.push(line));
    await waitFor('logind', () => this.told.slice(before).includes('ready') || undefined);
  }

  /** Ends both, as a restart of dbus does. */
  async down(): Promise<void> {
    await Promise.all([ended(this.logind), ended(this.daemon)]);
    rmSync(this.socket, { force: true });
  }

  /** A command to logind; resolves when it is carried out. */
  async order(command: 'prepare' | 'cancel' | 'nonsense' | 'refuse' | 'allow' | 'deaf'): Promise<void> {
    const before = this.told.length;
    this.logind?.stdin?.write(`${command}\n`);
    await waitFor(command, () => this.told.slice(before).includes(`done ${command}`) || undefined);
  }

  /** Waits for a line of logind. */
  async tells(line: string | RegExp): Promise<string> {
    const is = (one: string): boolean => (typeof line === 'string' ? one === line : line.test(one));
    return waitFor(
      `logind to tell ${String(line)}`,
      () => this.told.find(is),
      () => this.told.join('\n'),
    );
  }

  private async end(): Promise<void> {
    await this.down();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

async function ended(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => void child.once('exit', resolve));
  child.kill('SIGKILL');
  await exit;
}
