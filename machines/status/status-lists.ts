import type { ContainerStatus, PodStatus } from '../protocol/api-types.ts';

/** The lists of a pod's status in which containers stand. */
export const STATUS_LISTS = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const;

/** What a status tells of the container of that name, whichever list it stands in: names are unique within a pod. */
export function toldOf(status: PodStatus | undefined, name: string): ContainerStatus | undefined {
  for (const list of STATUS_LISTS) for (const told of status?.[list] ?? []) if (told.name === name) return told;
  return undefined;
}
