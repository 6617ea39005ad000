import { setTimeout as sleep } from 'node:timers/promises';
import { PAUSE_IMAGE } from '../../cri/private-containerd/own-images.ts';
import type { ClusterNode } from '../cluster/support/cluster-node.ts';
import { clusterTool } from '../cluster/support/cluster-tool.ts';
import type { ControlPlane } from '../cluster/support/control-plane.ts';
import { RunningCommand } from '../cluster/support/running-command.ts';
import { isReadyPod } from '../cluster/support/seen-pods.ts';
import { Space } from '../cluster/support/space.ts';
import { nodeClient } from '../cluster/kubelet-api/support/node-client.ts';
import { noise } from '../cluster/kubelet-api/support/noise.ts';
import { RawClient } from '../cluster/kubelet-api/support/raw-request.ts';
import { ECHO_PORT, workPod } from '../cluster/kubelet-api/support/work-pod.ts';
import { usageOfTree } from './cluster-usage.ts';
import { now, quantiles } from './figures.ts';

/** How much is measured. */
export interface StreamingWish {
  pods: number;
  repeat: number;
  mebibytes: number;
}

/** Figures of one agent. */
export interface StreamingFigures {
  mebibytesPerSecond: { execStdin: number; execStdout: number; portForward: number; portForward20: number };
  ms: Record<'execTrue' | 'metrics' | 'cadvisor' | 'resource' | 'summary' | 'pods', ReturnType<typeof quantiles>>;
  /** CPU of the agent and its children while a GiB goes through exec. */
  cpuMsPerGiB: number;
  rssMiB: { before: number; after: number };
}

const MIB = 1 << 20;

/** Measures a node whose agent runs; its pods are gone at the end, also after a failure. */
export async function measureStreaming(
  plane: ControlPlane,
  node: ClusterNode,
  wish: StreamingWish,
): Promise<StreamingFigures> {
  const space = await Space.make(plane, node.name);
  try {
    await furnish(space, node, wish.pods);
    return await measure(plane, node, space, wish);
  } finally {
    await empty(space);
  }
}

async function measure(
  plane: ControlPlane,
  node: ClusterNode,
  space: Space,
  wish: StreamingWish,
): Promise<StreamingFigures> {
  const files = await nodeClient(plane);
  const program = await clusterTool('stream-client');
  const base = `https://${node.address}:${node.ports.port}`;
  const client = (command: string, path: string, ...args: string[]) => {
    const flags = ['-cert', files.cert, '-key', files.key, '-ca', files.ca, '-transport', 'spdy'];
    return new RunningCommand(program, [command, '-url', `${base}${path}`, ...flags, ...args], {});
  };
  const execPath = (script: string, more = '') =>
    `/exec/${space.name}/work/main?command=sh&command=-c&command=${encodeURIComponent(script)}&output=1&error=1${more}`;
  const bytes = wish.mebibytes * MIB;
  const mustBeGood = async (command: RunningCommand) => {
    const end = await command.mustEnd(300_000);
    if (end.code !== 0) throw new Error(`${node.name}: exit code ${end.code}: ${end.err}`);
    return end;
  };
  const perSecond = (sent: number, ms: number) => Math.round((sent / MIB / (ms / 1000)) * 10) / 10;
  const forward = async (connections: number, each: number) => {
    const args = ['-port', String(ECHO_PORT), '-connections', String(connections), '-bytes', String(each)];
    const { out } = await mustBeGood(client('forward', `/portForward/${space.name}/work`, ...args));
    const told = JSON.parse(out) as { bytes: number; ms: number };
    // each byte goes both ways
    return perSecond(told.bytes, told.ms);
  };

  // what is loaded and compiled at first use is not measured
  await mustBeGood(client('latency', execPath('true'), '-repeat', '3'));
  await forward(2, MIB);
  const before = usageOfTree(node.agent.pid);
  const latency = await mustBeGood(client('latency', execPath('true'), '-repeat', String(wish.repeat)));
  const cpu = usageOfTree(node.agent.pid).cpuMs;
  let began = now();
  const up = client('exec', execPath('cat > /dev/null', '&input=1'), '-stdin');
  await up.feed(noise(bytes).stream);
  await mustBeGood(up);
  const execStdin = perSecond(bytes, now() - began);
  began = now();
  const down = await mustBeGood(client('exec', execPath(`head -c ${bytes} /dev/zero`)));
  if (down.bytes !== bytes) throw new Error(`${down.bytes} bytes came instead of ${bytes}`);
  const execStdout = perSecond(bytes, now() - began);
  const cpuMsPerGiB = Math.round(((usageOfTree(node.agent.pid).cpuMs - cpu) * 512) / wish.mebibytes);
  const portForward = await forward(1, bytes / 2);
  const portForward20 = await forward(20, Math.floor(bytes / 40));

  const raw = new RawClient(node.address, node.ports.port, { name: 'bench', pair: files });
  const page = async (path: string) => {
    const times: number[] = [];
    for (let i = 0; i < wish.repeat + 3; i++) {
      const start = now();
      const { status } = await raw.ask('GET', path);
      if (status !== 200) throw new Error(`${path}: ${status}`);
      times.push(now() - start);
      // as monitoring does: not one right after the other
      await sleep(100);
    }
    return quantiles(times.slice(3));
  };
  try {
    const ms = {
      execTrue: quantiles((JSON.parse(latency.out) as { ms: number[] }).ms),
      metrics: await page('/metrics'),
      cadvisor: await page('/metrics/cadvisor'),
      resource: await page('/metrics/resource'),
      summary: await page('/stats/summary'),
      pods: await page('/pods'),
    };
    const rssMiB = { before: before.rssMiB, after: usageOfTree(node.agent.pid).rssMiB };
    return { mebibytesPerSecond: { execStdin, execStdout, portForward, portForward20 }, ms, cpuMsPerGiB, rssMiB };
  } finally {
    raw.close();
  }
}

/** The pod to work in and so many others beside it. */
async function furnish(space: Space, node: ClusterNode, pods: number): Promise<void> {
  await space.create(await workPod('work', node.name));
  for (let i = 0; i < pods - 1; i++) {
    await space.create({
      kind: 'Pod',
      metadata: { name: `idle-${i}`, labels: { idle: 'yes' } },
      spec: {
        nodeName: node.name,
        terminationGracePeriodSeconds: 1,
        automountServiceAccountToken: false,
        containers: [{ name: 'c', image: PAUSE_IMAGE, imagePullPolicy: 'IfNotPresent' }],
      },
    });
  }
  await space.waitPods('', 'all ready', (all) => all.length === pods && all.every(isReadyPod), 240_000);
}

async function empty(space: Space): Promise<void> {
  for (const pod of await space.pods()) await space.remove('Pod', pod.metadata?.name ?? '');
  await space.waitPods('', 'none left', (all) => all.length === 0, 240_000);
}
