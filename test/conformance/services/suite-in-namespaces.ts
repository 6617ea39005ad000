import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { systemPath } from '../../../cri/private-containerd/run-command.ts';
import { clusterTool } from '../../cluster/support/cluster-tool.ts';
import { stopOnSignal } from '../../cluster/support/end-with-test.ts';
import { realRuntime } from '../conformance-node.ts';
import type { ConformanceOptions } from '../options.ts';
import { runSuiteIn } from './suite-place.ts';
import type { ServicesRun } from './suite-place.ts';

const CHECKOUT = join(import.meta.dirname, '../../..');
/** Set in the machine of namespaces that the command starts itself in. */
const INSIDE = 'ACTORLET_OWN_MACHINE';
/** The suite has a kubelet in its usual folder. */
const KUBELET_DIR = '/var/lib/kubelet';

/** Is this process in a machine of its own already? */
export function inNamespaces(): boolean {
  return process.env[INSIDE] !== undefined;
}

/** Runs this command again in namespaces of its own (`test/tools/own-machine.sh`); returns its exit code. */
export async function againInNamespaces(): Promise<number> {
  const machine = join(CHECKOUT, 'test/tools/own-machine.sh');
  const child = spawn(machine, [process.execPath, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, [INSIDE]: '1' },
    // A group of its own, so that each signal comes once, also one that only this process was sent.
    detached: true,
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => child.pid !== undefined && process.kill(-child.pid, signal));
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
}

/**
 * Runs Kubernetes' suite for nodes on this machine's kernel, in namespaces of its own, where no systemd runs: a stand-in starts and ends the agent
 * for it (units.sh). As quick as the machine is; what asks the real systemd fails with any agent. See {@link runSuiteIn}.
 */
export async function runSuiteInNamespaces(wish: ConformanceOptions, out: string): Promise<ServicesRun> {
  const kubelet = wish.agent === 'kubelet' ? await clusterTool('kubelet') : undefined;
  const folder = await mkdtemp(join(tmpdir(), 'suite-'));
  const containerd = await realRuntime(wish.containerd);
  const env = { PATH: `${folder}/bin:${systemPath()}`, UNITS: `${folder}/units`, HOME: process.env['HOME'] ?? '/root' };
  const run = async (command: string) =>
    (await promisify(execFile)('bash', ['-c', command], { env, maxBuffer: 256 << 20 })).stdout;
  const stop = async () => {
    await run(`for unit in ${folder}/units/*; do systemctl stop "\${unit##*/}"; done; umount -R ${KUBELET_DIR}`).catch(
      () => '',
    );
    await containerd.stop();
    await rm(folder, { recursive: true, force: true });
  };
  const forget = stopOnSignal(stop);
  try {
    // Mounts of this machine end with it.
    await run(
      `mkdir -p ${KUBELET_DIR} ${folder}/kubelet-dir ${folder}/units && mount --bind ${folder}/kubelet-dir ${KUBELET_DIR}`,
    );
    await standIns(join(folder, 'bin'));
    const place = {
      ...{
        folder: join(folder, 'suite'),
        runtime: containerd.endpoint,
        containerd: wish.containerd ?? 'containerd',
        run,
      },
      agent: { program: kubelet ?? join(CHECKOUT, 'bin/actorlet'), env: {} },
      config: { cgroupDriver: 'cgroupfs', failCgroupV1: false },
      stream: (command: string, file: string) => streamed(command, file, env),
      write: async (path: string, content: string) => {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, content);
      },
    };
    return await runSuiteIn(place, wish, out);
  } finally {
    forget();
    await stop();
  }
}

/** Programs that the suite calls by their names, all of them units.sh. */
async function standIns(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of ['systemd-run', 'systemctl', 'journalctl', 'sudo']) {
    const file = join(folder, name);
    await writeFile(file, `#!/bin/sh\nexec ${join(import.meta.dirname, 'units.sh')} ${name} "$@"\n`);
    await chmod(file, 0o755);
  }
}

async function streamed(command: string, file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const to = openSync(file, 'w');
  try {
    const [code] = (await once(spawn('bash', ['-c', command], { stdio: ['ignore', to, to], env }), 'close')) as [
      number,
    ];
    if (code !== 0) throw new Error(`${command.slice(0, 80)} ... ended with ${code}; see ${file}`);
  } finally {
    closeSync(to);
  }
}
