/**
 * Generic PLEG against evented PLEG (KEP-3386) on containerd v2, in one run: idle CPU of agent and containerd with pods
 * that run and nothing else, and the time from a container's death to its pod's status.
 *   bin/bench evented-pleg [--pods 30] [--idle 40] [--deaths 12]
 * A death is a SIGKILL to the container's process, at moments that are in step with nobody's polling; its time is
 * taken until `/pods` says Failed. Prints one JSON object; compare within one run only.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { RuntimeServiceService } from '../../cri/generated/runtime/v1/api.ts';
import { TestNode } from '../containerd/agent/support/test-node.ts';
import { podOf, runs } from '../containerd/agent/support/test-pod.ts';
import { referenceTool } from '../tools/reference-tool.ts';
import { now, quantiles, ratio } from './figures.ts';

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '30' },
    idle: { type: 'string', default: '40' },
    deaths: { type: 'string', default: '12' },
  },
});
const names = Array.from({ length: Number(values.pods) }, (_, i) => `pod-${i}`);
const containerd = await referenceTool('containerd2');

/** CPU that a process has used, ms. */
function cpuMs(pid: number): number {
  const fields = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The process id of a container, which containerd tells in its verbose status. */
async function pidOf(node: TestNode, pod: string): Promise<number> {
  const { c: containerId = '' } = await node.running(pod);
  const { info } = await node.containerd.cri.call(RuntimeServiceService.containerStatus, {
    containerId,
    verbose: true,
  });
  return (JSON.parse(info['info'] ?? '{}') as { pid: number }).pid;
}

async function death(node: TestNode, pod: string, i: number): Promise<number> {
  const pid = await pidOf(node, pod);
  await sleep(300 + 137 * (i % 7));
  process.kill(pid, 'SIGKILL');
  const at = now();
  while ((await node.pod(pod))?.status?.phase !== 'Failed') await sleep(3);
  return now() - at;
}

async function metric(node: TestNode, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${node.ports.readOnlyPort}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((l) => l.startsWith(`${name} `))
      ?.split(' ')[1],
  );
}

async function measure(evented: boolean) {
  const flags = evented ? ['--feature-gates', 'EventedPLEG=true'] : [];
  const node = await TestNode.make({ flags, containerd: { containerd } });
  try {
    const agent = await node.startAgent();
    for (const name of names) await node.write(`${name}.json`, podOf(name, [runs('c')], { restartPolicy: 'Never' }));
    for (const name of names) await node.waitPod(name, 'running', (p) => p.status?.phase === 'Running');
    await sleep(15_000);
    const use = () => ({
      agent: agent.exit === null ? cpuMs(agent.pid) : 0,
      containerd: cpuMs(node.containerd.containerd.pid),
    });
    const relists = await metric(node, 'kubelet_pleg_relist_duration_seconds_count');
    const [before, from] = [use(), now()];
    await sleep(Number(values.idle) * 1000);
    const [after, took] = [use(), now() - from];
    const percent = (a: number, b: number) => Math.round(((b - a) / took) * 10_000) / 100;
    const idle = {
      agent: percent(before.agent, after.agent),
      containerd: percent(before.containerd, after.containerd),
      relists: (await metric(node, 'kubelet_pleg_relist_duration_seconds_count')) - relists,
    };
    const deaths: number[] = [];
    for (let i = 0; i < Number(values.deaths); i++) deaths.push(await death(node, names[i] ?? '', i));
    // What containerd uses by itself: its pods go on without an agent.
    await agent.kill();
    await sleep(5_000);
    const [alone, since] = [use().containerd, now()];
    await sleep(Number(values.idle) * 1000);
    const containerdAlone = Math.round(((use().containerd - alone) / (now() - since)) * 10_000) / 100;
    await node.startAgent();
    for (const name of names) await node.remove(`${name}.json`);
    await node.waitGone(...names);
    return { idleCpuPercent: { ...idle, containerdAlone }, deathToStatusMs: quantiles(deaths) };
  } finally {
    await node.stop();
  }
}

const generic = await measure(false);
const evented = await measure(true);
const total = (m: typeof generic) => m.idleCpuPercent.agent + m.idleCpuPercent.containerd;
const version = execFileSync(containerd, ['--version'], { encoding: 'utf8' }).trim().split(' ')[2];
process.stdout.write(
  `${JSON.stringify(
    {
      containerd: version,
      pods: names.length,
      generic,
      evented,
      eventedToGeneric: {
        idleCpu: ratio(total(evented), total(generic)),
        deathToStatusP50: ratio(evented.deathToStatusMs.p50, generic.deathToStatusMs.p50),
      },
    },
    null,
    2,
  )}\n`,
);
