import type { CriMount, EnvEntry } from './cri-shapes.ts';

/** What a container's config gets of its devices (kubelet: DeviceRunContainerOptions). */
export interface DeviceOptions {
  envs: EnvEntry[];
  mounts: CriMount[];
  devices: { containerPath: string; hostPath: string; permissions: string }[];
  annotations: Record<string, string>;
  cdiDevices: { name: string }[];
}
