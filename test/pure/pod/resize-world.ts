import type { Container, PodCondition } from '../../../machines/protocol/api-types.ts';
import type { PodResourcesRead } from '../../../machines/protocol/effects.ts';
import type { PodMemory } from '../../../machines/protocol/memory.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { Requirements } from '../../../machines/protocol/requirements.ts';
import { apiPod } from '../resize/resize-pods.ts';
import { PodWorld } from './pod-world.ts';

const MI = 2 ** 20;

/** A pod that runs these containers; its cgroup begins with what they have. */
export class ResizeWorld extends PodWorld {
  cgroup: Omit<PodResourcesRead, 'usageBytes' | 'containers'> = {
    cpuShares: 1024,
    cpuQuotaUs: 100_000,
    cpuPeriodUs: 100_000,
    memoryLimitBytes: 100 * MI,
  };
  usage = 10 * MI;

  constructor(
    containers: Container[],
    memory: PodMemory | null = null,
    before?: PodWorld,
    over: Partial<NodeSettings> = {},
    whole?: Requirements,
  ) {
    super(apiPod(containers, 1, 'u1', whole), memory, before, false, 'api', over);
    this.answers['host.ReadPodResources'] = (effect) => {
      if (effect.type !== 'host.ReadPodResources') return undefined;
      const used = Object.fromEntries(effect.params.containers.map(({ name }) => [name, this.usage]));
      return { result: { ...this.cgroup, usageBytes: this.usage, containers: used } };
    };
    this.answers['host.UpdatePodCgroup'] = (effect) => {
      if (effect.type === 'host.UpdatePodCgroup') Object.assign(this.cgroup, effect.params.limits);
      return { result: {} };
    };
    this.begin(memory, before !== undefined);
  }

  /** The agent's main thread allocated other resources. */
  allocate(containers: Container[], generation = 2, whole?: Requirements): void {
    this.effects = [];
    this.events = [];
    this.definition = apiPod(containers, generation, 'u1', whole);
    this.send({ type: 'pod.update', at: this.at, pod: this.definition });
  }

  calls(): string[] {
    return this.effects.flatMap((e) =>
      e.type === 'host.UpdatePodCgroup'
        ? ['pod']
        : e.type === 'cri.UpdateContainerResources'
          ? [e.params.containerId]
          : [],
    );
  }

  condition(): PodCondition | undefined {
    return this.status?.conditions?.find(({ type }) => type === 'PodResizeInProgress');
  }

  told(): string[] {
    return this.events.map((event) => event.split(':')[0] ?? '').filter((reason) => reason.startsWith('Resize'));
  }
}
