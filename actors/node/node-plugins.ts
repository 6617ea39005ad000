import { join } from 'node:path';
import { NO_DEVICES } from '../../machines/devices/device-state.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { pluginErrors } from '../../machines/errors/plugin-errors.ts';
import { messageOf } from '../../machines/values/message-of.ts';
import { pluginManagerMetrics } from '../record/metrics/plugin-metrics.ts';
import { ClaimCheckpointFile } from '../resources/claims/claim-checkpoint-file.ts';
import { HealthFile } from '../resources/claims/health-file.ts';
import { SocketDrivers } from '../resources/claims/socket-drivers.ts';
import { DeviceCheckpointFile } from '../resources/devices/device-checkpoint-file.ts';
import { SocketPlugins } from '../resources/devices/socket-plugins.ts';
import { PluginManager } from '../resources/plugins/plugin-manager.ts';
import type { PluginHandler } from '../resources/plugins/plugin-handler.ts';
import type { ClaimEdge, DeviceEdge } from './edges.ts';
import type { NodeGround } from './node-ground.ts';
import type { Clock } from '../host/time/clock.ts';

/**
 * The plugins of this machine: device plugins register at `kubelet.sock` in `folder`, plugins of all kinds by their sockets in `plugins_registry` of the
 * root directory, taken by `handlers`. A node on which they cannot (no place, a path too long) says so and goes on without.
 */
export function nodePlugins(
  ground: NodeGround,
  folder: string,
  clock: Clock,
  handlers: Map<string, PluginHandler>,
): { devices: DeviceEdge; claims: ClaimEdge | null } {
  const { rootDir, log, metrics, featureGates } = ground;
  const file = new DeviceCheckpointFile(folder, log);
  // Whoever takes plugins is made and started before the first one is looked for.
  return {
    claims: featureGates.enabled('DynamicResourceAllocation') ? claimEdge(ground, handlers) : null,
    devices: {
      checkpoint: file,
      plugins: (hears) => {
        const devices = new SocketPlugins({ folder, hears, log, metrics });
        handlers.set('DevicePlugin', devices);
        let served = false;
        const manager = new PluginManager({ folder: join(rootDir, 'plugins_registry'), handlers, clock, log });
        pluginManagerMetrics(metrics.registry, manager);
        let failure: string | null = null;
        return {
          problem: () => failure,
          prefer: (...call) => devices.prefer(...call),
          allocate: (...call) => devices.allocate(...call),
          preStart: (...call) => devices.preStart(...call),
          async start() {
            try {
              await devices.start();
              served = true;
            } catch (error) {
              failure = messageOf(error);
              const params = { folder, problem: failure };
              log.error({ err: new ActorletError(pluginErrors.noFolder, params, { cause: error }) }, 'Plugins');
            }
            await manager.start();
          },
          async stop() {
            await manager.stop();
            await devices.stop();
            await file.settled();
            // Kubelet's socket stays behind, and tells the next agent that this machine is no new one; ours goes.
            if (served && (await file.nothingThere())) await file.write(NO_DEVICES);
          },
        };
      },
    },
  };
}

function claimEdge(
  { rootDir, log, metrics, featureGates }: NodeGround,
  handlers: Map<string, PluginHandler>,
): ClaimEdge {
  const checkpoint = new ClaimCheckpointFile(rootDir);
  const health = featureGates.enabled('ResourceHealthStatus');
  const healthFile = new HealthFile(rootDir, log);
  return {
    checkpoint,
    ...(health && { healthFile }),
    drivers: (hears) => {
      const drivers = new SocketDrivers({ hears, log, metrics, health });
      handlers.set('DRAPlugin', drivers);
      return {
        prepare: (...call) => drivers.prepare(...call),
        unprepare: (...call) => drivers.unprepare(...call),
        start: () => Promise.resolve(),
        async stop() {
          await drivers.stop();
          await checkpoint.settled();
          await healthFile.settled();
        },
      };
    },
  };
}
