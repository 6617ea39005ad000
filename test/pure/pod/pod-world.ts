import { bornPod, nextDeadline, podState, stepPod } from '../../../machines/pod/pod-step.ts';
import type { PodSnapshot } from '../../../machines/pod/pod-context.ts';
import { ALL_BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import type { Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import type { Effect, EffectType } from '../../../machines/protocol/effects.ts';
import type { PodMemory } from '../../../machines/protocol/memory.ts';
import type { EffectDone, PodMessage, PodSource } from '../../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../../machines/protocol/observed.ts';

export const settings: NodeSettings = {
  nodeName: 'node1',
  runtimeName: 'containerd',
  hostname: 'node1',
  nodeIPs: ['10.99.0.1'],
  rootDir: '/var/lib/kubelet',
  podLogsDir: '/var/log/pods',
  cgroupDriver: 'cgroupfs',
  cgroupRoot: '/',
  cgroupsPerQOS: true,
  cgroupVersion: 1,
  clusterDNS: [],
  clusterDomain: 'cluster.local',
  hostResolver: { nameservers: ['1.1.1.1'], searches: [], options: [] },
  capacity: { cpuMilli: 2000, memoryBytes: 8 << 30, ephemeralStorageBytes: 1 << 30 },
  allocatable: { cpuMilli: 2000, memoryBytes: 4e9, ephemeralStorageBytes: 1 << 30 },
  maxContainerRestartPeriodMs: 300_000,
  cpuCFSQuota: true,
  cpuCFSQuotaPeriodUs: 100_000,
  podPidsLimit: -1,
  seccompDefault: false,
  runtimeRequestTimeoutMs: 120_000,
  runtimeFeatures: { recursiveReadOnlyMounts: false, userNamespaces: false, supplementalGroupsPolicy: false },
  behaviour: [...ALL_BEHAVIOUR],
};

/** A pod as a source hands it over: static, with defaults. */
export function pod(spec: Partial<NonNullable<Pod['spec']>>, uid = 'u1'): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-node1', namespace: 'default', uid, annotations: { 'kubernetes.io/config.source': 'file' } },
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      containers: [{ name: 'c', image: 'img:1', imagePullPolicy: 'IfNotPresent' }],
      ...spec,
    },
  };
}

export type Reply = { result: unknown } | { error: { code: string; message: string } } | 'hang';

/**
 * The world around one pod machine: an in-memory runtime whose answers come after a delay, on a clock of its own.
 * `answers` may override any effect.
 */
export class PodWorld {
  at = 1_000_000;
  snapshot: PodSnapshot;
  effects: Effect[] = [];
  states: string[] = [];
  events: string[] = [];
  status: PodStatus | null = null;
  memory: PodMemory | null = null;
  finished = false;
  sandboxes: ObservedSandbox[] = [];
  containers: ObservedContainer[] = [];
  images = new Set<string>(['img:1', 'img:2']);
  answers: Partial<Record<EffectType, (effect: Effect, world: PodWorld) => Reply | undefined>> = {};
  /** ms that each effect takes. */
  delayMs = 10;
  /** How containers end that are told to stop. */
  stopExitCode = 143;
  protected due: { at: number; message: PodMessage }[] = [];
  protected ids = 0;
  definition: Pod;

  source: PodSource | 'orphan';

  constructor(
    definition: Pod,
    memory: PodMemory | null = null,
    before?: PodWorld,
    begin = true,
    source: PodSource = 'file',
    over: Partial<NodeSettings> = {},
  ) {
    this.definition = definition;
    this.source = source;
    this.snapshot = bornPod({ pod: definition, source, settings: { ...settings, cluster: source === 'api', ...over } });
    if (before !== undefined) {
      this.sandboxes = before.sandboxes;
      this.containers = before.containers;
      this.at = before.at;
      this.ids = before.ids;
    }
    if (begin) this.begin(memory, before !== undefined);
  }

  /** Starts the pod's actor; `known`: the runtime could be asked before. */
  begin(memory: PodMemory | null, known: boolean, rejection?: { reason: string; message: string }): void {
    this.send({
      type: 'pod.start',
      at: this.at,
      pod: this.definition,
      source: this.source,
      observed: known ? this.observe() : null,
      memory,
      runtimeReady: true,
      networkReady: true,
      ...(rejection !== undefined && { rejection }),
    });
  }

  get state(): string {
    return podState(this.snapshot);
  }

  send(message: PodMessage): void {
    const { snapshot, effects } = stepPod(this.snapshot, message);
    this.snapshot = snapshot;
    if (this.states.at(-1) !== this.state) this.states.push(this.state);
    for (const effect of effects) this.carryOut(effect);
  }

  /** Lets so many ms pass, serving answers and deadlines in order. */
  run(ms: number): void {
    const end = this.at + ms;
    for (let i = 0; ; i++) {
      if (i > 20_000) throw new Error(`the pod never comes to rest: ${this.state}`);
      const deadline = nextDeadline(this.snapshot) ?? Infinity;
      const next = Math.min(deadline, ...this.due.map((d) => d.at));
      if (next > end) break;
      this.at = Math.max(this.at, next);
      const index = this.due.findIndex((d) => d.at <= this.at);
      if (index >= 0) {
        const [item] = this.due.splice(index, 1);
        if (item) this.send({ ...item.message, at: this.at } as PodMessage);
      } else this.send({ type: 'timer', at: this.at });
    }
    this.at = end;
  }

  observe(): ObservedPod {
    const { name = '', namespace = '', uid = '' } = this.definition.metadata ?? {};
    return { uid, name, namespace, at: this.at, sandboxes: [...this.sandboxes], containers: [...this.containers] };
  }

