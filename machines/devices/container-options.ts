import type { CriMount } from '../protocol/cri-shapes.ts';
import type { DeviceOptions } from '../protocol/device-options.ts';
import type { AllocateResponse } from './device-state.ts';

/** The answers of all plugins that a container has devices of, as one; where two name the same, the first counts. */
export function deviceOptions(responses: readonly AllocateResponse[]): DeviceOptions {
  const envs = new Map<string, string>();
  const annotations = new Map<string, string>();
  const mounts = new Map<string, CriMount>();
  const devices = new Map<string, DeviceOptions['devices'][number]>();
  const cdi = new Set<string>();
  const once = <T>(map: Map<string, T>, key: string, value: T): void => {
    if (!map.has(key)) map.set(key, value);
  };
  for (const response of responses) {
    for (const [key, value] of Object.entries(response.envs)) once(envs, key, value);
    for (const [key, value] of Object.entries(response.annotations)) once(annotations, key, value);
    for (const { containerPath, hostPath, readOnly } of response.mounts) {
      const mount = { containerPath, hostPath, readonly: readOnly, selinuxRelabel: false, propagation: 0 } as const;
      once(mounts, containerPath, mount);
    }
    for (const device of response.devices) once(devices, device.containerPath, { ...device });
    for (const { name } of response.cdiDevices) cdi.add(name);
  }
  return {
    envs: [...envs].map(([key, value]) => ({ key, value })),
    mounts: [...mounts.values()],
    devices: [...devices.values()],
    annotations: Object.fromEntries(annotations),
    cdiDevices: [...cdi].map((name) => ({ name })),
  };
}
