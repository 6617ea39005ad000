import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiClient } from '../../actors/cluster/api/api-client.ts';
import { loadConfiguration } from '../../actors/configure/configuration/load-configuration.ts';
import type { LoadedConfiguration } from '../../actors/configure/configuration/load-configuration.ts';
import type { NodesFlags } from './nodes.ts';

/** Where clients of the cluster's API are vouched for; every control plane publishes it (`requestheader` and client CAs). */
const CLIENT_CA = { namespace: 'kube-system', name: 'extension-apiserver-authentication', key: 'client-ca-file' };

/**
 * The KubeletConfiguration of all nodes: that of `--config`, else kubelet's defaults for a file with the cluster DNS of kubeadm, where the
 * API server's own client certificates are believed as the cluster says.
 */
export async function nodesConfiguration(
  { config, port }: NodesFlags,
  rootDir: string,
  api: ApiClient,
): Promise<LoadedConfiguration> {
  const flags = [
    { flag: '--port', path: 'port', value: port },
    { flag: '--root-dir', path: 'podLogsDir', value: join(rootDir, 'logs') },
  ];
  if (config !== undefined)
    return loadConfiguration({ configFile: config, flags: port === 0 ? flags.slice(1) : flags, cgroupVersion: 2 });
  mkdirSync(rootDir, { recursive: true });
  const ca = port === 0 ? null : await clientCa(api);
  const clientCAFile = join(rootDir, 'client-ca.crt');
  if (ca !== null) writeFileSync(clientCAFile, ca);
  const configFile = join(rootDir, 'config.json');
  const made = {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    clusterDNS: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    ...(ca !== null && { authentication: { x509: { clientCAFile } } }),
  };
  writeFileSync(configFile, JSON.stringify(made, null, 1));
  return loadConfiguration({ configFile, flags: port === 0 ? flags.slice(1) : flags, cgroupVersion: 2 });
}

/** The CA of clients as the cluster publishes it; null where it does not. */
async function clientCa(api: ApiClient): Promise<string | null> {
  const { namespace, name, key } = CLIENT_CA;
  const on = { group: '', version: 'v1', resource: 'configmaps', namespace };
  const found = await api.request<{ data?: Record<string, string> }>({ method: 'GET', on, name }).catch(() => null);
  return found?.data?.[key] ?? null;
}
