import type { PodLogs } from '../../host/logs/pod-logs.ts';

/** Logs of a simulated node, for those who remove what nobody needs: they go with their pods and containers. */
export const simulatedPodLogs: PodLogs = {
  folders: () => Promise.resolve([]),
  deadLinks: () => Promise.resolve([]),
  removeFolder: () => Promise.resolve(),
  removeLink: () => Promise.resolve(),
  removeLog: () => Promise.resolve(),
};
