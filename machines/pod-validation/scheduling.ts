import type { Pod } from '../protocol/api-types.ts';
import { labelValue, named, qualifiedName } from './names.ts';
import { duplicate, forbidden, invalid, notSupported, type Problems } from './problem.ts';

type Spec = NonNullable<Pod['spec']>;

/** @param comparison `Lt` and `Gt` are accepted */
function* tolerations(spec: Spec, comparison: boolean): Problems {
  for (const [i, toleration] of (spec.tolerations ?? []).entries()) {
    const at = `spec.tolerations[${i}]`;
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    if (key !== '') yield* named(`${at}.key`, key, qualifiedName);
    else if (operator !== 'Exists') {
      const rule = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      yield invalid(`${at}.operator`, operator, rule);
    }
    if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
      yield invalid(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (operator === 'Equal' || operator === '') yield* named(`${at}.operator`, value, labelValue);
    else if (operator === 'Exists') {
      if (value !== '') yield invalid(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'");
    } else if (operator !== 'Lt' && operator !== 'Gt')
      yield notSupported(`${at}.operator`, operator, ['Equal', 'Exists']);
    else if (!comparison) yield notSupported(`${at}.operator`, operator, ['Equal', 'Exists', 'Lt', 'Gt']);
    else yield* wholeNumber(`${at}.value`, value);
    const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
    if (effect !== '' && !effects.includes(effect)) yield notSupported(`${at}.effect`, effect, effects);
  }
}

const INT64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };

/** A decimal integer as people write it, of 64 bits: the value of `Lt` and `Gt`. */
function* wholeNumber(field: string, value: string): Problems {
  if (value === '') yield invalid(field, value, 'must be non-empty');
  else if (!/^(?:0|-?[1-9]\d*)$/.test(value))
    yield invalid(field, value, 'must be a valid decimal integer in canonical form');
  if (!/^[+-]?\d+$/.test(value))
    yield invalid(field, value, `strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  else if (
    value.length > 20 ||
    BigInt(value.replace('+', '')) < INT64.least ||
    BigInt(value.replace('+', '')) > INT64.most
  )
    yield invalid(field, value, `strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`);
}

/** Fields that matter to schedulers and to the node's own admission. */
export function* scheduling(spec: Spec, taintComparison: boolean): Problems {
  yield* tolerations(spec, taintComparison);
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) {
    yield* named('spec.nodeSelector', key, qualifiedName);
    yield* named('spec.nodeSelector', value, labelValue);
  }
  for (const [i, gate] of (spec.readinessGates ?? []).entries()) {
    yield* named(`spec.readinessGates[${i}].conditionType`, gate.conditionType ?? '', qualifiedName);
  }
  const gates = new Set<string>();
  for (const [i, gate] of (spec.schedulingGates ?? []).entries()) {
    yield* named(`spec.schedulingGates[${i}]`, gate.name ?? '', qualifiedName);
    if (gates.has(gate.name)) yield duplicate(`spec.schedulingGates[${i}]`, gate.name);
    gates.add(gate.name);
  }
  if (spec.nodeName && gates.size > 0) {
    yield forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared');
  }
  const preemption = ['PreemptLowerPriority', 'Never'];
  if (spec.preemptionPolicy !== undefined && !preemption.includes(spec.preemptionPolicy)) {
    yield notSupported('spec.preemptionPolicy', spec.preemptionPolicy, preemption);
  }
}
