import type { Random } from '../world/random.ts';
import type { BadTime, Fate, PodPlan } from './plan.ts';
import type { ContainerSpec, PodSpec } from './pod-spec.ts';

/** Images that are there, are pulled, come after some failures, and never come: there is none, or its name is none. */
export const IMAGES = {
  present: ['there:1', 'there:2'],
  pulled: ['registry/app:1', 'registry/app:2', 'registry/slow:1'],
  flaky: ['registry/flaky:1'],
  bad: ['registry/none:1', 'registry/NoName:1'],
} as const;

/** Name of a volume that keeps its pod from starting for ever. */
export const ODD_VOLUME = 'odd';

const SECOND = 1_000;
const MINUTE = 60_000;

type Ending = Fate['attempts'][number];

/** Draws one pod of any shape. */
export function drawPod(
  random: Random,
  place: { key: string; at: number; source: 'api' | 'file'; name: string },
): PodPlan {
  const job = place.source === 'api' && random.chance(0.4);
  const policy = job
    ? random.pick(['Never', 'OnFailure'] as const)
    : random.pick(['Always', 'Always', 'OnFailure', 'Never'] as const);
  const fates: Record<string, Fate> = {};
  const initContainers: ContainerSpec[] = [];
  const inits = random.chance(0.4) ? random.between(1, 2) : 0;
  for (let i = 0; i < inits; i++) {
    const name = `init${i}`;
    initContainers.push(container(random, name));
    fates[name] = { attempts: quickEnd(random), onStop: stopping(random), bad: {} };
  }
  const sidecars = random.chance(0.3) ? random.between(1, 2) : 0;
  for (let i = 0; i < sidecars; i++) {
    const name = `side${i}`;
    const spec = { ...container(random, name), restartPolicy: 'Always' };
    initContainers.splice(random.between(0, initContainers.length), 0, spec);
    const fate: Fate = {
      attempts: random.chance(0.8) ? [{ runs: true }] : crashes(random),
      onStop: stopping(random),
      bad: {},
    };
    withProbes(random, spec, fate, 0.2);
    withHooks(random, spec, fate);
    fates[name] = fate;
  }
  const containers: ContainerSpec[] = [];
  const mains = random.chance(0.3) ? random.between(2, 3) : 1;
  for (let i = 0; i < mains; i++) {
    const name = `main${i}`;
    const spec = container(random, name);
    containers.push(spec);
    const ends = job || random.chance(0.3);
    const fate: Fate = { attempts: ends ? ending(random) : [{ runs: true }], onStop: stopping(random), bad: {} };
    withProbes(random, spec, fate, 0.3);
    withHooks(random, spec, fate);
    fates[name] = fate;
  }
  const spec: PodSpec = {
    restartPolicy: policy,
    terminationGracePeriodSeconds: random.pick([0, 1, 5, 30, 30, 60, 120]),
    dnsPolicy: 'ClusterFirst',
    enableServiceLinks: random.chance(0.5),
    securityContext: {},
    schedulerName: 'default-scheduler',
    ...(random.chance(0.15) && { hostNetwork: true }),
    ...(random.chance(0.1) && { activeDeadlineSeconds: random.pick([30, 300, 1800]) }),
    volumes: [{ name: 'data', emptyDir: {} }],
    ...(initContainers.length > 0 && { initContainers }),
    containers,
  };
  if (place.source === 'api' && random.chance(0.3)) withConfig(spec);
  if (place.source === 'api' && random.chance(0.02)) withOddVolume(spec);
  if (place.source === 'api' && random.chance(0.02)) withOddSubPath(spec);
  keepSleepsShort(spec);
  const finalizers = place.source === 'api' && random.chance(0.1) ? ['example.com/kept'] : undefined;
  const uid = place.source === 'file' && random.chance(0.25) ? `given-${place.key}` : undefined;
  return {
    ...place,
    namespace: 'default',
    ...(uid !== undefined && { uid }),
    spec,
    fates,
    ...(finalizers && { finalizers }),
  };
}

/** A volume that shows an object of the API, before or after the other. */
function withConfig(spec: PodSpec): void {
  spec.volumes?.push({ name: 'config', configMap: { name: 'settings', defaultMode: 420 } });
  spec.containers[0]?.volumeMounts?.push({ name: 'config', mountPath: '/config' });
}

/** A volume that no node sets up any more. */
function withOddVolume(spec: PodSpec): void {
  spec.volumes?.push({ name: ODD_VOLUME, gitRepo: { repository: 'https://nowhere/odd' } });
  spec.containers[0]?.volumeMounts?.push({ name: ODD_VOLUME, mountPath: '/odd' });
}

