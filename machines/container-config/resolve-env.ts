import type { EnvPlan, EnvStep } from '../protocol/effects.ts';
import type { EnvEntry } from '../protocol/cri-shapes.ts';
import type { EnvFileContent } from './env-file.ts';
import { assertFits, expand, expandFrom, orTooLong } from './expansion.ts';
import { goQuote } from '../values/go-quote.ts';

/** What of a configMap or secret becomes variables; the same shape as `ObjectContent` of machines/protocol/ask.ts. */
export interface EnvObject {
  /** Text by key. */
  data: Readonly<Record<string, string>>;
  /** Base64 by key: a configMap's `binaryData`, or values of a secret that are no UTF-8. */
  binaryData: Readonly<Record<string, string>>;
}

/** An env file that a path led to. */
export interface EnvFile extends EnvFileContent {
  /** Where it is on the node, links followed. */
  path: string;
}

/** What was fetched for a plan. */
export interface EnvValues {
  /** By {@link objectKey}; null = the API server has none, an Error = it could not be asked. */
  objects: ReadonlyMap<string, EnvObject | Error | null>;
  /** By {@link fileKey}; an Error = the path leads nowhere that can be named. */
  files: ReadonlyMap<string, EnvFile | Error>;
  /** Variables of the services that the pod sees. */
  serviceEnvs: readonly EnvEntry[];
  /** What device plugins gave: variables of the container do not see it, but its command and arguments do. */
  givenEnvs?: readonly EnvEntry[];
}

/** An environment as CreateContainer takes it. Its values may be secret: it stays in the worker. */
export interface ResolvedEnv {
  envs: EnvEntry[];
  command: string[];
  args: string[];
}

/** Why there is no environment. `code` Internal: the runtime could not be told (CreateContainerError). */
export interface EnvFault {
  fault: { code: 'CreateContainerConfigError' | 'Internal'; message: string };
}

type FileStep = Extract<EnvStep, { step: 'file' }>;

/** All that kubelet tells of a file that it cannot read; the reason is in the log. */
const UNREADABLE = "couldn't parse env file";

/** What gRPC says of a string that is no UTF-8. */
const NOT_UTF8 = 'grpc: error while marshaling: string field contains invalid UTF-8';

/** Name of an object in {@link EnvValues.objects}. */
function objectKey({ kind, object }: { kind: 'configMap' | 'secret'; object: string }): string {
  return `${kind}/${object}`;
}

/** Name of a file in {@link EnvValues.files}. */
export function fileKey({ volumePath, path }: Pick<FileStep, 'volumePath' | 'path'>): string {
  return `${volumePath}\0${path}`;
}

/** The files that a plan names, each once with all keys that are wanted of it, by {@link fileKey}. */
export function filesOf(plan: EnvPlan): Map<string, { volumePath: string; path: string; keys: string[] }> {
  const found = new Map<string, { volumePath: string; path: string; keys: string[] }>();
  for (const step of plan.steps) {
    if (step.step !== 'file') continue;
    const { volumePath, path } = step;
    const file = found.get(fileKey(step)) ?? { volumePath, path, keys: [] };
    file.keys.push(step.key);
    found.set(fileKey(step), file);
  }
  return found;
}

/** The objects that a plan names, each once, by {@link objectKey}. */
export function objectsOf(plan: EnvPlan): Map<string, { kind: 'configMap' | 'secret'; object: string }> {
  const found = new Map<string, { kind: 'configMap' | 'secret'; object: string }>();
  for (const step of plan.steps) {
    if (step.step === 'all' || step.step === 'key')
      found.set(objectKey(step), { kind: step.kind, object: step.object });
  }
  return found;
}

/**
 * Takes the steps of a plan as kubelet 1.35 does: `envFrom` first, then the variables in order (`$(NAME)` sees what
 * stands before it, then service variables), then the service variables that nothing replaced. Each variable is there
 * once, where its name first appeared, with its last value. Keys are used as they are: kubelet 1.35 no longer skips
 * names that no shell would take (event InvalidEnvironmentVariableNames of earlier versions).
 */
export function resolveEnv(plan: EnvPlan, values: EnvValues): ResolvedEnv | EnvFault {
  return orTooLong(
    () => resolve(plan, values),
    (message): EnvFault => ({ fault: { code: 'Internal', message } }),
  );
}

function resolve(plan: EnvPlan, values: EnvValues): ResolvedEnv | EnvFault {
  const services = new Map(values.serviceEnvs.map(({ key, value }) => [key, value]));
  const own = new Map<string, string>();
  // A secret's value need not be text, but a variable of CRI must be.
  const binary = new Set<string>();
  const set = (name: string, value: string, isBinary = false): void => {
    own.set(name, value);
    if (isBinary) binary.add(name);
    else binary.delete(name);
  };
  for (const step of plan.steps) {
    const fault = take(step);
    if (fault !== undefined) return { fault: { code: 'CreateContainerConfigError', message: fault } };
  }
  const [unusable] = binary;
  if (unusable !== undefined)
    return { fault: { code: 'Internal', message: `${NOT_UTF8}: environment variable ${unusable}` } };
  const all = new Map(own);
  for (const [name, value] of services) if (!own.has(name)) all.set(name, value);
  const seen = new Map([...(values.givenEnvs ?? []).map(({ key, value }) => [key, value] as const), ...all]);
  const each = (text: string): string => expandFrom(text, seen);
  const command = plan.command.map(each);
  const args = plan.args.map(each);
  assertFits([...all.values(), ...command, ...args]);
  return {
    envs: [...all].map(([key, value]) => ({ key, value })),
    command,
    args,
  };

  function take(step: EnvStep): string | undefined {
    if (step.step === 'set') set(step.name, step.value);
    else if (step.step === 'expand') {
      let isBinary = false;
      const value = expand(step.value, (name) => {
        if (binary.has(name)) isBinary = true;
        return own.get(name) ?? services.get(name) ?? `$(${name})`;
      });
      set(step.name, value, isBinary);
    } else if (step.step === 'file') return takeFile(step);
    else {
      const content = values.objects.get(objectKey(step)) ?? null;
      if (content instanceof Error) return content.message;
      if (content === null) return step.optional ? undefined : `${step.kind.toLowerCase()} "${step.object}" not found`;
      const texts = content.data;
      // A configMap's binaryData is for volumes only.
      const bytes = step.kind === 'secret' ? content.binaryData : {};
      if (step.step === 'all') {
        for (const [key, value] of Object.entries(texts)) set(step.prefix + key, value);
        for (const key of Object.keys(bytes)) set(step.prefix + key, '', true);
      } else if (Object.hasOwn(texts, step.key)) set(step.name, texts[step.key] ?? '');
      else if (Object.hasOwn(bytes, step.key)) set(step.name, '', true);
      else if (!step.optional) {
        const kind = step.kind === 'secret' ? 'Secret' : 'ConfigMap';
        return `couldn't find key ${step.key} in ${kind} ${plan.namespace}/${step.object}`;
      }
    }
    return undefined;
  }

  /** An empty value is none; a file that cannot be read fails an optional variable, too. */
  function takeFile(step: FileStep): string | undefined {
    const file = values.files.get(fileKey(step));
    if (file === undefined || file instanceof Error) return file?.message ?? UNREADABLE;
    const value = file.values.get(step.key);
    if (value === undefined && file.fault !== undefined) return UNREADABLE;
    if (value === null) set(step.name, '', true);
    else if (value) set(step.name, value);
    else if (!step.optional)
      return `environment variable key ${goQuote(step.key)} not found in file ${goQuote(file.path)}`;
    return undefined;
  }
}
