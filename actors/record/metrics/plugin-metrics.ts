import type * as PromClient from 'prom-client';
import { DEFAULT_BUCKETS } from './metric-spec.ts';
import { Counter, Gauge, Histogram } from './prometheus.ts';

/** Registers the count of plugins in `plugins_registry`: sockets that are there, and those whose plugins are registered. */
export function pluginManagerMetrics(
  registry: PromClient.Registry,
  manager: { plugins(): readonly { socket: string; registered: boolean }[] },
): void {
  new Gauge({
    ...{ name: 'plugin_manager_total_plugins', registers: [registry], labelNames: ['socket_path', 'state'] },
    help: 'Plugins in plugins_registry, by socket: those that are there, and those that are registered.',
    collect() {
      this.reset();
      for (const { socket, registered } of manager.plugins()) {
        this.set({ socket_path: socket, state: 'desired_state_of_world' }, 1);
        if (registered) this.set({ socket_path: socket, state: 'actual_state_of_world' }, 1);
      }
    },
  });
}

/** Hears of each run of a credential provider plugin. */
export type OnPluginRun = (plugin: string, seconds: number, failed: boolean) => void;

/** Registers the metrics of credential provider plugins; kubelet has them once plugins are configured. `hash`: of their configuration. */
export function credentialProviderMetrics(registry: PromClient.Registry, hash: string): OnPluginRun {
  const registers = [registry];
  const errors = new Counter({
    ...{ name: 'kubelet_credential_provider_plugin_errors_total', registers, labelNames: ['plugin_name'] },
    help: 'Runs of a credential provider plugin that failed.',
  });
  const duration = new Histogram({
    ...{ name: 'kubelet_credential_provider_plugin_duration', registers, labelNames: ['plugin_name'] },
    help: 'Time of one run of a credential provider plugin, seconds.',
    buckets: [...DEFAULT_BUCKETS],
  });
  new Gauge({
    ...{ name: 'kubelet_credential_provider_config_info', registers, labelNames: ['hash'] },
    help: 'Always 1; the label is the hash of the configuration of credential provider plugins.',
  }).set({ hash }, 1);
  return (plugin, seconds, failed) => {
    duration.observe({ plugin_name: plugin }, seconds);
    if (failed) errors.inc({ plugin_name: plugin });
  };
}
