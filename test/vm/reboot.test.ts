import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { referenceTool } from '../tools/reference-tool.ts';
import { waitFor } from '../tools/wait-for.ts';
import { LOOK_MS, Machine, PATIENCE_MS } from './support/machine.ts';
import { machineLook, states, toldPods } from './support/node-look.ts';
import type { MachineLook, ToldPod } from './support/node-look.ts';
import { manifestName, NodeInVm } from './support/node-in-vm.ts';
import { KINDS } from './support/pods-of-all-kinds.ts';

/** After a boot: what the node says, and what the machine has. */
interface AfterBoot {
  readonly pods: Record<string, ToldPod>;
  readonly look: MachineLook;
}

/**
 * What runs after the first boot, as CRI names it: each thing once, with the attempt that follows. Kubelet removes init containers with
 * their logs before it begins anew in another sandbox; sidecars are counted by what is left of them, so they begin at 0.
 */
const RUNNING = [
  ...['main_always', 'stays_onfailure', 'main_init-and-sidecar'].map((name) => [name, 1] as const),
  ['sidecar_init-and-sidecar', 0] as const,
].map(([name, attempt]) => `${name}-vm_default_${name.split('_')[1]}_${attempt}`);
const SANDBOXES = ['always', 'init-and-sidecar', 'onfailure'].map((pod) => `${pod}-vm_default_${pod}_1`);
const NAMES = KINDS.map(({ pod }) => pod.metadata?.name ?? '');

let machine: Machine;
/** What kubelet makes of the same pods and the same crash on the same machine. */
let kubelets: AfterBoot;
let node: NodeInVm;

before(async () => {
  machine = await Machine.up('--memory', '3072');
  const kubelet = new NodeInVm(machine, {}, await referenceTool('kubelet'));
  await bringUp(kubelet);
  await powerFails();
  kubelets = await settled(kubelet);
  await forget(kubelet);
  node = new NodeInVm(machine);
});
after(() => machine?.down());

test('after the power failed, pods of all kinds are what kubelet makes of them, and nothing of the old boot is left', async (t) => {
  await bringUp(node);
  await powerFails();
  const wanted = sidecarsCountOn(kubelets);
  const found = await settled(node, wanted);
  assert.deepEqual(withoutLost(found), withoutLost(wanted));
  if (!isDeepStrictEqual(found, wanted)) t.diagnostic(await machine.run(RUNTIME_RECOVERS));
  // In words, should kubelet's own be made of nothing.
  assert.deepEqual(kubelets.look.running, [...RUNNING, ...SANDBOXES].sort());
  assert.match(kubelets.pods['always']?.containers[0] ?? '', /^main: runs, restarts 1, before: (exit 255|none)$/);
  assert.equal(kubelets.pods['never']?.phase, 'Failed');
  assert.equal(kubelets.pods['onfailure']?.containers[0], 'done: exit 0, restarts 0, before: none');
  assert.deepEqual(kubelets.pods['never-done']?.containers, ['main: exit 0, restarts 0, before: none']);
});

/** What the runtime says of taking up its containers after the boot. */
const RUNTIME_RECOVERS = `journalctl -b -u containerd --no-pager -o cat | grep -E 'level=(warning|error)|recover' | tail -n 40; true`;

/**
 * Without how the instances ended that the crash took. On a host with other work either agent, and not always the same, has had nothing to
 * say of them; the runtime's own words are told then.
 */
function withoutLost(boot: AfterBoot): AfterBoot {
  return { ...boot, pods: retold(boot, (text) => text.replace(/(restarts 1), before: (none|exit 255)$/, '$1')) };
}

/** The pods, with what is told of each container changed. */
function retold({ pods }: AfterBoot, change: (text: string) => string): AfterBoot['pods'] {
  return Object.fromEntries(
    Object.entries(pods).map(([name, pod]) => [
      name,
      { ...pod, containers: pod.containers.map((each) => change(each)) },
    ]),
  );
}

