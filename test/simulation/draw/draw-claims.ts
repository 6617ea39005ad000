import { handleOf } from '../world/storage/storage-objects.ts';
import type { Random } from '../world/random.ts';
import type { ClaimPlan, CsiDriverPlan, Fault, Plan, PodPlan } from './plan.ts';

const SECOND = 1_000;

/** Drivers of each kind: with all steps, without an attachment, and with nothing but publishing. */
const DRIVERS: readonly CsiDriverPlan[] = [
  { name: 'whole.csi.sim', attaches: true, stages: true, republishes: false },
  { name: 'stages.csi.sim', attaches: false, stages: true, republishes: false },
  { name: 'attaches.csi.sim', attaches: true, stages: false, republishes: false },
  { name: 'plain.csi.sim', attaches: false, stages: false, republishes: true },
];

const CALLS = [
  'NodeStageVolume',
  'NodePublishVolume',
  'NodeUnpublishVolume',
  'NodeUnstageVolume',
  'NodeExpandVolume',
] as const;

/** The same plan on a node with CSI drivers, most of whose pods have claims, some of them the same one. */
export function withClaims(random: Random, plan: Plan, faults: boolean): Plan {
  const claims = drawClaims(random.fork('claims'), plan.quietAt);
  const pods = random.fork('pods');
  for (const pod of plan.pods) if (pod.source === 'api' && pods.chance(0.8)) giveClaims(pods, pod, claims);
  const more = faults ? drawTroubles(random.fork('faults'), claims, plan) : [];
  const whole = { ...plan, drivers: [...DRIVERS], claims, faults: [...plan.faults, ...more] };
  const labels = random.fork('labels');
  return labels.chance(0.4) ? withLabels(labels, whole) : whole;
}

/** The same with SELinux: most pods have one of two levels. */
function withLabels(random: Random, plan: Plan): Plan {
  for (const { spec } of plan.pods)
    if (random.chance(0.8))
      spec.securityContext = { ...spec.securityContext, seLinuxOptions: { level: random.pick(['s0:c1', 's0:c2']) } };
  const drivers = DRIVERS.map((driver) => ({ ...driver, labels: driver.stages }));
  return { ...plan, node: { ...plan.node, labels: random.pick(['alone', 'all', 'all']) }, drivers };
}

function drawClaims(random: Random, until: number): ClaimPlan[] {
  return Array.from({ length: random.between(3, 8) }, (_, i) => ({
    name: `c${i}`,
    driver: random.pick(['whole.csi.sim', 'whole.csi.sim', ...DRIVERS.map(({ name }) => name)]),
    mode: random.pick(['ReadWriteOnce', 'ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany'] as const),
    block: random.chance(0.2),
    boundAt: random.chance(0.8) ? 0 : random.between(1, 300) * SECOND,
    ...(random.chance(0.25) && { growsAt: random.between(1, Math.floor((until * 0.8) / SECOND)) * SECOND }),
  }));
}

/** One to three volumes, sometimes one of them twice, or one that lives with the pod. */
function giveClaims(random: Random, { spec }: PodPlan, claims: readonly ClaimPlan[]): void {
  const [container] = spec.containers;
  if (container === undefined) return;
  for (let i = random.between(1, 3); i > 0; i--) {
    const name = `claim${i}`;
    const claim = random.pickAny(claims);
    if (claim === undefined) continue;
    if (random.chance(0.15)) spec.volumes?.push({ name, csi: { driver: 'plain.csi.sim' } });
    else spec.volumes?.push({ name, persistentVolumeClaim: { claimName: claim.name } });
    const block = spec.volumes?.at(-1)?.csi === undefined && claim.block;
    if (block) container.volumeDevices = [...(container.volumeDevices ?? []), { name, devicePath: `/dev/${name}` }];
    else container.volumeMounts?.push({ name, mountPath: `/${name}` });
  }
}

/** What goes wrong with drivers and attachments; most of it while pods come and go. */
function drawTroubles(random: Random, claims: readonly ClaimPlan[], { quietAt, pods, changes }: Plan): Fault[] {
  const moments = [...pods, ...changes].map(({ at }) => at);
  const window = (longest: number) => {
    const near = random.chance(0.7) ? Math.max(0, (random.pickAny(moments) ?? 0) - random.between(0, 3_000)) : null;
    const from = near ?? random.between(0, Math.floor((quietAt * 0.8) / SECOND)) * SECOND;
    const span = random.between(1, longest) * SECOND;
    return {
      from: Math.min(from, quietAt - 2 * SECOND),
      for: Math.max(SECOND, Math.min(span, quietAt - from - SECOND)),
    };
  };
  return Array.from({ length: random.between(0, 12) }, (): Fault => {
    const dice = random.next();
    if (dice < 0.65) {
      const how = random.pick(['fail', 'unsure', 'hang', 'hang', 'lost', 'lost', 'slow'] as const);
      const calls = random.chance(0.3) ? ['*'] : [random.pick([...CALLS] as [string, ...string[]])];
      const claim = random.chance(0.5) ? random.pickAny(claims) : undefined;
      return {
        ...{ kind: 'csi', how, calls, chance: random.pick([0.3, 1]) },
        ...(claim !== undefined && { handle: handleOf(claim.name) }),
        ...window(how === 'hang' ? 400 : 300),
      };
    }
    if (dice < 0.8) {
      const driver = random.pick(DRIVERS.map(({ name }) => name) as [string, ...string[]]);
      return { kind: 'csi-driver', how: random.pick(['away', 'moves']), driver, ...window(200) };
    }
    if (dice < 0.83) return { kind: 'power', from: window(1).from };
    if (dice < 0.9) return { kind: 'attach', how: random.pick(['late', 'fail']), ...window(300) };
    const effect = `csi.${random.pick([...CALLS] as [string, ...string[]])}`;
    return { kind: 'crash-at-effect', effect, count: random.between(1, 3), done: random.chance(0.6), ...window(600) };
  });
}
