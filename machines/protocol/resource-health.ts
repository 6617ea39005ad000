/** One device, as the API names it, and how it is. */
export interface ResourceHealth {
  resourceID: string;
  health: 'Healthy' | 'Unhealthy' | 'Unknown';
}

/** What is allocated to a container of one resource or claim, as its status has it (KEP-4680). */
export interface ResourceHealthRow {
  /** The resource, or `claim:NAME` or `claim:NAME/REQUEST`. */
  name: string;
  resources: ResourceHealth[];
}

/** Health of what the containers of a pod have of device plugins and drivers, by the names of containers; without any there is no entry. */
export type PodHealth = Readonly<Record<string, ResourceHealthRow[]>>;

/** Both, by container: the first one's rows come first. */
export function joinedHealth(a: PodHealth, b: PodHealth): PodHealth {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return Object.fromEntries(names.map((name) => [name, [...(a[name] ?? []), ...(b[name] ?? [])]]));
}
