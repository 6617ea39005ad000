import { percentOf } from '../../../../machines/qos/tier-memory.ts';
import { parseQuantity } from '../../../../machines/values/quantity.ts';
import type { Problem } from '../problems.ts';
import { type Rule, when } from './rule.ts';

const LEVELS = [
  'pods',
  'system-reserved',
  'system-reserved-compressible',
  'kube-reserved',
  'kube-reserved-compressible',
  'none',
] as const;
const RESERVABLE = ['cpu', 'memory', 'ephemeral-storage', 'pid'];

/** Node allocatable: what is enforced, and what is reserved. */
export const allocatableRules: Rule = (config) => {
  const path = 'enforceNodeAllocatable';
  const levels = config.enforceNodeAllocatable;
  const both = (name: string) => levels.includes(name) && levels.includes(`${name}-compressible`);
  return [
    ...['system-reserved', 'kube-reserved'].flatMap((name) =>
      when(both(name), path, levels, `"${name}" or "${name}-compressible", not both`),
    ),
    ...levels.flatMap((level, i): Problem[] => {
      const item = `${path}[${i}]`;
      if (levels.indexOf(level) !== i) return [{ path: item, got: level, accepted: 'each level once' }];
      if (!LEVELS.some((known) => known === level)) {
        return [
          { path: item, got: level, accepted: `one of ${LEVELS.map((name) => JSON.stringify(name)).join(', ')}` },
        ];
      }
      if (level === 'none') return when(levels.length > 1, item, level, '"none" alone');
      return [
        ...when(!config.cgroupsPerQOS, item, level, '"none" alone, while cgroupsPerQOS is false'),
        ...when(
          level.startsWith('system-reserved') && config.systemReservedCgroup === '',
          item,
          level,
          'this level only when systemReservedCgroup is set',
        ),
        ...when(
          level.startsWith('kube-reserved') && config.kubeReservedCgroup === '',
          item,
          level,
          'this level only when kubeReservedCgroup is set',
        ),
      ];
    }),
    ...reserved('systemReserved', config.systemReserved),
    ...reserved('kubeReserved', config.kubeReserved),
    ...Object.entries(config.qosReserved).flatMap(([name, share]) => [
      ...when(name !== 'memory', `qosReserved.${name}`, share, 'memory as the name'),
      ...when(name === 'memory' && percentOf(share) === null, 'qosReserved.memory', share, '0% to 100%'),
    ]),
  ];
};

/** parseResourceList of cmd/kubelet. */
function reserved(field: string, amounts: Readonly<Record<string, string>>): Problem[] {
  return Object.entries(amounts).flatMap(([name, amount]): Problem[] => {
    const path = `${field}.${name}`;
    const value = parseQuantity(amount);
    return [
      ...when(!RESERVABLE.includes(name), path, amount, `${RESERVABLE.join(', ')} as the name`),
      ...when(value === undefined || value < 0n, path, amount, 'a quantity of 0 or more'),
    ];
  });
}
