import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../machines/values/message-of.ts';
import { containerdLayout } from '../../cri/private-containerd/layout.ts';
import { unmountBelow } from '../../cri/private-containerd/mount-points.ts';
import { runCommand } from '../../cri/private-containerd/run-command.ts';
import { stopPrivateContainerd } from '../../cri/private-containerd/stop-private-containerd.ts';
import { readAgentLine } from './agent-log.ts';
import { isUp } from './agent-pods.ts';
import type { SeenPod } from './agent-pods.ts';
import { startAgent } from './agent-process.ts';
import type { DemoAgent } from './agent-process.ts';
import { collectJournal } from './collect-journal.ts';
import type { DemoOptions } from './demo-options.ts';
import { DEMO_CONTAINERS, EXPECTED_LOG_LINES, demoPod } from './demo-pod.ts';
import { podLogLines } from './pod-log-lines.ts';
import { lookBefore, podLogDir, podRemains, removePodRemains } from './pod-remains.ts';
import type { MachineBefore } from './pod-remains.ts';
import { waitForAgent, waitForPod, waitForPodGone } from './watch-pod.ts';
import { DemoFailure, untilInterrupted, waitUntil } from './wait-until.ts';
import type { StepLimits } from './wait-until.ts';

/** What the demo works with; `say` prints a line for the user. */
export interface DemoSetting {
  options: DemoOptions;
  /** New and empty: all in it is removed at the end. */
  rootDir: string;
  /** Path of `bin/actorlet`. */
  launcher: string;
  say: (line: string) => void;
  signal: AbortSignal;
}

/** Runs the demo from the start of the agent to the last clean-up; throws {@link DemoFailure} or {@link Interrupted}. */
export async function runDemo(setting: DemoSetting): Promise<void> {
  const { options, rootDir, say, signal } = setting;
  const limits = { timeoutMs: options.timeoutMs, signal };
  const before = await lookBefore();
  const manifestDir = join(rootDir, 'manifests');
  const baseName = `hello-${Math.random().toString(16).slice(2, 6).padEnd(4, '0')}`;
  let agent: DemoAgent | undefined;
  let failed = true;
  try {
    await mkdir(manifestDir);
    say(`starting the agent with a containerd of its own below ${rootDir}`);
    const onLine = stateReporter(baseName, say);
    agent = await startAgent({ command: setting.launcher, rootDir, manifestDir, onLine });
    await waitForAgent(agent, limits);

    const podName = `${baseName}-${agent.nodeName}`;
    const manifest = join(manifestDir, `${baseName}.json`);
    const written = performance.now();
    await writeManifest(manifest, demoPod(baseName));
    say(`wrote ${manifest}`);
    const pod = await waitForPod(agent, podName, (seen) => isUp(seen, DEMO_CONTAINERS.length - 1), limits);
    say(
      `pod ${podName} is ${pod.phase} at ${pod.podIP}, ${Math.round(performance.now() - written)} ms after its manifest`,
    );
    await checkPod(pod);
    await showLogs(pod, podName, { ...limits, say });
    say(`look inside the pod's machine: ${await waitForInspector(agent, podName, limits)}`);

    if (!options.check) {
      say(`the agent's log: ${agent.logFile}`);
      say(`its pods: curl ${agent.readOnly}/pods   its health: curl ${agent.healthz}`);
      say(`edit or remove ${manifest} and watch; Ctrl-C ends the demo and removes everything`);
      await untilInterrupted(mustRun(agent), signal);
    }
    await rm(manifest);
    say('removed the manifest');
    // a Ctrl-C has been obeyed from here on: the clean-up itself is not interrupted
    const ending = { timeoutMs: options.timeoutMs, signal: new AbortController().signal };
    await waitForPodGone(agent, podName, ending);
    await waitUntil(async () => ((await podRemains(podName, pod.uid, rootDir)).length === 0 ? true : null), {
      ...ending,
      what: () => `pod ${podName} left something behind`,
    }).catch(async (error: unknown) => {
      const left = await podRemains(podName, pod.uid, rootDir);
      throw left.length === 0 ? error : new DemoFailure(`pod ${podName} left behind: ${left.join(', ')}`);
    });
    await checkRuntimeEmpty(rootDir);
    say('pod, containers, volumes, cgroups and logs are gone');
    const code = await agent.stop();
    if (code !== 0)
      throw new DemoFailure(`the agent ended with exit code ${code} on SIGTERM; its last lines:\n${agent.tail()}`);
    if (options.journal !== undefined) await leaveJournal(setting, options.journal);
    failed = false;
  } finally {
    await cleanUp(setting, agent, baseName, before, failed);
  }
}

function stateReporter(baseName: string, say: (line: string) => void): (line: string) => void {
  const start = performance.now();
  return (line) => {
    const read = readAgentLine(line);
    const seconds = `${((performance.now() - start) / 1000).toFixed(2).padStart(7)} s`;
    if (read.kind === 'state' && read.pod.includes(`/${baseName}`)) {
      say(`${seconds}  ${read.state}${read.why === '' ? '' : `  (${read.why})`}`);
    }
    if (read.kind === 'problem') say(`${seconds}  agent: ${read.text}`);
  };
}

