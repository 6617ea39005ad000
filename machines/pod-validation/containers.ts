import type { Container, EphemeralContainer, Pod } from '../protocol/api-types.ts';
import { environmentOf } from './environment.ts';
import type { ValidationGates } from './environment.ts';
import { handlersOf, noHandlers } from './handlers.ts';
import { dnsLabel, named } from './names.ts';
import { mountsOf } from './mounts.ts';
import { hostPortConflicts, portsOf } from './ports.ts';
import { duplicate, forbidden, invalid, notFound, notSupported, type Problems, required } from './problem.ts';
import { resourcesOf } from './resources.ts';
import { containerSecurity } from './security.ts';

type Spec = NonNullable<Pod['spec']>;

function* common(path: string, container: Container, spec: Spec, gates: ValidationGates): Problems {
  if (!container.name) yield required(`${path}.name`);
  else yield* named(`${path}.name`, container.name, dnsLabel);
  const image = container.image ?? '';
  if (image === '') yield required(`${path}.image`);
  else if (image !== image.trim())
    yield invalid(`${path}.image`, image, 'must not have leading or trailing whitespace');
  const termination = ['File', 'FallbackToLogsOnError'];
  if (!termination.includes(container.terminationMessagePolicy ?? '')) {
    yield notSupported(`${path}.terminationMessagePolicy`, container.terminationMessagePolicy ?? '', termination);
  }
  const pull = ['Always', 'IfNotPresent', 'Never'];
  if (!pull.includes(container.imagePullPolicy ?? '')) {
    yield notSupported(`${path}.imagePullPolicy`, container.imagePullPolicy ?? '', pull);
  }
  yield* portsOf(path, container);
  yield* environmentOf(path, container, spec, gates);
  yield* mountsOf(path, container, spec);
  yield* resourcesOf(path, container, spec);
  yield* containerSecurity(`${path}.securityContext`, container.securityContext, spec);
}

/** KEP-5307: a container's own restart policy and its rules. */
function* restartPolicy(path: string, container: Container, { restartAllContainers }: ValidationGates): Problems {
  const { restartPolicy: policy, restartPolicyRules: rules = [] } = container;
  const policies = ['Always', 'Never', 'OnFailure'];
  if (policy === undefined) {
    if (rules.length > 0)
      yield required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used');
  } else if (!policies.includes(policy)) yield notSupported(`${path}.restartPolicy`, policy, policies);
  if (rules.length > 20) yield invalid(`${path}.restartPolicyRules`, rules.length, 'must have at most 20 items');
  for (const [i, rule] of rules.entries()) {
    const at = `${path}.restartPolicyRules[${i}]`;
    const known =
      rule.action === 'Restart' || (restartAllContainers === true && rule.action === 'RestartAllContainers');
    // Kubelet names the one in either case.
    if (!known) yield notSupported(`${at}.action`, rule.action ?? '', ['Restart']);
    if (!rule.exitCodes) yield required(`${at}.exitCodes`, 'must be specified');
    else if (!['In', 'NotIn'].includes(rule.exitCodes.operator)) {
      yield notSupported(`${at}.exitCodes.operator`, rule.exitCodes.operator ?? '', ['In', 'NotIn']);
    }
    if ((rule.exitCodes?.values ?? []).length > 255) {
      yield invalid(`${at}.exitCodes.values`, rule.exitCodes?.values?.length, 'must have at most 255 items');
    }
  }
}

function* initContainer(path: string, container: Container, spec: Spec, gates: ValidationGates): Problems {
  yield* common(path, container, spec, gates);
  if (container.restartPolicy === 'Always') {
    if (gates.containerRestartRules !== false && gates.restartAllContainers === true) {
      yield* restartPolicy(path, container, gates);
    } else if (container.restartPolicyRules?.length) {
      yield forbidden(
        `${path}.restartPolicyRules`,
        'restartPolicyRules are not allowed for init containers with restart policy Always',
      );
    }
    yield* handlersOf(path, container, spec);
  } else {
    if (gates.containerRestartRules !== false) yield* restartPolicy(path, container, gates);
    else if (container.restartPolicy !== undefined)
      yield notSupported(`${path}.restartPolicy`, container.restartPolicy, ['Always']);
    yield* noHandlers(path, container);
  }
  yield* hostPortConflicts('spec.initContainers', [container]);
}

function* ephemeral(path: string, container: EphemeralContainer, others: ReadonlySet<string>): Problems {
  const target = container.targetContainerName;
  if (target && !others.has(target)) yield notFound(`${path}.targetContainerName`, target);
  const never = [
    'ports',
    'livenessProbe',
    'readinessProbe',
    'startupProbe',
    'lifecycle',
    'resizePolicy',
    'restartPolicy',
  ] as const;
  for (const name of never) {
    if (container[name] !== undefined) yield forbidden(`${path}.${name}`, 'cannot be set for an Ephemeral Container');
  }
}

/** All containers of a pod, in the order in which the API server looks at them. */
export function* containersOf(spec: Spec, gates: ValidationGates): Problems {
  const names = new Set<string>();
  function* unique(path: string, name: string): Problems {
    if (names.has(name)) yield duplicate(`${path}.name`, name);
    if (name) names.add(name);
  }
  if (!spec.containers?.length) yield required('spec.containers');
  for (const [i, container] of (spec.containers ?? []).entries()) {
    const path = `spec.containers[${i}]`;
    yield* common(path, container, spec, gates);
    yield* unique(path, container.name);
    yield* handlersOf(path, container, spec);
    if (gates.containerRestartRules !== false) yield* restartPolicy(path, container, gates);
    else if (container.restartPolicy !== undefined)
      yield forbidden(`${path}.restartPolicy`, 'may not be set for non-init containers');
  }
  yield* hostPortConflicts('spec.containers', spec.containers ?? []);
  for (const [i, container] of (spec.initContainers ?? []).entries()) {
    const path = `spec.initContainers[${i}]`;
    yield* initContainer(path, container, spec, gates);
    yield* unique(path, container.name);
  }
  const others = new Set(names);
  for (const [i, container] of (spec.ephemeralContainers ?? []).entries()) {
    const path = `spec.ephemeralContainers[${i}]`;
    yield* common(path, container, spec, gates);
    yield* unique(path, container.name);
    yield* ephemeral(path, container, others);
  }
}
