import { labelValue, qualifiedName } from '../pod-validation/names.ts';
import type { Pod } from '../protocol/api-types.ts';
import { matchesRequirement } from '../values/label-selector.ts';

type Affinity = NonNullable<NonNullable<NonNullable<Pod['spec']>['affinity']>['nodeAffinity']>;
type Term = NonNullable<Affinity['requiredDuringSchedulingIgnoredDuringExecution']>['nodeSelectorTerms'][number];
type Requirement = NonNullable<Term['matchExpressions']>[number];

const INT64 = /^[+-]?\d{1,19}$/;

/**
 * Does the node match what the pod requires of it: all labels of `spec.nodeSelector`, and one of the terms of
 * `requiredDuringSchedulingIgnoredDuringExecution`. What is no valid requirement matches nothing.
 */
export function matchesNode(pod: Pod, nodeName: string, labels: Readonly<Record<string, string>>): boolean {
  for (const [key, value] of Object.entries(pod.spec?.nodeSelector ?? {})) {
    if (labelOf(labels, key) !== value) return false;
  }
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (!required) return true;
  return matchesTerms(required.nodeSelectorTerms ?? [], nodeName, labels);
}

/** Does the node match one of the terms, of a pod or of a PersistentVolume? */
export function matchesTerms(
  terms: readonly Term[],
  nodeName: string,
  labels: Readonly<Record<string, string>>,
): boolean {
  return terms.some((term) => matchesTerm(term, nodeName, labels));
}

function labelOf(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function matchesTerm(term: Term, nodeName: string, labels: Readonly<Record<string, string>>): boolean {
  const { matchExpressions = [], matchFields = [] } = term;
  // A term without requirements matches nothing, not everything.
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  return (
    matchExpressions.every((each) => isSound(each) && matchesLabel(each, labelOf(labels, each.key))) &&
    matchFields.every((each) => matchesField(each, each.key === 'metadata.name' ? nodeName : ''))
  );
}

/** Would the API server take it? Only static pods can have others. */
function isSound({ key, operator, values = [] }: Requirement): boolean {
  if (qualifiedName(key).length > 0 || values.some((value) => labelValue(value).length > 0)) return false;
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0;
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0;
    default:
      return values.length === 1;
  }
}

function matchesLabel(requirement: Requirement, label: string | undefined): boolean {
  const { operator, values = [] } = requirement;
  if (operator !== 'Gt' && operator !== 'Lt') return matchesRequirement(requirement, label);
  const have = integer(label);
  const limit = integer(values[0]);
  if (have === undefined || limit === undefined) return false;
  return operator === 'Gt' ? have > limit : have < limit;
}

/** Fields know only In and NotIn, with one value. */
function matchesField({ operator, values = [] }: Requirement, field: string): boolean {
  if (values.length !== 1) return false;
  if (operator === 'In') return values[0] === field;
  return operator === 'NotIn' && values[0] !== field;
}

/** A 64-bit integer in decimal digits, which a label's value may be. */
function integer(text: string | undefined): bigint | undefined {
  if (text === undefined || !INT64.test(text)) return undefined;
  const value = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
