import assert from 'node:assert/strict';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { resourceRulesOf } from '../../../actors/resources/admission/resource-rules.ts';
import type { ResourceRules } from '../../../machines/resource-managers/resource-ground.ts';
import { configOf, factsOf } from '../node-object/facts.ts';

/** Rules of CPU manager `static` for four CPUs of two cores, of which the first is the system's. */
export function fourCpus(
  options: Record<string, string> = {},
  featureGates: Record<string, boolean> = {},
): ResourceRules {
  const { config } = loadConfiguration({ flags: [], cgroupVersion: 2 });
  const cores = [0, 2].map((first) => ({ socket: 0, threads: [first, first + 1] }));
  const nodes = [{ id: 0, memory: 2 ** 30, hugePages: [], cores, distances: [10] }];
  const rules = resourceRulesOf(
    {
      ...{ ...config, cpuManagerPolicy: 'static', reservedSystemCPUs: '0' },
      cpuManagerPolicyOptions: options,
    },
    resolveFeatureGates(featureGates).gates,
    { cpus: 4, sockets: 1, nodes },
    { facts: factsOf().machine, shape: configOf() },
  );
  assert.ok(rules);
  return rules;
}
