import type { AllocateResponse, Device, PluginOptions } from '../../../machines/devices/device-state.ts';

/** What device plugins tell the node, by resource. */
export interface PluginHears {
  /** A plugin has registered and answered; of one resource there is at most one. */
  came: (resource: string, options: PluginOptions) => void;
  /** All its devices, each time that one of them changed. */
  told: (resource: string, devices: Record<string, Device>) => void;
  /** It ended, hung up or was taken out. */
  went: (resource: string) => void;
}

/** The way to the device plugins of the node. Calls reject with an Error whose message is the plugin's. */
export interface DevicePlugins {
  /** From now on plugins can register. Rejects when there is no place for that. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Why no plugin can register; null while they can. */
  problem?(): string | null;
  /** `GetPreferredAllocation` for one container. */
  prefer(resource: string, ask: { available: string[]; mustInclude: string[]; size: number }): Promise<string[]>;
  /** `Allocate` for one container; null: the answer names none. */
  allocate(resource: string, ids: string[]): Promise<AllocateResponse | null>;
  /** `PreStartContainer`. */
  preStart(resource: string, ids: string[]): Promise<void>;
}
