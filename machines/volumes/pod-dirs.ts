/** Code of a `host.SetUpVolumes` that failed before any volume: the pod's own folders could not be made. */
export const POD_DIRS = 'PodDirs';
