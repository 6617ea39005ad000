import { isLabelValue, isQualifiedName } from '../kubernetes-names.ts';
import type { Problem } from '../problems.ts';
import { type Rule, when } from './rule.ts';

const EFFECTS = ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Taints and start-up modes. */
export const nodeRules: Rule = (config, { gates }) => [
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
