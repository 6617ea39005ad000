import assert from 'node:assert/strict';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { resourceRulesOf } from '../../../actors/resources/admission/resource-rules.ts';
import type { KubeletConfiguration } from '../../../actors/configure/configuration/kubelet-configuration.ts';
import type { ResourceRules } from '../../../machines/resource-managers/resource-ground.ts';
import { configOf, factsOf } from '../node-object/facts.ts';

/**
 * Rules of CPU manager `static` for sockets of four CPUs each, of two cores, and a NUMA node each; the first core is the system's.
 * @param fields further ones of the configuration
 */
export function socketsOfFourCpus(
  sockets: 1 | 2,
  fields: Partial<KubeletConfiguration>,
  featureGates: Record<string, boolean>,
): ResourceRules {
  const { config } = loadConfiguration({ flags: [], cgroupVersion: 2 });
  const ids = [0, 1].slice(0, sockets);
  const nodes = ids.map((id) => ({
    ...{ id, memory: 2 ** 30, hugePages: [], distances: ids.map((other) => (other === id ? 10 : 20)) },
    cores: [0, 2].map((first) => ({ socket: id, threads: [4 * id + first, 4 * id + first + 1] })),
  }));
  const rules = resourceRulesOf(
    { ...config, cpuManagerPolicy: 'static', reservedSystemCPUs: '0', ...fields },
    resolveFeatureGates(featureGates).gates,
    { cpus: 4 * sockets, sockets, nodes },
    { facts: factsOf().machine, shape: configOf() },
  );
  assert.ok(rules);
  return rules;
}

/** The same for one socket. */
export function fourCpus(
  options: Record<string, string> = {},
  featureGates: Record<string, boolean> = {},
): ResourceRules {
  return socketsOfFourCpus(1, { cpuManagerPolicyOptions: options }, featureGates);
}
