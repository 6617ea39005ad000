import { isAbsolute, join } from 'node:path';
import type { KubeletConfiguration } from './kubelet-configuration.ts';

/** The fields that hold paths (KubeletConfigurationPathRefs), but for `authentication.x509.clientCAFile`. */
const PATH_FIELDS = [
  'staticPodPath',
  'tlsCertFile',
  'tlsPrivateKeyFile',
  'resolvConf',
  'volumePluginDir',
  'podLogsDir',
] as const;

/** A copy whose relative paths are made absolute below `root`; '' stays "no path". Paths in `except` are left alone. */
export function resolvePaths(
  config: KubeletConfiguration,
  root: string,
  except: ReadonlySet<string> = new Set(),
): KubeletConfiguration {
  const absolute = (path: string) => (path === '' || isAbsolute(path) ? path : join(root, path));
  const out = structuredClone(config);
  for (const field of PATH_FIELDS) if (!except.has(field)) out[field] = absolute(out[field]);
  out.authentication.x509.clientCAFile = absolute(out.authentication.x509.clientCAFile);
  return out;
}
