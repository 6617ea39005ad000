import { anyMatches } from '../../../cri/sim/glob.ts';
import { drawBetween } from '../../../cri/sim/prng.ts';
import type { AllocateResponse, Device, DeviceState } from '../../../machines/devices/device-state.ts';
import { uidEntries } from '../../../machines/supervisor/uid-table.ts';
import type { FoundDevices } from '../../resources/devices/device-checkpoint-file.ts';
import type { DevicePlugins, PluginHears } from '../../resources/devices/device-plugins.ts';
import type { DeviceEdge } from '../edges.ts';
import { FailingLots } from './failing-lots.ts';
import type { FleetClock } from './fleet-clock.ts';
import type { DeviceRule } from './profile/device-schema.ts';

/** What {@link SimulatedDevices} is made from. */
export interface SimulatedDevicesOptions {
  rules: readonly DeviceRule[];
  /** The machine's own. */
  seed: number;
  clock: Pick<FleetClock, 'after'>;
}

/** One plugin with its devices. */
interface Plugin {
  rule: DeviceRule;
  lots: FailingLots;
  /** How often it was told to go and has not come back. */
  away: number;
}

/**
 * The device plugins of a simulated machine, in memory, and what the device manager writes down of their devices. They outlive the agents
 * that run on it, as devices, plugins and disk of a real one do.
 */
export class SimulatedDevices {
  private readonly plugins: ReadonlyMap<string, Plugin>;
  private readonly options: SimulatedDevicesOptions;
  private hears: PluginHears | null = null;
  private file: FoundDevices | null = null;

  constructor(options: SimulatedDevicesOptions) {
    this.options = options;
    this.plugins = new Map(options.rules.map((rule) => [rule.resource, this.pluginOf(rule)]));
  }

  /** The way to them for an agent; null where the profile gives none. */
  get edge(): DeviceEdge | null {
    if (this.plugins.size === 0) return null;
    return {
      plugins: (hears) => this.forAgent(hears),
      checkpoint: {
        read: () => Promise.resolve(this.file),
        nothingThere: () => Promise.resolve(this.file === null),
        write: ({ resources, grants }: DeviceState) => {
          const registered = Object.keys(resources).filter((name) => resources[name]?.devices !== null);
          this.file = { grants: Object.fromEntries(uidEntries(grants)), registered };
          return Promise.resolve();
        },
      },
    };
  }

  /** So many devices of each of these resources fall ill, drawn by the seed; without a number all of them. */
  fail(resources: readonly string[] | undefined, count: number | undefined): void {
    for (const plugin of this.named(resources)) {
      plugin.lots.fail(count);
      this.tell(plugin);
    }
  }

  /** What {@link fail} did with the same words is over. */
  heal(resources: readonly string[] | undefined, count: number | undefined): void {
    for (const plugin of this.named(resources)) {
      plugin.lots.heal(count);
      this.tell(plugin);
    }
  }

  /** The plugins of these resources go away: kubelet has their devices for 5 min more, none of them healthy. */
  leave(resources: readonly string[] | undefined): void {
    for (const plugin of this.named(resources)) if (++plugin.away === 1) this.hears?.went(plugin.rule.resource);
  }

  /** They are there again, and register. */
  comeBack(resources: readonly string[] | undefined): void {
    for (const plugin of this.named(resources)) if (--plugin.away === 0) this.register(plugin);
  }

  private forAgent(hears: PluginHears): DevicePlugins {
    return {
      start: () => {
        this.hears = hears;
        for (const plugin of this.plugins.values()) if (plugin.away === 0) this.register(plugin);
        return Promise.resolve();
      },
      stop: () => {
        if (this.hears === hears) this.hears = null;
        return Promise.resolve();
      },
      // None of them wants to be asked.
      prefer: (_resource, { available, size }) => Promise.resolve(available.slice(0, size)),
      preStart: () => Promise.resolve(),
      allocate: (resource, ids) => this.allocate(resource, ids),
    };
  }

  private async allocate(resource: string, ids: readonly string[]): Promise<AllocateResponse> {
    const plugin = this.plugins.get(resource);
    if (plugin === undefined || plugin.away > 0) throw new Error(`endpoint ${resource} has been stopped`);
    const { rule } = plugin;
    const ms = drawBetween(rule.takes, this.options.seed, 'allocate', resource, ...ids);
    if (ms > 0) await new Promise<void>((resolve) => void this.options.clock.after(ms, resolve));
    const list = ids.toSorted(byNumber).join();
    return {
      ...{ mounts: [], devices: [], cdiDevices: [] },
      envs: { [rule.env ?? variableOf(resource)]: list },
      annotations: { ...rule.annotations, [resource]: list },
    };
  }

  private register(plugin: Plugin): void {
    this.hears?.came(plugin.rule.resource, { preStart: false, prefers: false });
    this.tell(plugin);
  }

  private tell(plugin: Plugin): void {
    if (plugin.away === 0) this.hears?.told(plugin.rule.resource, devicesOf(plugin));
  }

  private named(resources: readonly string[] | undefined): Plugin[] {
    return [...this.plugins].flatMap(([name, plugin]) => (anyMatches(resources, name) ? [plugin] : []));
  }

  private pluginOf(rule: DeviceRule): Plugin {
    const of = ['device', rule.resource];
    const lots = new FailingLots({ seed: this.options.seed, of, ids: idsOf(rule), unhealthy: rule.unhealthy });
    return { rule, lots, away: 0 };
  }
}

function devicesOf({ rule, lots }: Plugin): Record<string, Device> {
  const { numa } = rule;
  const { ill } = lots;
  return Object.fromEntries(
    idsOf(rule).map((id, i) => [
      id,
      { healthy: !ill.has(id), nodes: numa === undefined ? [] : [numa[i % numa.length] ?? 0] },
    ]),
  );
}

/** `example.com/gpu` -> `gpu-0`, `gpu-1` ... */
function idsOf({ resource, count }: DeviceRule): string[] {
  const name = resource.slice(resource.indexOf('/') + 1);
  return Array.from({ length: count }, (_, i) => `${name}-${i}`);
}

/** `example.com/gpu` -> `EXAMPLE_COM_GPU`. */
function variableOf(resource: string): string {
  return resource
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '_')
    .replace(/^(?=\d)/, '_');
}

function byNumber(a: string, b: string): number {
  return Number(a.slice(a.lastIndexOf('-') + 1)) - Number(b.slice(b.lastIndexOf('-') + 1));
}
