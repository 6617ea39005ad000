import type { Pod } from '../protocol/api-types.ts';
import { parseQuantity } from '../values/quantity.ts';
import { containersOf } from './containers.ts';
import type { ValidationGates } from './environment.ts';
import { metadata, podNames } from './naming.ts';
import { hostNetworkPorts } from './ports.ts';
import { type FieldProblem, forbidden, invalid, notSupported, type Problems, rangeRule, required } from './problem.ts';
import { podResources } from './resources.ts';
import { scheduling } from './scheduling.ts';
import { podSecurity } from './security.ts';
import { volumesOf } from './volumes.ts';

/**
 * Checks a pod that is to be created, as the API server does (`ValidatePodCreate`), after defaulting.
 * All problems at once, in the API server's field spelling; empty when the pod is fine. Affinity, topology spread
 * and the volume sources of clouds are not looked at: nothing on a node without an API server uses them.
 */
export function validatePod(pod: Pod, gates: ValidationGates = {}): FieldProblem[] {
  return [...check(pod, gates)];
}

function* check(pod: Pod, gates: ValidationGates): Problems {
  yield* metadata(pod);
  const spec = pod.spec;
  if (!spec) return void (yield required('spec'));
  yield* volumesOf(spec);
  yield* containersOf(spec, gates);
  if (gates.podLevelResources !== false) yield* podResources(spec);
  if (spec.hostNetwork) yield* hostNetworkPorts('spec.containers', spec.containers ?? []);
  yield* lifetime(spec);
  yield* podSecurity(spec, gates);
  yield* podNames(spec);
  yield* scheduling(spec, gates.taintComparison === true);
  if (spec.ephemeralContainers?.length) yield forbidden('spec.ephemeralContainers', 'cannot be set on create');
}

function* lifetime(spec: NonNullable<Pod['spec']>): Problems {
  const policies = ['Always', 'OnFailure', 'Never'];
  if (!policies.includes(spec.restartPolicy ?? ''))
    yield notSupported('spec.restartPolicy', spec.restartPolicy ?? '', policies);
  if (spec.terminationGracePeriodSeconds === undefined) yield required('spec.terminationGracePeriodSeconds');
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > 2147483647)) {
    yield invalid('spec.activeDeadlineSeconds', deadline, rangeRule(1, 2147483647));
  }
  if (spec.os && !['linux', 'windows'].includes(spec.os.name)) {
    yield notSupported('spec.os.name', spec.os.name ?? '', ['linux', 'windows']);
  }
  for (const [name, amount] of Object.entries(spec.overhead ?? {})) {
    if ((parseQuantity(amount) ?? 0n) < 0n)
      yield invalid(`spec.overhead[${name}]`, amount, 'must be greater than or equal to 0');
  }
}
