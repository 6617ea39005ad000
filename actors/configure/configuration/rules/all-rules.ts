import type { KubeletConfiguration } from '../kubelet-configuration.ts';
import type { Problem } from '../problems.ts';
import { allocatableRules } from './allocatable-rules.ts';
import { cgroupRules } from './cgroup-rules.ts';
import { evictionRules } from './eviction-rules.ts';
import { imageRules } from './image-rules.ts';
import { nodeRules } from './node-rules.ts';
import { numberRules } from './number-rules.ts';
import { observabilityRules } from './observability-rules.ts';
import type { RuleContext } from './rule.ts';
import { shutdownRules } from './shutdown-rules.ts';

/** Every rule over a decoded configuration; all problems at once, without those about the fields in `skip`. */
export function checkRules(
  config: KubeletConfiguration,
  context: RuleContext,
  skip: ReadonlySet<string> = new Set(),
): Problem[] {
  const rules = [
    numberRules,
    imageRules,
    nodeRules,
    shutdownRules,
    cgroupRules,
    allocatableRules,
    evictionRules,
    observabilityRules,
  ];
  return rules
    .flatMap((rule) => rule(config, context))
    .filter((problem) => !skip.has(problem.path.split(/[.[]/)[0] ?? ''));
}
