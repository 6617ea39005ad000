import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../machines/protocol/api-types.ts';
import { expandSlice } from '../../machines/cgroups/slice-names.ts';
import { referenceTool } from '../tools/reference-tool.ts';
import { waitFor } from '../tools/wait-for.ts';
import { named, podCgroups } from './support/cgroup-tree.ts';
import type { CgroupTree } from './support/cgroup-tree.ts';
import { LOOK_MS, Machine, PATIENCE_MS } from './support/machine.ts';
import { NodeInVm } from './support/node-in-vm.ts';
import { sleepingPod } from './support/sleeping-pod.ts';
import { statsShape, valuesOf } from './support/stats-shape.ts';
import type { StatsShape } from './support/stats-shape.ts';

/** Of each QoS class one, a burstable one without limits, and one with a quota that systemd rounds up. */
const PODS: Pod[] = [
  sleepingPod('guaranteed', { limits: { cpu: '250m', memory: '64Mi' }, requests: { cpu: '250m', memory: '64Mi' } }),
  sleepingPod('burstable', { limits: { cpu: '123m', memory: '96Mi' }, requests: { cpu: '100m', memory: '32Mi' } }),
  sleepingPod('requests', { requests: { cpu: '500m', memory: '16Mi' } }),
  sleepingPod('besteffort', {}),
];
const BURSTABLE = 'kubepods.slice/kubepods-burstable.slice/kubepods-burstable';
const NAMES = PODS.map(({ metadata }) => metadata?.name ?? '');
const CONFIG = {
  podPidsLimit: 321,
  systemReserved: { cpu: '200m', memory: '100Mi', pid: '500' },
  kubeReserved: { memory: '50Mi' },
  enforceNodeAllocatable: ['pods', 'system-reserved-compressible'],
  featureGates: { MemoryQoS: true },
  memorySwap: { swapBehavior: 'LimitedSwap' },
  systemReservedCgroup: '/system.slice',
};

let machine: Machine;
let node: NodeInVm;
/** What kubelet makes of the same pods and configuration on the same machine. */
let kubelets: { tree: CgroupTree; system: string; stats: StatsShape };

before(async () => {
  machine = await Machine.up('--memory', '3072');
  kubelets = await treeOfKubelet();
  node = new NodeInVm(machine, CONFIG);
});
after(() => machine?.down());

test('pods of each class have the cgroups that kubelet gives them', async () => {
  await node.start();
  for (const each of PODS) await node.add(each);
  const pods = await node.running(...NAMES);
  // Tiers follow their pods with the next round of housekeeping.
  const tree = await waitFor(
    'the cgroups of kubelet',
    async () => {
      const now = named(await podCgroups(machine), pods);
      return isDeepStrictEqual(now, kubelets.tree) ? now : undefined;
    },
    undefined,
    PATIENCE_MS / 5,
    LOOK_MS,
  ).catch(async () => named(await podCgroups(machine), pods));
  assert.deepEqual(tree, kubelets.tree);
  // Some of it in words, should kubelet's own be made of nothing.
  const slices = Object.keys(tree).filter((path) => path.endsWith('.slice'));
  assert.deepEqual(slices.sort(), [
    'kubepods.slice',
    'kubepods.slice/kubepods-besteffort.slice',
    'kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podbesteffort.slice',
    'kubepods.slice/kubepods-burstable.slice',
    'kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podburstable.slice',
    'kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podrequests.slice',
    'kubepods.slice/kubepods-podguaranteed.slice',
  ]);
  const guaranteed = tree['kubepods.slice/kubepods-podguaranteed.slice'];
  assert.equal(guaranteed?.['cpu.max'], '25000 100000');
  assert.equal(guaranteed['memory.max'], String(64 << 20));
  assert.equal(guaranteed['pids.max'], '321');
  assert.equal(guaranteed['memory.min'], String(64 << 20));
  const main = tree[`${BURSTABLE}-podburstable.slice/main`];
  // No limited swap for a static pod: it is critical.
  assert.deepEqual([main?.['memory.min'], main?.['memory.swap.max']], [String(32 << 20), '0']);
  assert.equal(tree[`${BURSTABLE}-podburstable.slice`]?.['cpu.max'], '13000 100000');
  assert.equal(await systemWeight(), kubelets.system);
  assert.equal(await machine.run('ls -d /sys/fs/cgroup/kubepods 2> /dev/null || true'), '');
});

