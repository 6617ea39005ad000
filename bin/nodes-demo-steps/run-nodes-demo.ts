import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { constants } from 'node:os';
import { messageOf } from '../../machines/values/message-of.ts';
import { runCommand } from '../../cri/private-containerd/run-command.ts';
import type { FoundPrograms } from '../control-plane/programs.ts';
import { DemoFailure, Interrupted, untilInterrupted, waitUntil } from '../demo-steps/wait-until.ts';
import type { StepLimits } from '../demo-steps/wait-until.ts';
import { countNodes, countPods, createWork, onePod, removeWork, WORK } from './demo-work.ts';
import type { Count } from './demo-work.ts';
import { FleetProcess } from './fleet-process.ts';
import type { NodesDemoOptions } from './options.ts';
import { OwnControlPlane } from './own-control-plane.ts';

/** What the demo works with; `say` prints a line for the user. */
export interface NodesDemoSetting {
  options: NodesDemoOptions;
  programs: FoundPrograms['paths'];
  /** New and empty; it is removed at the end. */
  dir: string;
  /** Path of `bin/actorlet`. */
  launcher: string;
  /** Path of the nodes' profile. */
  profile: string;
  say: (line: string) => void;
  signal: AbortSignal;
}

/** A look at a thousand nodes costs the API server as much as ten pods that start, ms. */
const LOOK_EVERY_MS = 500;

const NONE: Count = { all: 0, ready: 0 };

/** Brings up control plane, nodes and pods, and removes them; throws {@link DemoFailure} or {@link Interrupted}. */
export async function runNodesDemo(setting: NodesDemoSetting): Promise<void> {
  const { options, dir, say, signal, launcher, profile } = setting;
  const { nodes, pods, address, timeoutMs } = options;
  const limits = { timeoutMs, signal };
  const began = performance.now();
  const since = () => `after ${((performance.now() - began) / 1000).toFixed(1)} s`;
  let plane: OwnControlPlane | undefined;
  let fleet: FleetProcess | undefined;
  const mustRun = async (): Promise<void> => {
    await plane?.mustRun();
    await fleet?.mustRun();
  };
  try {
    plane = await OwnControlPlane.prepare(dir, address, setting.programs);
    const { api, kubeconfig, pki } = plane;
    await plane.start(limits);
    say(`control plane up ${since()}; its logs are in ${dir}/logs`);
    fleet = await FleetProcess.start({ launcher, dir, kubeconfig, pki, nodes, address, profile });
    await settled('nodes', nodes, () => countNodes(api), mustRun, limits);
    say(`${nodes} nodes Ready ${since()}`);
    if (pods > 0) {
      await createWork(api, pods);
      await settled('pods', pods, () => countPods(api), mustRun, limits);
      say(`${pods} pods of deployment/${WORK} Ready ${since()}`);
      await lookAtOne(setting, kubeconfig, (await onePod(api)) ?? '');
    }
    const look = async () => fleet?.inspector() ?? null;
    say(`inspector of all nodes: ${await waitUntil(look, { ...limits, what: () => 'the inspector does not listen' })}`);
    let failed: number | null = null;
    if (options.run !== undefined) failed = await runCommandOf(options.run, kubeconfig, signal);
    else if (!options.check) {
      say(`try: KUBECONFIG=${kubeconfig} ${setting.programs.get('kubectl') ?? 'kubectl'} get nodes`);
      say('Ctrl-C ends the demo and removes everything');
      await untilInterrupted(mustRun, signal);
    }
    if (options.check) {
      await removed(plane, fleet, mustRun, options);
      say('pods and nodes are gone');
    }
    if (failed !== null) throw new DemoFailure(`${options.run ?? ''} ended with ${failed}`);
  } finally {
    await cleanUp(setting, plane, fleet);
  }
}

/**
 * Has pods and nodes removed while the control plane still runs, and waits until they are. Only for who looks at that: all goes with the
 * control plane anyway, and what its user has made there may take long, or never go. A Ctrl-C was obeyed before: this is not interrupted.
 */
async function removed(
  plane: OwnControlPlane,
  fleet: FleetProcess,
  mustRun: () => Promise<void>,
  { pods, timeoutMs }: NodesDemoOptions,
): Promise<void> {
  const { api } = plane;
  const limits = { timeoutMs, signal: new AbortController().signal };
  if (pods > 0) {
    await removeWork(api);
    const left = async (): Promise<Count> => ((await onePod(api)) === undefined ? NONE : { all: 1, ready: 0 });
    await settled('pods', 0, left, mustRun, limits);
  }
  await fleet.stop();
  await settled(
    'nodes',
    0,
    () => countNodes(api),
    () => plane.mustRun(),
    limits,
  );
}

/** Runs a shell command for the user; its exit code when that is not 0 (128 and more: by a signal). A Ctrl-C is for the command, too. */
async function runCommandOf(command: string, kubeconfig: string, signal: AbortSignal): Promise<number | null> {
  const child = spawn('/bin/sh', ['-c', command], {
    stdio: 'inherit',
    env: { ...process.env, KUBECONFIG: kubeconfig },
  });
  const end = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', end, { once: true });
  const [code, by] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  signal.removeEventListener('abort', end);
  if (signal.aborted) throw new Interrupted();
  return code === 0 ? null : (code ?? 128 + constants.signals[by ?? 'SIGKILL']);
}

async function settled(
  what: string,
  wanted: number,
  count: () => Promise<Count>,
  mustRun: () => Promise<void>,
  limits: StepLimits,
): Promise<void> {
  let last = NONE;
  const look = async (): Promise<true | null> => {
    await mustRun();
    last = await count();
    return last.all === wanted && last.ready === wanted ? true : null;
  };
  const told = () => `${what}: ${last.all} of ${wanted} there, ${last.ready} Ready`;
  await waitUntil(look, { ...limits, what: told, everyMs: LOOK_EVERY_MS });
}

/** What kubectl shows of a pod on a node that is not there: its log, and the answer of a command. */
async function lookAtOne({ programs, say }: NodesDemoSetting, kubeconfig: string, pod: string): Promise<void> {
  const kubectl = programs.get('kubectl');
  if (kubectl === undefined) return say('no kubectl here: logs and exec are not shown');
  // Its cache of the API's discovery would be left in a home folder.
  const ask = async (...args: string[]): Promise<void> => {
    const flags = ['--kubeconfig', kubeconfig, '--cache-dir', '/dev/null'];
    const { code, stdout, stderr } = await runCommand(kubectl, [...flags, ...args]);
    const answer = stdout.trim();
    if (code !== 0 || answer === '')
      throw new DemoFailure(`kubectl ${args.join(' ')}: ${stderr.trim() || 'says nothing'}`);
    say(`kubectl ${args.join(' ')}: ${answer.split('\n')[0]}`);
  };
  await ask('logs', pod);
  await ask('exec', pod, '--', 'uptime');
}

/** Removes all that the demo made, also after a failure at any point. Its own failures are told, and count. */
async function cleanUp(
  { dir, say }: NodesDemoSetting,
  plane: OwnControlPlane | undefined,
  fleet: FleetProcess | undefined,
): Promise<void> {
  const problems: string[] = [];
  for (const step of [() => fleet?.stop(), () => plane?.stop(), () => rm(dir, { recursive: true, force: true })])
    await step()?.catch((error: unknown) => problems.push(messageOf(error)));
  if (problems.length > 0) throw new DemoFailure(`the clean-up is not complete: ${problems.join('; ')}`);
  say('removed everything the demo made');
}
