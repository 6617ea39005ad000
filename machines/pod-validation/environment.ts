import type { SpecGates } from '../pod-defaults/without-gated-fields.ts';
import type { Container, Pod } from '../protocol/api-types.ts';
import { splitSubscript } from '../container-config/downward-fields.ts';
import { canonicalQuantity, parseQuantity } from '../values/quantity.ts';
import { configKey, dnsLabel, dnsSubdomain, envName, named, noBacksteps, qualifiedName } from './names.ts';
import { invalid, notFound, notSupported, type Problems, required } from './problem.ts';

type EnvVar = NonNullable<Container['env']>[number];
type ValueFrom = NonNullable<EnvVar['valueFrom']>;
/** `fieldRef` of an environment variable or of a downward API file. */
export type FieldRef = NonNullable<ValueFrom['fieldRef']>;
/** `resourceFieldRef` of an environment variable or of a downward API file. */
export type ResourceRef = NonNullable<ValueFrom['resourceFieldRef']>;

const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const RESOURCES = ['limits', 'requests'].flatMap((kind) =>
  ['cpu', 'ephemeral-storage', 'memory'].map((name) => `${kind}.${name}`),
);
const SIZE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** A reference to a field of the pod; `supported`: the paths without a subscript. */
export function* fieldRef(field: string, ref: FieldRef, supported: readonly string[]): Problems {
  if (!ref.fieldPath) return void (yield required(`${field}.fieldPath`));
  const subscript = splitSubscript(ref.fieldPath);
  if (subscript) {
    const { field: path, key } = subscript;
    if (path === 'metadata.annotations') yield* named(field, key.toLowerCase(), qualifiedName);
    else if (path === 'metadata.labels') yield* named(field, key, qualifiedName);
    else yield invalid(field, path, 'does not support subscript');
  } else if (!supported.includes(ref.fieldPath)) {
    yield notSupported(`${field}.fieldPath`, ref.fieldPath, supported);
  }
}

/** A reference to a container's resources. A file must name the container, a variable need not. */
export function* resourceRef(field: string, ref: ResourceRef, needsContainer: boolean): Problems {
  const name = ref.resource ?? '';
  const huge = /^(?:limits|requests)\.hugepages-/.test(name);
  if (needsContainer && !ref.containerName) yield required(`${field}.containerName`);
  else if (name === '') yield required(`${field}.resource`);
  else if (!huge && !RESOURCES.includes(name)) yield notSupported(`${field}.resource`, name, RESOURCES);
  const divisor = ref.divisor;
  if (divisor === undefined || parseQuantity(divisor) === 0n) return;
  const cpu = name.endsWith('.cpu');
  if (!cpu && !huge && !RESOURCES.includes(name)) return;
  if (!(cpu ? ['1m', '1'] : SIZE_DIVISORS).includes(canonicalQuantity(divisor))) {
    const what = cpu ? 'cpu' : huge ? 'hugepages' : name.endsWith('.memory') ? 'memory' : 'local ephemeral storage';
    const values = cpu ? '1m and 1' : SIZE_DIVISORS.join(', ');
    yield invalid(`${field}.divisor`, name, `only divisor's values ${values} are supported with the ${what} resource`);
  }
}

function* key(field: string, ref: { name?: string; key: string }): Problems {
  yield* named(`${field}.name`, ref.name ?? '', dnsSubdomain);
  if (!ref.key) yield required(`${field}.key`);
  else yield* named(`${field}.key`, ref.key, configKey);
}

function* fileKey(field: string, ref: NonNullable<ValueFrom['fileKeyRef']>, spec: NonNullable<Pod['spec']>): Problems {
  if (!ref.key) yield required(`${field}.key`);
  else yield* named(`${field}.key`, ref.key, envName);
  if (!ref.path) yield required(`${field}.path`);
  else yield* noBacksteps(`${field}.path`, ref.path);
  // An empty name is told twice: it is needed, and no volume has it.
  if (!ref.volumeName) yield required(`${field}.volumeName`);
  else yield* named(`${field}.volumeName`, ref.volumeName, dnsLabel);
  const volume = spec.volumes?.find((candidate) => candidate.name === ref.volumeName);
  if (!volume) yield notFound(`${field}.volumeName`, ref.volumeName ?? '');
  else if (!volume.emptyDir) {
    yield invalid(`${field}.volumeName`, ref.volumeName, 'referenced volume must be of type emptyDir');
  }
}

const SOURCES = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
const SOURCES_WITH_FILES = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';

function* variable(field: string, env: EnvVar, spec: NonNullable<Pod['spec']>, envFiles: boolean): Problems {
  if (!env.name) yield required(`${field}.name`);
  else yield* named(`${field}.name`, env.name, envName);
  const from = env.valueFrom;
  if (!from) return;
  const at = `${field}.valueFrom`;
  if (from.fieldRef) yield* fieldRef(`${at}.fieldRef`, from.fieldRef, ENV_FIELDS);
  if (from.resourceFieldRef) yield* resourceRef(`${at}.resourceFieldRef`, from.resourceFieldRef, false);
  if (from.configMapKeyRef) yield* key(`${at}.configMapKeyRef`, from.configMapKeyRef);
  if (from.secretKeyRef) yield* key(`${at}.secretKeyRef`, from.secretKeyRef);
  if (from.fileKeyRef) yield* fileKey(`${at}.fileKeyRef`, from.fileKeyRef, spec);
  const sources = Object.keys(from).length;
  if (sources === 0) {
    yield invalid(at, '', `must specify one of: ${envFiles ? SOURCES_WITH_FILES : SOURCES}`);
  } else if (env.value) yield invalid(at, '', 'may not be specified when `value` is not empty');
  else if (sources > 1) yield invalid(at, '', 'may not have more than one field specified at a time');
}

/** Feature gates that validation knows, each on unless false where nothing else is said. */
export interface ValidationGates extends SpecGates {
  /** `EnvFiles` (KEP-3721). */
  envFiles?: boolean;
  /** `PreventStaticPodAPIReferences`. */
  preventStaticPodAPIReferences?: boolean;
  /** `UserNamespacesHostNetworkSupport` (KEP-5607): off unless true. */
  userNamespacesHostNetwork?: boolean;
  /** `RestartAllContainersOnContainerExits` (KEP-5532): off unless true. */
  restartAllContainers?: boolean;
  /** `TaintTolerationComparisonOperators` (KEP-5471); off unless true. */
  taintComparison?: true;
}

/** `env` and `envFrom` of a container. */
export function* environmentOf(
  path: string,
  container: Container,
  spec: NonNullable<Pod['spec']>,
  { envFiles = true }: ValidationGates,
): Problems {
  for (const [i, env] of (container.env ?? []).entries()) yield* variable(`${path}.env[${i}]`, env, spec, envFiles);
  for (const [i, from] of (container.envFrom ?? []).entries()) {
    const at = `${path}.envFrom[${i}]`;
    if (from.prefix) yield* named(`${at}.prefix`, from.prefix, envName);
    for (const kind of ['configMapRef', 'secretRef'] as const) {
      const ref = from[kind];
      if (ref && !ref.name) yield required(`${at}.${kind}.name`);
      else if (ref) yield* named(`${at}.${kind}.name`, ref.name ?? '', dnsSubdomain);
    }
    if (!from.configMapRef && !from.secretRef)
      yield invalid(at, '', 'must specify one of: `configMapRef` or `secretRef`');
    else if (from.configMapRef && from.secretRef) {
      yield invalid(at, '', 'may not have more than one field specified at a time');
    }
  }
}