/** A sub path from an environment that cannot be made: no container can be made of it. */
function withOddSubPath(spec: PodSpec): void {
  const [container] = spec.containers;
  const mount = container?.volumeMounts?.[0];
  if (container === undefined || mount === undefined) return;
  mount.subPathExpr = '$(LIMIT)';
  const resourceFieldRef = { containerName: 'nowhere', resource: 'limits.cpu' };
  container.env = [{ name: 'LIMIT', valueFrom: { resourceFieldRef } }];
}

/** The API server refuses a preStop that sleeps as long as the grace period. */
function keepSleepsShort(spec: PodSpec): void {
  const grace = spec.terminationGracePeriodSeconds ?? 30;
  for (const { lifecycle } of [...(spec.initContainers ?? []), ...spec.containers]) {
    const sleep = lifecycle?.preStop?.sleep;
    if (sleep === undefined || sleep.seconds < grace) continue;
    if (grace > 1) sleep.seconds = grace - 1;
    else delete lifecycle?.preStop;
  }
}

function container(random: Random, name: string): ContainerSpec {
  const dice = random.next();
  const image = random.pick(
    dice < 0.45
      ? [...IMAGES.present]
      : dice < 0.88
        ? [...IMAGES.pulled]
        : dice < 0.96
          ? [...IMAGES.flaky]
          : [...IMAGES.bad],
  );
  return {
    name,
    image,
    imagePullPolicy: random.pick(['IfNotPresent', 'IfNotPresent', 'Always']),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: random.pick(['File', 'FallbackToLogsOnError']),
    resources: random.chance(0.3) ? { requests: { cpu: '10m', memory: '10Mi' } } : {},
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  };
}

function quickEnd(random: Random): [Ending, ...Ending[]] {
  const done: Ending = { exit: { after: random.between(0, 20) * SECOND, code: 0 } };
  if (random.chance(0.75)) return [done];
  if (random.chance(0.7)) return [fails(random), done];
  return [fails(random)];
}

function fails(random: Random): Ending {
  if (random.chance(0.15)) return { startError: 'exec: "nothing": executable file not found in $PATH' };
  return { exit: { after: random.between(0, 30) * SECOND, code: random.pick([1, 2, 137, 255]) } };
}

function ending(random: Random): [Ending, ...Ending[]] {
  const done: Ending = { exit: { after: random.between(0, 300) * SECOND, code: 0 } };
  const dice = random.next();
  if (dice < 0.55) return [done];
  if (dice < 0.8) return [fails(random), fails(random), done];
  return crashes(random);
}

function crashes(random: Random): [Ending, ...Ending[]] {
  return random.chance(0.5) ? [fails(random)] : [fails(random), { runs: true }];
}

function stopping(random: Random): Fate['onStop'] {
  const dice = random.next();
  if (dice < 0.15) return 'ignore';
  if (dice < 0.6) return { after: 0 };
  return { after: random.between(1, 20) * SECOND, ...(random.chance(0.5) && { code: 0 }) };
}

function withProbes(random: Random, spec: ContainerSpec, fate: Fate, chance: number): void {
  if (!random.chance(chance)) return;
  for (const kind of ['startup', 'liveness', 'readiness'] as const) {
    if (!random.chance(0.5)) continue;
    const how = random.next();
    const action =
      how < 0.5
        ? { exec: { command: ['probe', kind] } }
        : how < 0.8
          ? { httpGet: { path: `/${spec.name}/${kind}`, port: 80, scheme: 'HTTP' } }
          : { grpc: { port: 81, service: `${spec.name}/${kind}` } };
    spec[`${kind}Probe`] = {
      ...action,
      periodSeconds: random.pick([10, 30, 60, 120]),
      timeoutSeconds: random.pick([1, 5]),
      failureThreshold: random.pick([1, 3]),
      successThreshold: 1,
      ...(random.chance(0.3) && { initialDelaySeconds: random.between(1, 30) }),
    };
    const bad: BadTime[] = [];
    if (random.chance(0.4)) bad.push({ from: random.between(0, 90) * MINUTE, for: random.between(1, 10) * MINUTE });
    if (random.chance(0.06)) bad.push({ from: random.between(0, 60) * MINUTE, for: null });
    if (bad.length > 0) fate.bad[kind] = bad;
  }
}

function withHooks(random: Random, spec: ContainerSpec, fate: Fate): void {
  if (random.chance(0.2)) {
    spec.lifecycle = { postStart: { exec: { command: ['probe', 'postStart'] } } };
    if (random.chance(0.15)) fate.bad['postStart'] = [{ from: 0, for: random.between(1, 60) * MINUTE }];
  }
  if (random.chance(0.2))
    spec.lifecycle = {
      ...spec.lifecycle,
      preStop: random.chance(0.5)
        ? { sleep: { seconds: random.pick([1, 5, 20]) } }
        : { exec: { command: ['probe', 'preStop'] } },
    };
}
