import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Command } from 'commander';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { createLogger } from '../../../actors/record/logging/create-logger.ts';
import { startNode } from '../../../actors/node/node.ts';
import type { RunningNode } from '../../../actors/node/node-options.ts';
import { freePorts } from '../../../bin/demo-steps/free-ports.ts';
import { daemonFlags, readDaemonOptions } from '../../../bin/flags/daemon-options.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import { waitFor } from '../../tools/wait-for.ts';

/** A whole agent in this process, on a simulated runtime, with everything below one folder. */
export interface SimNode {
  node: RunningNode;
  folder: string;
  journalDir: string;
  /** Of the read-only server. */
  address: string;
  /** Writes (or replaces) a manifest. */
  put(name: string, manifest: unknown): Promise<void>;
  remove(name: string): Promise<void>;
  /** Body of a path of the read-only server. */
  get(path: string): Promise<string>;
  /** Waits until `done` holds; the limit is only there to end a hopeless test. */
  until(what: string, done: () => boolean | Promise<boolean>): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it; everything ends and goes with the test. */
export async function startSimNode(t: TestContext, script: Record<string, unknown> = {}): Promise<SimNode> {
  const folder = await mkdtemp(join(tmpdir(), 'simnode-'));
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true, maxRetries: 3 })];
  let ended = false;
  const stop = async () => {
    if (ended) return;
    ended = true;
    for (const end of ends.reverse()) await end();
  };
  t.after(stop);
  const socket = join(folder, 'sim.sock');
  const runtime = await startSimulatedRuntime({ socket, seed: 1, script });
  ends.push(() => runtime.stop());
  const manifests = join(folder, 'manifests');
  await mkdir(manifests);
  const [healthzPort, readOnlyPort] = await freePorts(2);
  const configFile = join(folder, 'config.json');
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: `unix://${socket}`,
    staticPodPath: manifests,
    podLogsDir: join(folder, 'pod-logs'),
    address: '127.0.0.1',
    enableServer: false,
    healthzPort,
    readOnlyPort,
    cgroupDriver: 'cgroupfs',
    makeIPTablesUtilChains: false,
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    fileCheckFrequency: '1s',
  };
  await writeFile(configFile, JSON.stringify(config));
  const command = new Command();
  daemonFlags(command);
  command.action(() => undefined);
  const journalDir = join(folder, 'journal');
  const root = join(folder, 'root');
  const flags = ['--config', configFile, '--root-dir', root, '--journal-dir', journalDir];
  flags.push('--device-plugins-dir', join(root, 'device-plugins'));
  command.parse([...flags, '--hostname-override', 'ref'], { from: 'user' });
  const options = readDaemonOptions(command);
  const loaded = loadConfiguration({
    configFile,
    configDir: '',
    flags: options.configuration,
    cgroupVersion: 1,
  });
  // Only what goes wrong is printed.
  const log = createLogger({ format: 'text', verbosity: 0 });
  log.level = 'error';
  const node = await startNode({
    config: loaded.config,
    flags: options.kubelet,
    settings: options.settings,
    endpoint: `unix://${socket}`,
    log,
    workerLog: { format: 'text', verbosity: -1 },
    containerLogsDir: join(folder, 'container-logs'),
  });
  let stopping: Promise<void> | undefined;
  const stopNode = () => (stopping ??= node.stop());
  ends.push(stopNode);
  const base = `http://127.0.0.1:${String(readOnlyPort)}`;
  return {
    node: { ...node, stop: stopNode },
    folder,
    journalDir,
    address: base,
    put: (name, manifest) => writeFile(join(manifests, `${name}.json`), JSON.stringify(manifest)),
    remove: (name) => rm(join(manifests, `${name}.json`)),
    get: async (path) => (await fetch(`${base}${path}`)).text(),
    until: async (what, done) => {
      const look = async () => ((await done()) ? true : undefined);
      await waitFor(what, look, () => `pods: ${JSON.stringify(node.store.rows())}`);
    },
    stop,
  };
}
