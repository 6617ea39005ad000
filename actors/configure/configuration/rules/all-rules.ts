import type { KubeletConfiguration } from '../kubelet-configuration.ts';
import type { Problem } from '../problems.ts';
import { isLabelValue, isQualifiedName } from '../kubernetes-names.ts';
import { allocatableRules } from './allocatable-rules.ts';
import { cgroupRules } from './cgroup-rules.ts';
import { evictionRules } from './eviction-rules.ts';
import { imageRules } from './image-rules.ts';
import { numberRules } from './number-rules.ts';
import { observabilityRules } from './observability-rules.ts';
import type { RuleContext, Rule } from './rule.ts';
import { shutdownRules } from './shutdown-rules.ts';
import { sysctlRules } from './sysctl-rules.ts';
import { when } from './rule.ts';

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
    sysctlRules,
  ];
  return rules
    .flatMap((rule) => rule(config, context))
    .filter((problem) => !skip.has(problem.path.split(/[.[]/)[0] ?? ''));
}

const EFFECTS = ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Taints and start-up modes. */
const nodeRules: Rule = (config, { gates }) => [
  ...when(config.runOnce, 'runOnce', true, 'false; Runonce mode has been deprecated and should not be set'),
  ...when(
    config.serverTLSBootstrap && !gates.enabled('RotateKubeletServerCertificate'),
    'serverTLSBootstrap',
    true,
    'false, while the feature gate RotateKubeletServerCertificate is off',
  ),
  ...config.registerWithTaints.flatMap((taint, i): Problem[] => {
    const path = `registerWithTaints[${i}]`;
    return [
      ...when(!isQualifiedName(taint.key), `${path}.key`, taint.key, 'a label name, such as "example.com/dedicated"'),
      ...when(!isLabelValue(taint.value), `${path}.value`, taint.value, 'a label value'),
      ...when(
        !EFFECTS.includes(taint.effect),
        `${path}.effect`,
        taint.effect,
        'NoSchedule, PreferNoSchedule or NoExecute',
      ),
      ...when(taint.timeAdded !== undefined, `${path}.timeAdded`, taint.timeAdded, 'nothing'),
    ];
  }),
];
