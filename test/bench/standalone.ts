/**
 * Static pods on a real containerd, three ways in one run: raw CRI calls, actorlet, and the reference kubelet.
 *   bin/bench standalone [--sequential 10] [--burst 50] [--idle 15] [--only actorlet]
 * Times are from the rename of the manifest into its folder (raw: from the first call) to the `startedAt` that the
 * runtime gives the container. Prints one JSON object; compare within one run only.
 */
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { RuntimeServiceService } from '../../cri/generated/runtime/v1/api.ts';
import { BUSYBOX_IMAGE } from '../../cri/private-containerd/own-images.ts';
import type { CriCalls } from '../containerd/support/cri-calls.ts';
import { withContainerd } from '../containerd/support/with-containerd.ts';
import type { Agent } from './agents.ts';
import { startAgent } from './agents.ts';
import { now, quantiles, ratio } from './figures.ts';

const { values } = parseArgs({
  options: {
    sequential: { type: 'string', default: '10' },
    burst: { type: 'string', default: '50' },
    idle: { type: 'string', default: '15' },
    only: { type: 'string' },
  },
});
const COMMAND = ['/bin/sh', '-c', 'trap "exit 0" TERM; while :; do sleep 1000 & wait; done'];

function manifest(name: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { bench: '1' } },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'c', image: BUSYBOX_IMAGE, imagePullPolicy: 'IfNotPresent', command: COMMAND }],
    },
  });
}

/** Puts a manifest in place at once; returns when that was. */
async function put(agent: Agent, name: string): Promise<number> {
  const partial = join(agent.manifests, `.${name}.json`);
  await writeFile(partial, manifest(name));
  const at = now();
  await rename(partial, join(agent.manifests, `${name}.json`));
  return at;
}

/** Waits for containers of these pods to run; start times by pod name, ms since the epoch. */
async function started(cri: CriCalls, names: readonly string[]): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const until = now() + 180_000; now() < until && found.size < names.length; await sleep(10)) {
    for (const c of await cri.containers()) {
      const pod = (c.labels['io.kubernetes.pod.name'] ?? '').replace(/-bench$/, '');
      if (c.state !== 1 || found.has(pod) || !names.includes(pod)) continue;
      const { status } = await cri.call(RuntimeServiceService.containerStatus, { containerId: c.id, verbose: false });
      if (status !== undefined && status.startedAt !== '0')
        found.set(pod, Number(BigInt(status.startedAt) / 1000n) / 1000);
    }
  }
  if (found.size < names.length) throw new Error(`only ${found.size} of ${names.length} pods came up`);
  return found;
}

/** Waits until no container of these pods runs and their sandboxes are stopped. */
async function gone(cri: CriCalls, names: readonly string[]): Promise<number> {
  for (const until = now() + 180_000; now() < until; await sleep(10)) {
    const pods = (await cri.pods())
      .filter((p) => p.state === 0)
      .map((p) => (p.labels['io.kubernetes.pod.name'] ?? '').replace(/-bench$/, ''));
    if (!names.some((n) => pods.includes(n))) return now();
  }
  throw new Error('pods did not go');
}

