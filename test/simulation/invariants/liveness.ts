import type { Pod } from '../../../machines/protocol/api-types.ts';
import { IMAGES, ODD_VOLUME } from '../draw/draw-pod.ts';
import type { PodPlan } from '../draw/plan.ts';
import type { ContainerSpec } from '../draw/pod-spec.ts';
import type { World } from '../world/world.ts';
import { isEvicted } from './eviction.ts';
import { isDisplaced } from './preemption.ts';
import { hasSucceeded, wasEndedWell } from './own-endings.ts';
import type { Ground, Rule } from './rule.ts';
import { wentDown } from './shutdown.ts';

/** What becomes of a container in the long run. */
type Fate = 'runs' | 'succeeds' | 'fails' | 'noImage' | 'unwell';

/** Once nothing goes wrong any more, every pod comes to what its spec and its containers' fate call for. */
export const everyPodArrives: Rule = {
  name: 'every pod comes to where it belongs',
  source: 'Pod Lifecycle, "Pod phase"; the state that the API server shows at the end',
  begin: (ground) => ({
    end: () => {
      const { world, say } = ground;
      const { workload, api } = world;
      for (const key of workload.born) {
        const plan = workload.plans.get(key);
        if (plan === undefined) continue;
        const uid = workload.uidOf(key) ?? '';
        const shown = plan.source === 'api' ? api.get(plan.namespace, plan.name) : mirrorOf(ground, uid);
        const current = plan.source === 'api' ? shown?.metadata?.uid === uid : shown !== undefined;
        if (workload.deleted.has(key)) {
          if (current) say(`${key} (${uid}) was deleted and is still shown as ${shown?.status?.phase ?? ''}`);
        } else if (shown === undefined || !current) {
          if (!hidden(ground, plan, uid)) say(`${key} (${uid}) is not shown`);
        } else checkEnd(ground, plan, shown);
      }
    },
  }),
};

/**
 * A static pod and a pod of the API of its full name: only one can have a place in the API. And a static pod that has
 * ended gets no mirror pod any more (kubelet makes it in SyncPod), nor one that was rejected before it had one.
 */
function hidden({ world }: Ground, plan: PodPlan, uid: string): boolean {
  if (plan.source === 'api') return false;
  if (plan.spec.restartPolicy !== 'Always' || plan.spec.activeDeadlineSeconds !== undefined) return true;
  const told = world.agent?.store.list().find(({ metadata }) => metadata?.uid === uid)?.status;
  if (told?.phase === 'Failed' && told.reason === 'UnexpectedAdmissionError') return true;
  return world.api.get(plan.namespace, `${plan.name}-sim`) !== undefined;
}

function mirrorOf({ world }: Ground, uid: string): Pod | undefined {
  return world.api.list().find(({ metadata }) => metadata?.annotations?.['kubernetes.io/config.mirror'] === uid);
}

function checkEnd({ world, say }: Ground, plan: PodPlan, shown: Pod): void {
  const phase = shown.status?.phase ?? '';
  const stirred = world.workload.disturbed.has(plan.key) || hookMayFail(world, plan) || hookMayHang(world, plan);
  const disturbed = stirred || maySkipTries(world, plan);
  const disrupting =
    world.plan.node.disks !== undefined ||
    world.plan.faults.some(({ kind }) => kind === 'pressure' || kind === 'shutdown');
  // A full node does not take it, or it gave way to a critical pod.
  if (world.plan.node.full === true && phase === 'Failed' && isDisplaced(shown)) return;
  if ((disrupting || world.plan.node.full === true) && wasEndedWell(shown.status)) return;
  if (phase === 'Failed' && probeMayHang(world, plan)) return;
  // Who breaks a limit of his own on the node's disks is not disrupted.
  if (world.plan.node.disks !== undefined && hasSucceeded(shown.status ?? {})) return;
  const allowed = phasesOf(
    plan,
    { disturbed, disrupted: disrupting, waitsForWriter: waitsForWriter(world, plan) },
    shown,
  );
  if (!allowed.includes(phase)) {
    say(`${plan.key} is ${phase}, not ${allowed.join(' or ')}: ${JSON.stringify(shown.status).slice(0, 1_500)}`);
    return;
  }
  const calm = !stirred && plan.spec.activeDeadlineSeconds === undefined;
  if (!calm || phase !== 'Running') return;
  for (const container of plan.spec.containers) {
    if (fateOf(plan, container) !== 'runs' || Object.keys(plan.fates[container.name]?.bad ?? {}).length > 0) continue;
    const status = shown.status?.containerStatuses?.find(({ name }) => name === container.name);
    if (status?.state?.running === undefined || !status.ready)
      say(`${plan.key}/${container.name} should run and be ready: ${JSON.stringify(status)}`);
  }
}

/** Containers whose start failed never ran, but count: the only run of one that is not restarted is then not its first try. */
function maySkipTries(world: World, { spec, fates }: PodPlan): boolean {
  if (spec.restartPolicy !== 'Never' || !world.plan.faults.some(({ kind }) => kind === 'cri')) return false;
  return Object.values(fates).some(({ attempts }) => attempts.length > 1);
}

/** A container whose postStart hook failed is ended, and here not restarted: a call of the runtime that fails is enough. */
function hookMayFail(world: World, { spec }: PodPlan): boolean {
  if (spec.restartPolicy !== 'Never') return false;
  if (!world.plan.faults.some(({ kind }) => kind === 'cri' || kind === 'runtime-restart')) return false;
  return hasPostStart(spec);
}