/** Kubelet's, but for sidecars: it forgets them with the sandbox, so one that was lost in the crash looks as if it had never run. Ours counts on. */
function sidecarsCountOn(boot: AfterBoot): AfterBoot {
  const [forgotten, counted] = ['restarts 0, before: none', 'restarts 1, before: exit 255'];
  const { look } = boot;
  return {
    pods: retold(boot, (text) => (text.startsWith('sidecar: ') ? text.replace(forgotten, counted) : text)),
    look: { ...look, running: look.running.map((name) => name.replace(/^(sidecar_.*)_0$/, '$1_1')).sort() },
  };
}

/** Starts the agent with a pod of each kind, and waits until each is as it should be before anything happens. */
async function bringUp(agent: NodeInVm): Promise<void> {
  await agent.start();
  for (const { pod } of KINDS) await agent.add(pod);
  await waitFor(
    'a pod of each kind',
    async () => {
      const pods = new Map((await agent.pods()).map((pod) => [manifestName(pod), pod]));
      const now = NAMES.map((name) => pods.get(name)).map((pod) => pod && [pod.status?.phase, ...states(pod)]);
      const wanted = KINDS.map(({ phase, containers }) => [phase, ...containers]);
      if (isDeepStrictEqual(now, wanted)) return true;
      throw new Error(JSON.stringify(now));
    },
    () => machine.run(agent.logs()),
    PATIENCE_MS,
    LOOK_MS,
  );
}

/** Waits until the node is as `wanted`, or without it: until as many pods run as should. Returns what there is when nothing more comes. */
async function settled(agent: NodeInVm, wanted?: AfterBoot): Promise<AfterBoot> {
  await agent.healthy();
  let now: AfterBoot | undefined;
  const calm = ({ look, pods }: AfterBoot) =>
    look.running.length === RUNNING.length + SANDBOXES.length &&
    [look.leases, look.namespaces].every((count) => count === SANDBOXES.length) &&
    look.slices.filter((slice) => slice.endsWith('.slice') && slice.includes('-pod')).length === SANDBOXES.length &&
    NAMES.every((name) => !['Pending', 'none', undefined].includes(pods[name]?.phase)) &&
    NAMES.every((name) => !pods[name]?.containers.some((each) => each.includes('waits')));
  const found = await waitFor(
    wanted ? 'what kubelet has after the boot' : 'the pods after the boot',
    async () => {
      now = { pods: await toldPods(agent), look: await machineLook(machine, agent) };
      return (wanted ? isDeepStrictEqual(withoutLost(now), withoutLost(wanted)) : calm(now)) ? now : undefined;
    },
    async () => `${JSON.stringify(now, null, 1)}\n${await machine.run(agent.logs())}`,
    PATIENCE_MS / 3,
    LOOK_MS,
  ).catch(async (error: unknown) => {
    if (!wanted || !now) throw error;
    // The comparison says it better; why it is so, the agent's log.
    process.stderr.write(
      await machine.run(
        `journalctl -b -u agent --no-pager -o cat | grep -i -E 'sandbox|fail|error' | tail -n 40; true`,
      ),
    );
    return now;
  });
  return found;
}

/** The machine stops in an instant. What it had told as written is on its disk: what the runtime would have lost else is lost to either agent. */
async function powerFails(): Promise<void> {
  await machine.run('sync');
  await machine.reboot({ crash: true });
}

/** Ends the agent with all that it has made. */
async function forget(agent: NodeInVm): Promise<void> {
  await agent.remove(...NAMES);
  await agent.gone(...NAMES);
  await agent.stop();
  await machine.run(
    'ctr -n k8s.io task ls -q | xargs -r ctr -n k8s.io task rm -f > /dev/null; ctr -n k8s.io c ls -q | xargs -r ctr -n k8s.io c rm; ' +
      'systemctl stop containerd; systemctl stop kubepods.slice; ' +
      'rm -rf /var/lib/kubelet/* /var/lib/cni/networks/* /var/log/pods/* /var/lib/containerd/io.containerd.grpc.v1.cri; systemctl start containerd',
  );
}
