/** Who takes plugins of one type that register in `plugins_registry` (kubelet: cache.PluginHandler). */
export interface PluginHandler {
  /** Throws, with the reason as message, when a plugin cannot be taken. */
  validate(name: string, versions: readonly string[], endpoint: string): void;
  /** It is wanted from now on. Rejects when that fails; the plugin is told. */
  registered(name: string, endpoint: string, versions: readonly string[]): Promise<void>;
  /** Its socket is gone, or another one is in its place. */
  deregistered(name: string, endpoint: string): void;
}
