/**
 * A node as people run it (systemd, cgroup v2, in a virtual machine of bin/vm): both agents in turn in one machine.
 *   bin/bench usual-node [--rounds 2] [--pods 5]
 * Times are taken inside, by its clock: from the start of the unit to healthy, from the rename of a static pod's manifest into its folder to the
 * first line of its process and to `Running` on /pods, from the manifest's removal to the end of its cgroup; CPU of the unit for a pod's life.
 * Computing takes about twelve times as long there as outside: compare the agents with each other only.
 */
import { parseArgs } from 'node:util';
import { referenceTool } from '../tools/reference-tool.ts';
import { AGENT, Machine } from '../vm/support/machine.ts';
import { NodeInVm } from '../vm/support/node-in-vm.ts';
import { quantiles, ratio } from './figures.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '2' }, pods: { type: 'string', default: '5' } },
});
const KINDS = ['kubelet', 'actorlet'] as const;
const MANIFEST = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'bench', namespace: 'default' },
  spec: {
    terminationGracePeriodSeconds: 1,
    volumes: [{ name: 'out', hostPath: { path: '/var/bench', type: 'DirectoryOrCreate' } }],
    containers: [
      {
        ...{ name: 'main', image: 'localhost/actorlet/busybox:1', imagePullPolicy: 'Never' },
        command: ['sh', '-c', 'trap "exit 0" TERM; echo > /out/began; sleep 100000 & wait'],
        volumeMounts: [{ name: 'out', mountPath: '/out' }],
      },
    ],
  },
});
const MAIN_PID = 'systemctl show -p MainPID --value agent';
/** In the machine: waits for a condition, looking ten times a second; prints ms since `$from`. */
const TIMED =
  'ms() { echo $((($(date +%s%N) - from) / 1000000)); }; timed() { until eval "$1"; do sleep 0.1; done; echo "$2 $(ms)"; }; ' +
  'from=$(date +%s%N)';

interface Figures {
  readonly startToHealthyMs: number[];
  readonly manifestToProcessMs: number[];
  readonly manifestToRunningMs: number[];
  readonly removalToGoneMs: number[];
  readonly cpuMsOfAPod: number[];
  readonly rssMiB: number[];
}

const figures: Record<(typeof KINDS)[number], Figures> = { kubelet: none(), actorlet: none() };
const machine = await Machine.up('--cpus', '4', '--numa', '2', '--memory', '3072');
try {
  await machine.write('/root/bench.json', MANIFEST);
  const kubelet = await referenceTool('kubelet');
  for (let round = 0; round < Number(values.rounds); round++)
    for (const kind of KINDS) await measure(kind, new NodeInVm(machine, {}, kind === 'kubelet' ? kubelet : undefined));
} finally {
  await machine.down();
}
const summary = Object.fromEntries(
  KINDS.map((kind) => [
    kind,
    Object.fromEntries(Object.entries(figures[kind]).map(([name, all]: [string, number[]]) => [name, quantiles(all)])),
  ]),
);
const ratios = Object.fromEntries(
  (Object.keys(figures.actorlet) as (keyof Figures)[]).map((name) => [
    `${name}, actorlet / kubelet (p50)`,
    ratio(quantiles(figures.actorlet[name]).p50, quantiles(figures.kubelet[name]).p50),
  ]),
);
process.stdout.write(`${JSON.stringify({ agent: AGENT, ...summary, ratios }, null, 1)}\n`);

async function measure(kind: (typeof KINDS)[number], node: NodeInVm): Promise<void> {
  const mine = figures[kind];
  // What it reads from the disk for the first time is read before the clock runs.
  await node.start();
  await machine.run('systemctl stop agent');
  const [healthy = 0] = await timed(
    `systemctl start --no-block agent; timed 'curl -sf -o /dev/null http://127.0.0.1:10248/healthz' healthy`,
  );
  mine.startToHealthyMs.push(healthy);
  // One that is not counted: images, the first sandbox.
  for (let pod = 0; pod <= Number(values.pods); pod++) {
    await machine.run('sleep 5; rm -rf /var/bench');
    const before = await cpuMs();
    const [process = 0, running = 0] = await timed(
      `cp /root/bench.json /etc/kubernetes/manifests/.new; mv /etc/kubernetes/manifests/.new /etc/kubernetes/manifests/bench.json; ` +
        `timed '[ -e /var/bench/began ]' process; timed 'curl -s http://127.0.0.1:10255/pods | grep -q \\"phase\\":\\"Running\\"' running`,
    );
    await machine.run('sleep 5');
    const [gone = 0] = await timed(
      `rm /etc/kubernetes/manifests/bench.json; timed '! ls -d /sys/fs/cgroup/kubepods.slice/*/*-pod* > /dev/null 2>&1' gone`,
    );
    await machine.run('sleep 5');
    if (pod === 0) continue;
    mine.manifestToProcessMs.push(process);
    mine.manifestToRunningMs.push(running);
    mine.removalToGoneMs.push(gone);
    mine.cpuMsOfAPod.push((await cpuMs()) - before);
  }
  mine.rssMiB.push(
    Math.round(Number(await machine.run(`awk '/^VmRSS/ {print $2}' /proc/$(${MAIN_PID})/status`)) / 1024),
  );
  await node.stop();
}

/** Ms that the script prints, in their order. */
async function timed(script: string): Promise<number[]> {
  const text = await machine.run(`${TIMED}; ${script}`);
  return [...text.matchAll(/^\w+ (\d+)$/gm)].map(([, ms]) => Number(ms));
}

/** What the unit has used of the processors. */
async function cpuMs(): Promise<number> {
  return Number(
    await machine.run(
      'awk \'$1 == "usage_usec" {print int($2 / 1000)}\' /sys/fs/cgroup/system.slice/agent.service/cpu.stat',
    ),
  );
}

function none(): Figures {
  return {
    ...{ startToHealthyMs: [], manifestToProcessMs: [], manifestToRunningMs: [] },
    ...{ removalToGoneMs: [], cpuMsOfAPod: [], rssMiB: [] },
  };
}
