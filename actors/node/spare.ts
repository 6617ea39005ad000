import type { CriClient } from '../../cri/client/cri-client.ts';
import { ContainerState } from '../../cri/generated/runtime/v1/api.ts';
import type { Spare } from '../../machines/eviction/soundings.ts';
import type { NodeManager } from './managers.ts';

/** What the node could give back without ending a pod; what cannot be counted is null. Never rejects. */
export async function spareOf(cri: Pick<CriClient, 'runtime'>, managers: readonly NodeManager[]): Promise<Spare> {
  const ask = managers.flatMap(({ spare }) => spare?.images ?? [])[0];
  const [images, containers] = await Promise.all([
    ask?.().catch(() => null) ?? null,
    endedContainers(cri).catch(() => null),
  ]);
  return { images, containers };
}

async function endedContainers({ runtime }: Pick<CriClient, 'runtime'>): Promise<{ count: number }> {
  const filter = { id: '', podSandboxId: '', labelSelector: {}, state: { state: ContainerState.CONTAINER_EXITED } };
  return { count: (await runtime.listContainers({ filter })).containers.length };
}
