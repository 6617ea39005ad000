import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DaemonProcess } from '../control-plane/daemon-process.ts';
import type { Pki } from '../control-plane/pki.ts';
import { freePorts } from '../demo-steps/free-ports.ts';
import { DemoFailure } from '../demo-steps/wait-until.ts';
import { fleetConfiguration } from './fleet-configuration.ts';

/** How long nodes may take to be removed, ms. */
const END_MS = 60_000;

/** What {@link FleetProcess.start} is told. */
export interface FleetWish {
  /** Path of `bin/actorlet`. */
  launcher: string;
  dir: string;
  kubeconfig: string;
  pki: Pki;
  nodes: number;
  address: string;
  profile: string;
}

/** `actorlet nodes` as the demo runs it: certificates of the control plane's authority, journals, an inspector; its nodes go with it. */
export class FleetProcess {
  private readonly process: DaemonProcess;
  private readonly journals: string;

  private constructor(process: DaemonProcess, journals: string) {
    this.process = process;
    this.journals = journals;
  }

  static async start({ launcher, dir, kubeconfig, pki, nodes, address, profile }: FleetWish): Promise<FleetProcess> {
    const [port = 0, inspectAt = 0] = await freePorts(2);
    const serving = await pki.issue('nodes', 'nodes', 'simulated', [`IP:${address}`]);
    const config = join(dir, 'nodes-config.json');
    const journals = join(dir, 'journals');
    await mkdir(journals, { mode: 0o700 });
    await writeFile(config, JSON.stringify(fleetConfiguration(serving, pki.ca.cert, { address })));
    const args = [
      ...['nodes', '--kubeconfig', kubeconfig, '--count', String(nodes), '--profile', profile, '--config', config],
      ...['--address', address, '--port', String(port), '--output', 'json', '--cleanup'],
      ...['--log-file', join(dir, 'logs/nodes.log'), '--journal-dir', journals, '--inspect', `127.0.0.1:${inspectAt}`],
    ];
    const logFile = join(dir, 'logs/nodes-figures.log');
    return new FleetProcess(
      new DaemonProcess({ name: 'actorlet nodes', program: launcher, args, logFile, ownGroup: true }),
      journals,
    );
  }

  /** Throws {@link DemoFailure} with its last words when it has ended by itself. */
  async mustRun(): Promise<void> {
    if (this.process.exit !== null)
      throw new DemoFailure(`actorlet nodes ended; its last lines:\n${await this.process.tail()}`);
  }

  /** Address of the inspector of all nodes, with its token; null before it listens. */
  async inspector(): Promise<string | null> {
    const text = await readFile(join(this.journals, 'inspector-address'), 'utf8').catch(() => null);
    return text === null ? null : text.trim();
  }

  /** Has it remove its nodes and end. Throws {@link DemoFailure} when it does not end well. */
  async stop(): Promise<void> {
    if (this.process.exit !== null) return;
    const { code, signal } = await this.process.terminate(END_MS);
    // One that had not begun yet has no nodes, and ends by the signal itself.
    if (code !== 0 && signal !== 'SIGTERM')
      throw new DemoFailure(
        `actorlet nodes ended with ${code ?? signal}; its last lines:\n${await this.process.tail()}`,
      );
  }
}