/** Written beside and moved into place: the agent never sees half of it (files that begin with a dot are skipped). */
async function writeManifest(path: string, pod: object): Promise<void> {
  const draft = path.replace(/\/([^/]+)$/, '/.$1');
  await writeFile(draft, `${JSON.stringify(pod, null, 2)}\n`);
  await rename(draft, path);
}

async function checkPod(pod: SeenPod): Promise<void> {
  const [init] = pod.initContainers;
  if (init?.state !== 'Completed' || init.exitCode !== 0) {
    throw new DemoFailure(
      `the init container is ${init?.state ?? 'not reported'} (exit code ${init?.exitCode}), not Completed`,
    );
  }
  const restarted = pod.containers.find(({ restartCount }) => restartCount > 0);
  if (restarted !== undefined) throw new DemoFailure(`container ${restarted.name} was restarted`);
}

async function showLogs(
  pod: SeenPod,
  podName: string,
  { say, ...limits }: { timeoutMs: number; signal: AbortSignal; say: (line: string) => void },
): Promise<void> {
  const dir = podLogDir(podName, pod.uid);
  say(`logs in ${dir}:`);
  for (const container of DEMO_CONTAINERS) {
    const expected = EXPECTED_LOG_LINES[container] ?? '';
    const look = async () => {
      const lines = await podLogLines(dir, container);
      return lines.includes(expected) ? lines : null;
    };
    const lines = await waitUntil(look, {
      ...limits,
      what: () => `the log of container ${container} in ${dir} does not have the line "${expected}"`,
    });
    for (const line of lines) say(`  ${container}: ${line}`);
  }
}

function mustRun(agent: DemoAgent): () => void {
  return () => {
    if (agent.exited() !== null) throw new DemoFailure(`the agent ended by itself; its last lines:\n${agent.tail()}`);
  };
}

/** Asks containerd itself: the agent may say that a pod is gone and leave its containers. */
async function checkRuntimeEmpty(rootDir: string): Promise<void> {
  const { socket } = containerdLayout(rootDir);
  const list = await runCommand('ctr', ['-a', socket, '-n', 'k8s.io', 'containers', 'ls', '-q']);
  if (list.code !== 0)
    throw new DemoFailure(`the private containerd at ${socket} does not answer: ${list.stderr.trim()}`);
  const left = list.stdout
    .trim()
    .split('\n')
    .filter((id) => id !== '');
  if (left.length > 0) throw new DemoFailure(`containerd still has containers after the pod: ${left.join(', ')}`);
}

async function leaveJournal({ rootDir, options, launcher, say }: DemoSetting, file: string): Promise<void> {
  const lines = await collectJournal(rootDir, file);
  if (lines === 0) throw new DemoFailure(`no journal was found below ${rootDir}`);
  say(`the message log (${lines} lines) is in ${file}; step through it: bin/actorlet replay ${file}`);
  if (!options.check) return;
  const replay = await runCommand(launcher, ['replay', file]);
  if (replay.code !== 0 || !/identical/.test(replay.stdout)) {
    throw new DemoFailure(`replay of ${file} is not identical:\n${replay.stdout}${replay.stderr}`);
  }
  say('replay: identical');
}

/** Removes all that the demo made, also after a failure at any point. Its own failures are told, and count. */
async function cleanUp(
  { rootDir, options, say }: DemoSetting,
  agent: DemoAgent | undefined,
  baseName: string,
  before: MachineBefore,
  failed: boolean,
): Promise<void> {
  const problems: string[] = [];
  const step = async (body: () => Promise<unknown>) => {
    await body().catch((error: unknown) => problems.push(messageOf(error)));
  };
  await step(async () => agent?.stop());
  if (failed && options.journal !== undefined) {
    const file = options.journal;
    await step(async () => say(`the message log (${await collectJournal(rootDir, file)} lines) is in ${file}`));
  }
  await step(() => stopPrivateContainerd(containerdLayout(rootDir), { purge: true }));
  await step(() => removePodRemains(baseName, before));
  await step(async () => {
    const mounted = await unmountBelow(rootDir);
    if (mounted.length > 0) throw new Error(`still mounted: ${mounted.join(', ')}`);
    await rm(rootDir, { recursive: true, force: true });
  });
  if (problems.length > 0) throw new DemoFailure(`the clean-up is not complete: ${problems.join('; ')}`);
  say('removed everything the demo made');
}

/**
 * Waits until the inspector shows the pod, asked as its page asks it; its address carries the token. Gives the address.
 * Throws `DemoFailure`.
 */
async function waitForInspector(agent: DemoAgent, podName: string, limits: StepLimits): Promise<string> {
  let problem = 'the agent has told no address of it';
  const look = async (): Promise<string | null> => {
    const address = agent.inspector();
    if (address === null) return null;
    const { origin, searchParams } = new URL(address);
    const headers = { authorization: `Bearer ${searchParams.get('token') ?? ''}` };
    try {
      const answer = await fetch(`${origin}/api/pods`, { headers, signal: AbortSignal.timeout(2_000) });
      const pods = (await answer.json()) as { name: string }[];
      problem = `it answers ${answer.status} without the pod`;
      return pods.some(({ name }) => name === podName) ? address : null;
    } catch (error) {
      problem = messageOf(error);
      return null;
    }
  };
  return waitUntil(look, { ...limits, what: () => `the inspector does not show pod ${podName}: ${problem}` });
}
