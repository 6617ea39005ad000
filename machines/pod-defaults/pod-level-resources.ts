import type { Container, Pod } from '../protocol/api-types.ts';
import { addQuantities, canonicalQuantity, compareQuantities } from '../values/quantity.ts';

type Amounts = Record<string, string>;
type Spec = NonNullable<Pod['spec']>;

const isHuge = (name: string): boolean => name.startsWith('hugepages-');
const isPodLevel = (name: string): boolean => name === 'cpu' || name === 'memory' || isHuge(name);

/** How amounts of type `A` are read from text, added and compared. */
export interface Arithmetic<A> {
  read: (text: string) => A;
  add: (a: A, b: A) => A;
  compare: (a: A, b: A) => number;
}

const TEXTS: Arithmetic<string> = {
  read: (text) => text,
  add: (a, b) => addQuantities([a, b]),
  compare: compareQuantities,
};

type Of<A> = Record<string, A>;

function plus<A>(a: Of<A>, b: Of<A>, { add }: Arithmetic<A>): Of<A> {
  const sum = { ...a };
  for (const [name, amount] of Object.entries(b)) {
    sum[name] = sum[name] === undefined ? amount : add(sum[name], amount);
  }
  return sum;
}

function greatest<A>(a: Of<A>, b: Of<A>, { compare }: Arithmetic<A>): Of<A> {
  const out = { ...a };
  for (const [name, amount] of Object.entries(b)) {
    const present = out[name];
    if (present === undefined || compare(amount, present) > 0) out[name] = amount;
  }
  return out;
}

function read<A>(amounts: Amounts | undefined, how: Arithmetic<A>): Of<A> {
  return Object.fromEntries(Object.entries(amounts ?? {}).map(([name, amount]) => [name, how.read(amount)]));
}

/** What all containers need at once, see {@link aggregateContainers}. */
function aggregate<A>(spec: Spec, kind: 'requests' | 'limits', how: Arithmetic<A>): Of<A> {
  const own = (container: Container): Of<A> => read(container.resources?.[kind], how);
  let total = (spec.containers ?? []).map(own).reduce((sum, needs) => plus(sum, needs, how), {});
  let sidecars: Of<A> = {};
  let init: Of<A> = {};
  for (const container of spec.initContainers ?? []) {
    const needs = own(container);
    if (container.restartPolicy === 'Always') {
      total = plus(total, needs, how);
      sidecars = plus(sidecars, needs, how);
      init = greatest(init, sidecars, how);
    } else init = greatest(init, plus(needs, sidecars, how), how);
  }
  return greatest(total, init, how);
}

/**
 * What all containers need at once: the sum of the regular ones and the sidecars, or an init container with the
 * sidecars started before it when that is more (KEP-753).
 */
export function aggregateContainers(spec: Spec, kind: 'requests' | 'limits'): Amounts {
  const total = Object.entries(aggregate(spec, kind, TEXTS));
  return Object.fromEntries(total.map(([name, amount]) => [name, canonicalQuantity(amount)]));
}

/** Defaults of `spec.resources` (KEP-2837); containers must have theirs already. Nothing when the pod sets none. */
export function podLevelResources(spec: Spec): Spec['resources'] {
  return filledResources(spec, {
    ...TEXTS,
    // Sums are written as Kubernetes writes amounts.
    add: (a, b) => canonicalQuantity(TEXTS.add(a, b)),
  }) as Spec['resources'];
}

/** As {@link podLevelResources}, with amounts of another type. */
export function filledResources<A>(
  spec: Spec,
  how: Arithmetic<A>,
): (Omit<NonNullable<Spec['resources']>, 'limits' | 'requests'> & { limits?: Of<A>; requests?: Of<A> }) | undefined {
  const given = spec.resources;
  if (!given) return given;
  const limits = read(given.limits, how);
  const requests = read(given.requests, how);
  const known = {
    ...given,
    ...(given.limits ? { limits } : {}),
    ...(given.requests ? { requests } : {}),
  } as NonNullable<ReturnType<typeof filledResources<A>>>;
  if (Object.keys(limits).length + Object.keys(requests).length === 0) return known;
  for (const [name, amount] of Object.entries(aggregate(spec, 'limits', how))) {
    if (isHuge(name) && requests[name] === undefined) limits[name] ??= amount;
  }
  if (Object.keys(limits).length === 0) return known;
  for (const [name, amount] of Object.entries(aggregate(spec, 'requests', how))) {
    if (isPodLevel(name) && !isHuge(name)) requests[name] ??= amount;
  }
  for (const [name, amount] of Object.entries(limits)) if (isPodLevel(name)) requests[name] ??= amount;
  return { ...known, limits, ...(Object.keys(requests).length > 0 ? { requests } : {}) };
}