function hasPostStart(spec: PodPlan['spec']): boolean {
  return startedOf(spec).some(({ lifecycle }) => lifecycle?.postStart !== undefined);
}

function startedOf({ initContainers = [], containers }: PodPlan['spec']): ContainerSpec[] {
  return [...initContainers, ...containers];
}

/** A probe by a command whose call hangs has failed when its time is over; what it ends is not restarted here. */
function probeMayHang(world: World, { spec }: PodPlan): boolean {
  if (spec.restartPolicy !== 'Never' || !execMayHang(world)) return false;
  return startedOf(spec).some(({ livenessProbe, startupProbe }) => livenessProbe?.exec ?? startupProbe?.exec);
}

function execMayHang(world: World): boolean {
  return world.plan.faults.some(
    (f) => f.kind === 'cri' && f.how === 'hang' && (f.rpcs.includes('ExecSync') || f.rpcs.includes('*')),
  );
}

/** A postStart hook has no time limit (kubelet ExecSync with timeout 0): one whose call hangs keeps its container from being told as running. */
function hookMayHang(world: World, { spec }: PodPlan): boolean {
  return execMayHang(world) && hasPostStart(spec);
}

/** In which phases a pod may be when all has come to rest. */
function phasesOf(
  plan: PodPlan,
  { disturbed, disrupted, waitsForWriter }: { disturbed: boolean; disrupted: boolean; waitsForWriter: boolean },
  shown: Pod,
): string[] {
  const { spec } = plan;
  if ((isEvicted(shown) || wentDown(shown)) && disrupted) return ['Failed'];
  // Its plugin gave it nothing; whether it may is a rule of its own.
  if (shown.status?.reason === 'UnexpectedAdmissionError') return ['Failed'];
  const deadline = shown.spec?.activeDeadlineSeconds !== undefined || spec.activeDeadlineSeconds !== undefined;
  const either = (...phases: string[]): string[] => [
    ...phases,
    ...(deadline ? ['Failed'] : []),
    ...(disturbed ? ['Succeeded', 'Failed', 'Running', 'Pending'] : []),
  ];
  if (spec.volumes?.some(({ name }) => name === ODD_VOLUME) === true) return either('Pending');
  if (waitsForWriter) return [...phasesOf(plan, { disturbed, disrupted, waitsForWriter: false }, shown), 'Pending'];
  const never = spec.restartPolicy === 'Never';
  for (const init of spec.initContainers ?? []) {
    const fate = fateOf(plan, init);
    const sidecar = init.restartPolicy === 'Always';
    if (fate === 'noImage') return either('Pending');
    // A sidecar holds up what follows until it is seen to run: one that crashes may never be.
    if (sidecar && fate !== 'runs') return either('Pending', 'Running', 'Succeeded', 'Failed');
    if (!sidecar && (fate === 'fails' || (fate === 'succeeds' && never && mayFail(plan, init))))
      return either(never ? 'Failed' : 'Pending');
  }
  const fates = spec.containers.map((container) => fateOf(plan, container));
  if (fates.includes('noImage')) return either('Pending');
  if (fates.includes('unwell')) return either('Running', 'Failed', 'Succeeded');
  if (spec.restartPolicy === 'Always') return either('Running');
  if (fates.includes('runs')) return either('Running');
  if (never) {
    const failed = spec.containers.some((container) => mayFail(plan, container));
    return either(failed ? 'Failed' : 'Succeeded');
  }
  return either(fates.includes('fails') ? 'Running' : 'Succeeded');
}

/** A claim of it that only one pod may have, or only pods with the same SELinux label, is shared with others. */
function waitsForWriter(
  { plan: { claims = [], drivers = [], node }, workload }: World,
  { key, spec }: PodPlan,
): boolean {
  const uses = ({ volumes = [] }: PodPlan['spec'], name: string): boolean =>
    volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name);
  const others = [...workload.born].filter((each) => each !== key).flatMap((each) => workload.plans.get(each) ?? []);
  const level = ({ securityContext }: PodPlan['spec']): string => securityContext?.seLinuxOptions?.level ?? '';
  return claims.some(({ name, mode, driver }) => {
    if (!uses(spec, name)) return false;
    const users = others.filter((other) => uses(other.spec, name));
    if (mode === 'ReadWriteOncePod') return users.length > 0;
    const labelled = node.labels === 'all' && drivers.some((each) => each.name === driver && each.labels === true);
    return labelled && users.some((other) => level(other.spec) !== level(spec));
  });
}

/** Its first try fails. */
function mayFail(plan: PodPlan, { name }: ContainerSpec): boolean {
  const first = plan.fates[name]?.attempts[0];
  return first !== undefined && ('startError' in first || ('exit' in first && first.exit.code !== 0));
}

function fateOf(plan: PodPlan, { name, image, volumeMounts }: ContainerSpec): Fate {
  // What no container can be made of, whatever it lacks.
  if (volumeMounts?.some(({ subPathExpr }) => subPathExpr !== undefined) === true) return 'noImage';
  if ((IMAGES.bad as readonly string[]).includes(image ?? '')) return 'noImage';
  const fate = plan.fates[name];
  if (fate === undefined) return 'runs';
  if (Object.keys(fate.bad).some((kind) => kind !== 'readiness')) return 'unwell';
  const never = plan.spec.restartPolicy === 'Never';
  const tries = fate.attempts;
  const last = never ? tries[0] : tries.at(-1);
  if (last === undefined || 'runs' in last) return 'runs';
  return 'exit' in last && last.exit.code === 0 ? 'succeeds' : 'fails';
}