  /** What PLEG would tell now. */
  pleg(): void {
    this.send({ type: 'pod.observed', at: this.at, observed: this.observe() });
  }

  /** The newest container of that name ends by itself. */
  exit(name: string, exitCode: number, reason = exitCode === 0 ? 'Completed' : 'Error'): void {
    const c = this.containers.find((x) => x.name === name && x.state === 'running');
    if (c === undefined) throw new Error(`${name} does not run`);
    this.replace({
      ...c,
      state: 'exited',
      exitCode,
      finishedAt: this.at,
      reason,
    });
    this.at += 1;
    this.pleg();
  }

  running(): string[] {
    return this.containers.filter((c) => c.state === 'running').map((c) => c.name);
  }

  count(type: EffectType): number {
    return this.effects.filter((e) => e.type === type).length;
  }

  protected replace(c: ObservedContainer): void {
    this.containers = this.containers.map((x) => (x.id === c.id ? c : x));
  }

  protected carryOut(effect: Effect): void {
    this.effects.push(effect);
    if (effect.type === 'event.Record') this.events.push(`${effect.params.reason}: ${effect.params.message}`);
    if (effect.type === 'status.Publish') {
      this.status = effect.params.status;
      this.memory = effect.params.memory;
    }
    if (effect.type === 'pod.Finished') this.finished = true;
    if (effect.type === 'pleg.Observe')
      this.due.push({ at: this.at + 5, message: { type: 'pod.observed', at: 0, observed: this.observe() } });
    if (effect.key === '') return;
    const reply = this.answers[effect.type]?.(effect, this) ?? this.answer(effect);
    if (reply === 'hang') return;
    const base = { at: 0, effect: effect.type, key: effect.key };
    const delay = effect.type === 'cri.StopContainer' ? 1_000 : this.delayMs;
    const message =
      'error' in reply
        ? { type: 'effect.failed' as const, ...base, error: reply.error }
        : ({ type: 'effect.done', ...base, result: reply.result } as EffectDone);
    this.due.push({ at: this.at + delay, message });
  }

  protected answer(effect: Effect): Reply {
    switch (effect.type) {
      case 'cri.RunPodSandbox': {
        const id = `s${++this.ids}`;
        this.sandboxes = [
          {
            id,
            attempt: effect.params.config.metadata.attempt,
            state: 'ready',
            createdAt: this.at,
            ips: ['10.88.0.2'],
            hostNetwork: false,
            runtimeHandler: '',
            labels: {},
            annotations: {},
          },
          ...this.sandboxes,
        ];
        return { result: { podSandboxId: id } };
      }
      case 'cri.PodSandboxStatus':
        return { result: { ips: ['10.88.0.2'], ready: true } };
      case 'cri.StopPodSandbox':
        this.sandboxes = this.sandboxes.map((s) =>
          s.id === effect.params.podSandboxId ? { ...s, state: 'notReady' } : s,
        );
        return { result: {} };
      case 'cri.RemovePodSandbox':
        this.sandboxes = this.sandboxes.filter((s) => s.id !== effect.params.podSandboxId);
        return { result: {} };
      case 'image.Status':
        return {
          result: {
            present: this.images.has(effect.params.image)
              ? { imageRef: effect.params.image, uid: null, username: '' }
              : null,
          },
        };
      case 'image.Pull':
        this.images.add(effect.params.image);
        return {
          result: { imageRef: effect.params.image, uid: null, username: '', ms: 100, waitedMs: 100, sizeBytes: 10 },
        };
      case 'cri.CreateContainer': {
        const { config, podSandboxId } = effect.params;
        const id = `c${++this.ids}`;
        this.containers = [
          {
            id,
            name: config.metadata.name,
            sandboxId: podSandboxId,
            state: 'created',
            createdAt: this.at,
            startedAt: 0,
            finishedAt: 0,
            exitCode: 0,
            reason: '',
            message: '',
            image: config.image.image,
            imageRef: config.image.image,
            imageId: config.image.image,
            logPath: `/log/${id}`,
            hash: config.annotations['io.kubernetes.container.hash'] ?? '',
            restartCount: config.metadata.attempt,
            annotations: config.annotations,
            labels: config.labels,
          },
          ...this.containers,
        ];
        return { result: { containerId: id } };
      }
      case 'cri.StartContainer': {
        const c = this.containers.find((x) => x.id === effect.params.containerId);
        if (c) this.replace({ ...c, state: 'running', startedAt: this.at });
        return { result: {} };
      }
      case 'cri.ContainerStatus': {
        const c = this.containers.find((x) => x.id === effect.params.containerId);
        return c ? { result: c } : { error: { code: 'NotFound', message: 'no such container' } };
      }
      case 'cri.StopContainer': {
        const c = this.containers.find((x) => x.id === effect.params.containerId);
        if (c?.state === 'running')
          this.replace({
            ...c,
            state: 'exited',
            exitCode: this.stopExitCode,
            finishedAt: this.at + 1_000,
            reason: 'Error',
          });
        return { result: {} };
      }
      case 'cri.RemoveContainer':
        this.containers = this.containers.filter((c) => c.id !== effect.params.containerId);
        return { result: {} };
      case 'cri.ExecSync':
        return { result: { exitCode: 0, output: '' } };
      case 'host.SetUpVolumes':
        return { result: { paths: Object.fromEntries(effect.params.volumes.map((v) => [v.name, `/vol/${v.name}`])) } };
      case 'host.PrepareContainer':
        return { result: { subPaths: {} } };
      case 'host.ReadTerminationMessage':
        return { result: { message: '' } };
      case 'net.HttpGet':
        return { result: { status: 200, body: 'ok' } };
      case 'net.GrpcHealth':
        return { result: { status: 'SERVING' } };
      default:
        return { result: {} };
    }
  }
}
