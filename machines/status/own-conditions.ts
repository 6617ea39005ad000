/** Pod conditions that an agent sets itself, in the order in which it writes them. */
export const OWN_CONDITIONS: readonly string[] = [
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
];