test('systemd knows the limits: they are what they were after it has read its units again', async () => {
  const tree = await podCgroups(machine, { slices: true });
  await machine.run('systemctl daemon-reload');
  assert.deepEqual(await podCgroups(machine, { slices: true }), tree);
  const [slice = ''] = Object.keys(tree).filter((path) => path.includes('burstable-pod'));
  const shown = await machine.run(`systemctl show -p TasksMax,Wants,LoadState ${slice.split('/').at(-1)}`);
  assert.deepEqual(shown.trim().split('\n').sort(), [
    'LoadState=loaded',
    'TasksMax=321',
    'Wants=kubepods-burstable.slice',
  ]);
});

test('summary, resource and cAdvisor metrics find the pods in their slices', async () => {
  const uids = await uidsOf(node);
  const summary = JSON.parse(await node.get('/stats/summary')) as {
    pods: { podRef: { uid: string }; memory?: { usageBytes?: number }; containers?: { cpu?: object }[] }[];
    node: { systemContainers: { name: string }[] };
  };
  for (const [name, uid] of uids) {
    const found = summary.pods.find(({ podRef }) => podRef.uid === uid);
    assert.ok((found?.memory?.usageBytes ?? 0) > 0, `memory of ${name}: ${JSON.stringify(found)}`);
    assert.ok(found?.containers?.[0]?.cpu, `cpu of the container of ${name}`);
  }
  assert.ok(summary.node.systemContainers.some(({ name }) => name === 'pods'));
  const cadvisor = await node.get('/metrics/cadvisor');
  for (const [name, uid] of uids) {
    const slice = `pod${uid.replaceAll('-', '_')}.slice"`;
    const line = cadvisor.split('\n').find((each) => each.startsWith('container_memory_usage') && each.includes(slice));
    assert.match(line ?? '', new RegExp(`pod="${name}-vm"`), name);
  }
});

