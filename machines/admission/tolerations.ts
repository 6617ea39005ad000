import type { Taint } from '../node-object/node-types.ts';
import type { Pod } from '../protocol/api-types.ts';

/** A toleration of a pod. */
export type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number];

const DECIMAL = /^(0|-?[1-9]\d{0,18})$/;

/**
 * Does the toleration bear the taint? An empty effect means all effects, an empty key all keys, an empty operator
 * `Equal`. `Lt` and `Gt` compare integers where the feature TaintTolerationComparisonOperators is on (KEP-5471).
 */
export function tolerates(toleration: Toleration, taint: Taint, comparison: boolean): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  switch (toleration.operator || 'Equal') {
    case 'Equal':
      return (toleration.value ?? '') === (taint.value ?? '');
    case 'Exists':
      return true;
    case 'Lt':
      return comparison && compares(toleration.value, taint.value, (limit, value) => value < limit);
    case 'Gt':
      return comparison && compares(toleration.value, taint.value, (limit, value) => value > limit);
    default:
      return false;
  }
}

/** The first taint of effect NoExecute that the pod does not bear; the others are the scheduler's business. */
export function untoleratedNoExecute(pod: Pod, taints: readonly Taint[], comparison: boolean): Taint | undefined {
  const tolerations = pod.spec?.tolerations ?? [];
  return taints.find(
    (taint) => taint.effect === 'NoExecute' && !tolerations.some((each) => tolerates(each, taint, comparison)),
  );
}

function compares(
  limit: string | undefined,
  value: string | undefined,
  holds: (limit: bigint, value: bigint) => boolean,
): boolean {
  if (!DECIMAL.test(limit ?? '') || !DECIMAL.test(value ?? '')) return false;
  return holds(BigInt(limit ?? ''), BigInt(value ?? ''));
}
