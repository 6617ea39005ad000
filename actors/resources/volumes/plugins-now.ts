import type { PluginFamily, VolumeKind, VolumePlugin, VolumeSpec } from './volume-plugin.ts';

/** All plugins that are there now. */
export async function pluginsNow(kinds: readonly VolumeKind[]): Promise<VolumePlugin[]> {
  const found = await Promise.all(kinds.map((kind) => (isFamily(kind) ? kind.all() : Promise.resolve([kind]))));
  return found.flat();
}

/** The plugin that serves a volume: of the first kind that says so; null when there is none. */
export async function pluginFor(kinds: readonly VolumeKind[], spec: VolumeSpec): Promise<VolumePlugin | null> {
  const kind = kinds.find((each) => each.serves(spec));
  if (kind === undefined) return null;
  return isFamily(kind) ? kind.pluginFor(spec) : kind;
}

/** The plugin of this name; null when there is none (now). */
export async function pluginNamed(kinds: readonly VolumeKind[], name: string): Promise<VolumePlugin | null> {
  const own = kinds.find((kind): kind is VolumePlugin => !isFamily(kind) && kind.name === name);
  return own ?? (await pluginsNow(kinds.filter(isFamily))).find((plugin) => plugin.name === name) ?? null;
}

function isFamily(kind: VolumeKind): kind is PluginFamily {
  return 'all' in kind;
}