test('summary and metrics tell what those of kubelet tell: pressure (PSI) and swap, too', async () => {
  let shape: StatsShape | undefined;
  await waitFor(
    'what kubelet tells',
    async () => {
      shape = await statsShape(node);
      return isDeepStrictEqual(shape, kubelets.stats) ? true : undefined;
    },
    undefined,
    PATIENCE_MS / 5,
    LOOK_MS,
  ).catch(() => undefined);
  assert.deepEqual(shape, kubelets.stats);
  for (const each of ['node.cpu.psi.some.avg10', 'node.io.psi.full.total', 'node.swap.swapUsageBytes'])
    assert.ok(kubelets.stats.summary.includes(`${each}: number`), each);
  // An emulated machine that has just started pods has made somebody wait.
  const cadvisor = await node.get('/metrics/cadvisor');
  const waited = cadvisor
    .split('\n')
    .filter((each) => /^container_pressure_cpu_waiting_seconds_total.*[{,]id="\/"/.test(each));
  assert.ok(Number(waited[0]?.split('} ')[1]?.split(' ')[0]) > 0, waited.join());
  assert.deepEqual(valuesOf(await node.get('/metrics/resource'), 'resource_scrape_error'), [0]);
});

test('a restart of the agent leaves cgroups and containers as they are', async () => {
  const before = await podCgroups(machine);
  await node.stop();
  await node.start();
  await node.running(...NAMES);
  assert.deepEqual(await podCgroups(machine), before);
});

test('what an agent that is gone left behind is killed and removed', async () => {
  const uid = '11111111-2222-3333-4444-555555555555';
  const slice = `kubepods-besteffort-pod${uid.replaceAll('-', '_')}.slice`;
  const folder = `/sys/fs/cgroup${expandSlice(slice)}`;
  // It would be gone before anybody has seen it.
  await machine.run(
    `systemctl kill -s STOP agent; systemd-run -q --slice=${slice} --scope --unit=left-over sleep 654321 > /dev/null 2>&1 & ` +
      `until [ -d ${folder}/left-over.scope ]; do sleep 0.1; done; systemctl kill -s CONT agent`,
  );
  await machine.until('its removal', `! [ -e ${folder} ]`, 'journalctl -u agent -n 60 --no-pager -o cat');
  assert.equal(await machine.run('pgrep -f "sleep 65432[1]" || true'), '');
  await assertNoUnit(slice);
});

test('pods that end leave nothing: no cgroup, no unit, no container', async () => {
  await node.remove('besteffort', 'burstable');
  await node.gone('besteffort', 'burstable');
  await machine.until(
    'the end of their slices',
    '! ls -d /sys/fs/cgroup/kubepods.slice/*/*besteffort-pod* 2> /dev/null',
  );
  // These end while no agent looks.
  await node.stop();
  await node.remove('guaranteed', 'requests');
  await node.start();
  await node.gone('guaranteed', 'requests');
  await machine.until(
    'the end of all slices',
    '! find /sys/fs/cgroup/kubepods.slice -name "*pod*.slice" -mindepth 1 | grep pod.*-pod',
  );
  await assertNoUnit('kubepods*-pod*');
  assert.equal(await machine.run('ctr -n k8s.io containers ls -q'), '');
  assert.equal(await machine.run('systemctl list-units --failed --plain --no-legend'), '');
  // An emulator beside other work may be so late that the agent does not wait for it; it tries again.
  const logs = await machine.run(
    'journalctl -u agent --no-pager -o cat | grep -E "HOST0[0-9]+" | grep -v "No reply within" || true',
  );
  assert.equal(logs, '');
  await node.stop();
});

/** Runs the reference kubelet with the same pods, notes what it makes, and removes all of it. */
async function treeOfKubelet(): Promise<typeof kubelets> {
  const kubelet = new NodeInVm(machine, CONFIG, await referenceTool('kubelet'));
  await kubelet.start();
  for (const each of PODS) await kubelet.add(each);
  const pods = await kubelet.running(...NAMES);
  const tree = named(await podCgroups(machine), pods);
  const system = await systemWeight();
  // Its rates take a second reading.
  const stats = await waitFor(
    'statistics of kubelet',
    async () => {
      const shape = await statsShape(kubelet);
      // What the runtime tells comes first, what cAdvisor reads in the cgroups with one of its rounds.
      const whole = NAMES.every((name) =>
        ['cpu.usageNanoCores', 'cpu.psi.some.avg10', 'memory.pageFaults'].every((field) =>
          shape.summary.includes(`pods[${name}-vm].containers[main].${field}: number`),
        ),
      );
      return whole ? shape : undefined;
    },
    undefined,
    PATIENCE_MS,
    LOOK_MS,
  );
  await kubelet.remove(...NAMES);
  await kubelet.gone(...NAMES);
  await machine.until('no pod of kubelet', '[ -z "$(ctr -n k8s.io containers ls -q)" ]');
  await kubelet.stop();
  await machine.run(
    'systemctl stop kubepods.slice; systemctl set-property --runtime system.slice CPUWeight=77; rm -rf /var/lib/kubelet/*',
  );
  await machine.until('no cgroup of kubelet', '! [ -e /sys/fs/cgroup/kubepods.slice ]');
  return { tree, system, stats };
}

async function uidsOf(agent: NodeInVm): Promise<Map<string, string>> {
  const pods = await agent.running(...NAMES);
  return new Map(NAMES.map((name) => [name, pods.get(name)?.metadata?.uid ?? 'none']));
}

function systemWeight(): Promise<string> {
  return machine.run('cat /sys/fs/cgroup/system.slice/cpu.weight');
}

async function assertNoUnit(pattern: string): Promise<void> {
  assert.equal(await machine.run(`systemctl list-units --all --plain --no-legend '${pattern}'`), '');
}
