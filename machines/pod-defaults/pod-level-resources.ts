import type { Container, Pod } from '../protocol/api-types.ts';
import { addQuantities, canonicalQuantity, compareQuantities } from '../values/quantity.ts';

type Amounts = Record<string, string>;
type Spec = NonNullable<Pod['spec']>;

const isHuge = (name: string): boolean => name.startsWith('hugepages-');
const isPodLevel = (name: string): boolean => name === 'cpu' || name === 'memory' || isHuge(name);

function plus(a: Amounts, b: Amounts): Amounts {
  const sum = { ...a };
  for (const [name, amount] of Object.entries(b)) {
    sum[name] = sum[name] === undefined ? amount : addQuantities([sum[name], amount]);
  }
  return sum;
}

function greatest(a: Amounts, b: Amounts): Amounts {
  const out = { ...a };
  for (const [name, amount] of Object.entries(b)) {
    const present = out[name];
    if (present === undefined || compareQuantities(amount, present) > 0) out[name] = amount;
  }
  return out;
}

/**
 * What all containers need at once: the sum of the regular ones and the sidecars, or an init container with the
 * sidecars started before it when that is more (KEP-753).
 */
export function aggregateContainers(spec: Spec, kind: 'requests' | 'limits'): Amounts {
  const own = (container: Container): Amounts => container.resources?.[kind] ?? {};
  let total = (spec.containers ?? []).map(own).reduce(plus, {});
  let sidecars: Amounts = {};
  let init: Amounts = {};
  for (const container of spec.initContainers ?? []) {
    const needs = own(container);
    if (container.restartPolicy === 'Always') {
      total = plus(total, needs);
      sidecars = plus(sidecars, needs);
      init = greatest(init, sidecars);
    } else init = greatest(init, plus(needs, sidecars));
  }
  total = greatest(total, init);
  return Object.fromEntries(Object.entries(total).map(([name, amount]) => [name, canonicalQuantity(amount)]));
}

/** Defaults of `spec.resources` (KEP-2837); containers must have theirs already. Nothing when the pod sets none. */
export function podLevelResources(spec: Spec): Spec['resources'] {
  const given = spec.resources;
  if (!given) return given;
  const limits: Amounts = { ...given.limits };
  const requests: Amounts = { ...given.requests };
  if (Object.keys(limits).length + Object.keys(requests).length === 0) return given;
  for (const [name, amount] of Object.entries(aggregateContainers(spec, 'limits'))) {
    if (isHuge(name) && requests[name] === undefined) limits[name] ??= amount;
  }
  if (Object.keys(limits).length === 0) return given;
  for (const [name, amount] of Object.entries(aggregateContainers(spec, 'requests'))) {
    if (isPodLevel(name) && !isHuge(name)) requests[name] ??= amount;
  }
  for (const [name, amount] of Object.entries(limits)) if (isPodLevel(name)) requests[name] ??= amount;
  return { ...given, limits, ...(Object.keys(requests).length > 0 ? { requests } : {}) };
}
