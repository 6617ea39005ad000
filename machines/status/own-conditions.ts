/** Pod conditions that an agent sets itself, in the order in which it writes them. */
export const OWN_CONDITIONS: readonly string[] = [
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
];

/** Conditions of a resize in place (KEP-1287): set and cleared by the agent alone. */
export const RESIZE_CONDITIONS: readonly string[] = ['PodResizeInProgress', 'PodResizePending'];

/** All containers are being restarted (KEP-5532): the agent's where its gate is on, and told of pods only that may come to it. */
export const ALL_RESTARTING = 'AllContainersRestarting';