async function measureAgent(name: Agent['name'], cri: CriCalls, place: { endpoint: string; dir: string }) {
  const probe = await startAgent(name, place);
  const agents = [probe];
  try {
    await put(probe, 'first');
    const first = await started(cri, ['first']);
    const startToFirst = (first.get('first') ?? 0) - probe.spawnedAt;
    await rm(join(probe.manifests, 'first.json'));
    await gone(cri, ['first']);
    await sleep(3_000);
    const rss0 = probe.usage().rssMiB;
    const starts: number[] = [];
    const stops: number[] = [];
    const cpu0 = probe.usage().cpuMs;
    for (let i = 0; i < Number(values.sequential); i++) {
      const pod = `seq-${i}`;
      const at = await put(probe, pod);
      starts.push(((await started(cri, [pod])).get(pod) ?? 0) - at);
      await sleep(100 + 137 * (i % 7)); // not in step with anybody's polling
      const deleted = now();
      await rm(join(probe.manifests, `${pod}.json`));
      stops.push((await gone(cri, [pod])) - deleted);
    }
    const cpuPerPod = (probe.usage().cpuMs - cpu0) / Number(values.sequential);
    const names = Array.from({ length: Number(values.burst) }, (_, i) => `burst-${i}`);
    const burstAt = now();
    for (const pod of names) await put(probe, pod);
    const up = Math.max(...(await started(cri, names)).values()) - burstAt;
    await sleep(5_000);
    const before = probe.usage();
    await sleep(Number(values.idle) * 1000);
    const after = probe.usage();
    const removedAt = now();
    for (const pod of names) await rm(join(probe.manifests, `${pod}.json`));
    const allGone = (await gone(cri, names)) - removedAt;
    await sleep(2_000);
    return {
      startToFirstPodMs: Math.round(startToFirst),
      manifestToStartMs: quantiles(starts),
      deleteToGoneMs: quantiles(stops),
      cpuMsPerPodLife: Math.round(cpuPerPod),
      burstAllStartedMs: Math.round(up),
      burstAllGoneMs: Math.round(allGone),
      rssMiB: { pods0: rss0, [`pods${names.length}`]: after.rssMiB },
      idleCpuPercent: Math.round(((after.cpuMs - before.cpuMs) / (Number(values.idle) * 1000)) * 10_000) / 100,
    };
  } finally {
    for (const agent of agents) await agent.stop();
  }
}

async function measureRaw(cri: CriCalls) {
  const starts: number[] = [];
  const stops: number[] = [];
  for (let i = 0; i < Number(values.sequential); i++) {
    const at = now();
    const sandbox = await cri.runSandbox({ name: `raw-${i}` });
    const id = await cri.runContainer(sandbox, 'c', COMMAND);
    const { status } = await cri.call(RuntimeServiceService.containerStatus, { containerId: id, verbose: false });
    starts.push(Number(BigInt(status?.startedAt ?? '0') / 1000n) / 1000 - at);
    const deleted = now();
    await cri.call(RuntimeServiceService.stopContainer, { containerId: id, timeout: '1' });
    await cri.call(RuntimeServiceService.stopPodSandbox, { podSandboxId: sandbox.id });
    stops.push(now() - deleted);
    await cri.removeSandbox(sandbox.id);
  }
  return { callsToStartMs: quantiles(starts), stopMs: quantiles(stops) };
}

const result = await withContainerd(async ({ endpoint, rootDir, cri }) => {
  const place = { endpoint, dir: rootDir };
  const raw = await measureRaw(cri);
  const actorlet = values.only === 'kubelet' ? null : await measureAgent('actorlet', cri, place);
  const kubelet = values.only === 'actorlet' ? null : await measureAgent('kubelet', cri, place);
  const again = await measureRaw(cri);
  return {
    raw,
    actorlet,
    kubelet,
    rawAgain: again,
    ratios: actorlet !== null && {
      'manifest to start, actorlet / raw (p50)': ratio(actorlet.manifestToStartMs.p50, raw.callsToStartMs.p50),
      ...(kubelet !== null && {
        'manifest to start, kubelet / actorlet (p50)': ratio(
          kubelet.manifestToStartMs.p50,
          actorlet.manifestToStartMs.p50,
        ),
        'agent start to first pod, kubelet / actorlet': ratio(kubelet.startToFirstPodMs, actorlet.startToFirstPodMs),
        'delete to gone, kubelet / actorlet (p50)': ratio(kubelet.deleteToGoneMs.p50, actorlet.deleteToGoneMs.p50),
        'burst all started, kubelet / actorlet': ratio(kubelet.burstAllStartedMs, actorlet.burstAllStartedMs),
      }),
    },
  };
});
process.stdout.write(`${JSON.stringify(result, null, 1)}\n`);
