import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { readAgentLine } from './agent-log.ts';
import { freePorts } from './free-ports.ts';

/** The agent as the demo runs it. */
export interface DemoAgent {
  pid: number;
  nodeName: string;
  logFile: string;
  /** `http://127.0.0.1:PORT` of the read-only server (`/pods`, `/metrics`). */
  readOnly: string;
  /** `http://127.0.0.1:PORT/healthz`. */
  healthz: string;
  /** Address of the inspector with its token, once the agent has told it. */
  inspector(): string | null;
  /** Exit code once it has ended. */
  exited(): number | null;
  /** Last lines of its output, for a failure. */
  tail(): string;
  /** SIGTERM, SIGKILL after 20 s; the exit code (-1 for a signal). */
  stop(): Promise<number>;
}

/** Name the demo's node goes by: part of the pod's name and of its log folder. */
const DEMO_NODE = 'demo';

/** Writes the configuration and starts the agent with a private containerd; `onLine` gets each line it writes. */
export async function startAgent(options: {
  /** The launcher, `bin/actorlet`. */
  command: string;
  rootDir: string;
  manifestDir: string;
  onLine: (line: string) => void;
}): Promise<DemoAgent> {
  const [healthzPort = 0, readOnlyPort = 0, port = 0, inspectorPort = 0] = await freePorts(4);
  const configFile = join(options.rootDir, 'config.json');
  await writeFile(configFile, `${JSON.stringify(agentConfig({ healthzPort, readOnlyPort, port }), null, 2)}\n`);
  const logFile = join(options.rootDir, 'agent.log');
  const args = [
    ...['--config', configFile],
    ...['--root-dir', options.rootDir, '--cert-dir', join(options.rootDir, 'pki')],
    // the usual one is the machine's own kubelet's
    ...['--device-plugins-dir', join(options.rootDir, 'device-plugins')],
    ...['--pod-manifest-path', options.manifestDir],
    ...['--hostname-override', DEMO_NODE],
    // also where the machine runs another: installing Debian's containerd starts it as a service
    '--private-containerd=always',
    `--inspect=127.0.0.1:${inspectorPort}`,
  ];
  // in a session of its own: a Ctrl-C is for the demo, which ends the agent after its pod
  const child = spawn(options.command, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const state: { code: number | null; last: string[]; inspector: string | null } = {
    ...{ code: null, last: [], inspector: null },
  };
  const ended = new Promise<number>((resolve) => {
    child.once('exit', (code) => resolve((state.code = code ?? -1)));
    child.once('error', (error) => {
      state.last.push(String(error));
      resolve((state.code = -1));
    });
  });
  const file = createWriteStream(logFile);
  file.on('error', () => {});
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      file.write(`${line}\n`);
      state.last.push(line);
      if (state.last.length > 20) state.last.shift();
      const read = readAgentLine(line);
      if (read.kind === 'inspector') state.inspector = readFileSync(read.addressFile, 'utf8').trim();
      options.onLine(line);
    });
  }
  return {
    pid: child.pid ?? 0,
    nodeName: DEMO_NODE,
    logFile,
    readOnly: `http://127.0.0.1:${readOnlyPort}`,
    healthz: `http://127.0.0.1:${healthzPort}/healthz`,
    inspector: () => state.inspector,
    exited: () => state.code,
    tail: () => state.last.join('\n'),
    async stop() {
      if (state.code !== null) return state.code;
      child.kill('SIGTERM');
      const code = await Promise.race([ended, sleep(20_000, null, { ref: false })]);
      if (code !== null) return code;
      child.kill('SIGKILL');
      return ended;
    },
  };
}

function agentConfig(ports: { healthzPort: number; readOnlyPort: number; port: number }): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: '127.0.0.1',
    healthzBindAddress: '127.0.0.1',
    ...ports,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    cgroupDriver: 'cgroupfs',
    // A demo leaves the packet rules of the machine as they are.
    makeIPTablesUtilChains: false,
    failCgroupV1: false,
    failSwapOn: false,
    fileCheckFrequency: '1s',
    logging: { format: 'json' },
  };
}
