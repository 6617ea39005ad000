import type { FlagSpec } from './flag-spec.ts';

/** Where pods come from. */
export const podFlags: readonly FlagSpec[] = [
  { name: 'pod-manifest-path', kind: 'string', group: 'Pods', field: 'staticPodPath', deprecated: 'file', acts: true, usage: 'folder or file with manifests of static pods; names that start with a dot are skipped' },
  { name: 'file-check-frequency', kind: 'duration', group: 'Pods', field: 'fileCheckFrequency', preset: '20s', deprecated: 'file', acts: true, usage: 'how often that folder is read again, besides being watched' },
  { name: 'manifest-url', kind: 'string', group: 'Pods', field: 'staticPodURL', deprecated: 'file', acts: true, usage: 'URL that is polled for a Pod or PodList' },
  { name: 'manifest-url-header', kind: 'headers', group: 'Pods', field: 'staticPodURLHeader', deprecated: 'file', acts: true, usage: 'header to send to that URL, as name:value' },
  { name: 'http-check-frequency', kind: 'duration', group: 'Pods', field: 'httpCheckFrequency', preset: '20s', deprecated: 'file', acts: true, usage: 'how often that URL is polled' },
  { name: 'sync-frequency', kind: 'duration', group: 'Pods', field: 'syncFrequency', preset: '1m0s', deprecated: 'file', acts: true, usage: 'longest time between two looks at a pod that does not change' },
  { name: 'max-pods', kind: 'int', group: 'Pods', field: 'maxPods', preset: '110', deprecated: 'file', acts: false, usage: 'most pods on this node' },
];
