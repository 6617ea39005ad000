import { aggregateContainers } from '../pod-defaults/pod-level-resources.ts';
import type { Container, Pod } from '../protocol/api-types.ts';
import { canonicalQuantity, compareQuantities, parseQuantity } from '../values/quantity.ts';
import { named, qualifiedName } from './names.ts';
import { duplicate, forbidden, invalid, notFound, type Problems, required } from './problem.ts';

type Requirements = NonNullable<Container['resources']>;
type NameRule = (field: string, name: string) => Problems;

const HUGE = 'hugepages-';
const isHuge = (name: string): boolean => name.startsWith(HUGE);
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
/** May a request be lower than the limit? */
const overcommits = (name: string): boolean => isNative(name) && !isHuge(name);

function* containerName(field: string, name: string): Problems {
  yield* named(field, name, qualifiedName);
  if (!name.includes('/')) {
    if (!['cpu', 'memory', 'ephemeral-storage'].includes(name) && !isHuge(name)) {
      yield invalid(field, name, 'must be a standard resource for containers');
    }
  } else if (!isNative(name) && (name.startsWith('requests.') || qualifiedName(`requests.${name}`).length > 0)) {
    yield invalid(field, name, "doesn't follow extended resource name standard");
  }
}

function* podName(field: string, name: string): Problems {
  if (!['cpu', 'memory'].includes(name) && !isHuge(name)) {
    yield invalid(field, name, 'must be one of cpu, memory or hugepages-<size> at the level of the pod');
  }
}

function* amount(field: string, name: string, quantity: string): Problems {
  const value = parseQuantity(quantity) ?? 0n;
  if (value < 0n) yield invalid(field, quantity, 'must be greater than or equal to 0');
  const page = isHuge(name) ? parseQuantity(name.slice(HUGE.length)) : undefined;
  if (page !== undefined && page > 0n && (value <= 0n || value % page !== 0n)) {
    yield invalid(
      field,
      canonicalQuantity(quantity),
      `${canonicalQuantity(quantity)} is not positive integer multiple of ${name}`,
    );
  }
  if (!isNative(name) && value % 1_000_000_000n !== 0n) yield invalid(field, quantity, 'must be an integer');
}

function* requirements(path: string, given: Requirements, nameRule: NameRule): Problems {
  const limits = given.limits ?? {};
  const requests = given.requests ?? {};
  for (const [kind, amounts] of Object.entries({ limits, requests })) {
    for (const [name, quantity] of Object.entries(amounts)) {
      yield* nameRule(`${path}.${kind}[${name}]`, name);
      yield* amount(`${path}.${kind}[${name}]`, name, quantity);
    }
  }
  for (const [name, request] of Object.entries(requests)) {
    const limit = limits[name];
    if (limit === undefined) {
      if (!overcommits(name)) yield required(`${path}.limits`, 'Limit must be set for non overcommitable resources');
      continue;
    }
    const order = compareQuantities(request, limit);
    const [shownRequest, shownLimit] = [canonicalQuantity(request), canonicalQuantity(limit)];
    if (order !== 0 && !overcommits(name)) {
      yield invalid(`${path}.requests`, shownRequest, `must be equal to ${name} limit of ${shownLimit}`);
    } else if (order > 0) {
      yield invalid(`${path}.requests`, shownRequest, `must be less than or equal to ${name} limit of ${shownLimit}`);
    }
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHuge) && !names.some((name) => name === 'cpu' || name === 'memory')) {
    yield forbidden(path, 'HugePages require cpu or memory');
  }
}

/** `resources` and `resizePolicy` of a container. */
export function* resourcesOf(path: string, container: Container, spec: NonNullable<Pod['spec']>): Problems {
  yield* requirements(`${path}.resources`, container.resources ?? {}, containerName);
  const claims = new Set((spec.resourceClaims ?? []).map((claim) => claim.name));
  for (const [i, claim] of (container.resources?.claims ?? []).entries()) {
    if (!claim.name) yield required(`${path}.resources.claims[${i}].name`);
    else if (!claims.has(claim.name)) yield notFound(`${path}.resources.claims[${i}].name`, claim.name);
  }
  const resized = new Set<string>();
  for (const [i, policy] of (container.resizePolicy ?? []).entries()) {
    const field = `${path}.resizePolicy[${i}]`;
    if (resized.has(policy.resourceName)) yield duplicate(field, policy.resourceName);
    resized.add(policy.resourceName);
    if (!['cpu', 'memory'].includes(policy.resourceName)) {
      yield invalid(`${field}.resourceName`, policy.resourceName, 'must be cpu or memory');
    }
    if (!['NotRequired', 'RestartContainer'].includes(policy.restartPolicy)) {
      yield invalid(`${field}.restartPolicy`, policy.restartPolicy, 'must be NotRequired or RestartContainer');
    } else if (spec.restartPolicy === 'Never' && policy.restartPolicy !== 'NotRequired') {
      yield invalid(field, policy.restartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'");
    }
  }
}

/** `spec.resources` (KEP-2837) and its fit with the containers' own. */
export function* podResources(spec: NonNullable<Pod['spec']>): Problems {
  const given = spec.resources;
  if (!given) return;
  if (given.claims) yield forbidden('spec.resources.claims', 'claims may not be set for Resources at pod-level');
  yield* requirements('spec.resources', given, podName);
  for (const [name, sum] of Object.entries(aggregateContainers(spec, 'requests'))) {
    const request = given.requests?.[name];
    if (request !== undefined && compareQuantities(sum, request) > 0) {
      const rule = `must be greater than or equal to aggregate container requests of ${sum}`;
      yield invalid(`spec.resources.requests[${name}]`, canonicalQuantity(request), rule);
    }
  }
  for (const [i, container] of spec.containers.entries()) {
    for (const [name, limit] of Object.entries(container.resources?.limits ?? {})) {
      const podLimit = given.limits?.[name];
      if (podLimit !== undefined && compareQuantities(limit, podLimit) > 0) {
        const rule = `must be less than or equal to pod limits of ${canonicalQuantity(podLimit)}`;
        yield invalid(`spec.containers[${i}].resources.limits[${name}]`, canonicalQuantity(limit), rule);
      }
    }
  }
}
