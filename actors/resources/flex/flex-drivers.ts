import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { flexSource } from '../../../machines/flex/flex-options.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ignoring } from '../../host/files/host-failure.ts';
import type { PluginFamily, VolumePlugin, VolumeSpec } from '../volumes/volume-plugin.ts';
import { FlexDriver } from './flex-driver.ts';
import type { FlexGround } from './flex-ground.ts';
import { flexPlugin } from './flex-plugin.ts';

/** A driver's program as it was when it was found. */
interface Found {
  /** Changes with the program. */
  mark: string;
  driver: FlexDriver;
  plugin: VolumePlugin;
}

/**
 * FlexVolume drivers (kubelet: pkg/volume/flexvolume): programs `VENDOR~DRIVER/DRIVER` in a folder of the machine, which is looked at when a volume is to be
 * looked up: one that came, or was replaced, is there with the next look, and one that is gone is not.
 */
export class FlexDrivers implements PluginFamily {
  private readonly ground: FlexGround;
  private readonly found = new Map<string, Found>();
  /** The last failure of each driver's beginning: told once. */
  private readonly told = new Map<string, string>();

  constructor(ground: FlexGround) {
    this.ground = ground;
  }

  serves(spec: VolumeSpec): boolean {
    return flexSource(spec) !== null;
  }

  async pluginFor(spec: VolumeSpec): Promise<VolumePlugin | null> {
    const name = flexSource(spec)?.driver ?? '';
    await this.look();
    const found = this.found.get(name);
    if (found === undefined) return null;
    try {
      await found.driver.capabilities();
      this.told.delete(name);
      return found.plugin;
    } catch (error) {
      const problem = messageOf(error);
      if (this.told.get(name) !== problem)
        this.ground.log.error({ driver: name, err: problem }, 'Error creating Flexvolume plugin, skipping it');
      this.told.set(name, problem);
      return null;
    }
  }

  async all(): Promise<readonly VolumePlugin[]> {
    await this.look();
    return [...this.found.values()].map(({ plugin }) => plugin);
  }

  private async look(): Promise<void> {
    const { pluginDir } = this.ground;
    const entries = (await ignoring(readdir(pluginDir), 'ENOENT', 'ENOTDIR')) ?? [];
    const names = new Set<string>();
    for (const folder of entries) {
      if (folder.startsWith('.')) continue;
      const path = join(pluginDir, folder, folder.slice(folder.lastIndexOf('~') + 1));
      const program = await ignoring(stat(path), 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP');
      if (program === undefined || !program.isFile()) continue;
      const name = folder.replaceAll('~', '/');
      names.add(name);
      const mark = [program.dev, program.ino, program.ctimeMs, program.size].join(' ');
      if (this.found.get(name)?.mark === mark) continue;
      const driver = new FlexDriver(path);
      this.found.set(name, { mark, driver, plugin: flexPlugin(name, driver, this.ground) });
    }
    for (const name of this.found.keys()) if (!names.has(name)) this.found.delete(name);
  }
}
