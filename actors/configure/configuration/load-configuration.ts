import { dirname, resolve, isAbsolute, join } from 'node:path';
import { configErrors } from '../../../machines/errors/config-errors.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { DEFAULT_EVICTION_HARD } from './fields/eviction-fields.ts';
import { checkRules } from './rules/all-rules.ts';
import { cgroupVersionOf } from './cgroup-version.ts';
import { listDropIns, readConfigFile } from './config-file.ts';
import { fixedGates } from './effects/gate-effects.ts';
import type { FeatureGates } from './feature-gates.ts';
import { resolveFeatureGates } from './feature-gates.ts';
import type { JsonObject, KubeletConfiguration } from './kubelet-configuration.ts';
import { kubeletConfigurationSchema, toVersioned } from './kubelet-configuration.ts';
import { leafPaths, mergePatch } from './merge-patch.ts';
import { ConfigurationInvalid, toError } from './problems.ts';
import { checkLayer, type CheckedLayer } from './schema-check.ts';
import { withoutZeroValues } from './zero-values.ts';

/** One flag that sets a field: its value has the field's v1beta1 form (a duration is `"20s"`). */
export interface ConfigurationFlag {
  /** With its dashes, e.g. `--port`. */
  flag: string;
  /** Dotted path of the field. */
  path: string;
  value: unknown;
}

/** What the configuration is made of. */
export interface ConfigurationSources {
  /** `--config`; relative to the working folder. */
  configFile?: string | undefined;
  /** `--config-dir`; relative to the working folder. */
  configDir?: string | undefined;
  flags?: readonly ConfigurationFlag[] | undefined;
  /** Cgroup version of the machine; looked up when absent. */
  cgroupVersion?: 1 | 2 | undefined;
}

/** The settled configuration. */
export interface LoadedConfiguration {
  config: KubeletConfiguration;
  /** What the operator should hear of; to be logged once. */
  warnings: string[];
  gates: FeatureGates;
  /** Tells whether, and where, a field was set. */
  origins: Origins;
}

/**
 * Loads the configuration as kubelet does: defaults, then the file, then the drop-ins in lexical order, then flags.
 * Without a file the defaults are those of the flags (read-only port 10255 open, anonymous requests allowed,
 * authorization AlwaysAllow, no hard eviction). Throws {@link ConfigurationInvalid} with every error there is.
 */
export function loadConfiguration(sources: ConfigurationSources): LoadedConfiguration {
  const errors: ActorletError[] = [];
  const broken = new Set<string>();
  const origins = new Origins();
  const lenient: string[] = [];
  let unread = false;

  const layer = (path: string, dropIn: boolean): JsonObject => {
    try {
      const { value, duplicates } = readConfigFile(path);
      const checked = checkLayer(value, () => path);
      errors.push(...checked.errors);
      lenient.push(...strictProblems(path, checked.unknown, dropIn ? [] : duplicates));
      const [twice] = dropIn ? duplicates : [];
      if (twice !== undefined) throw new ActorletError(configErrors.notYaml, { where: path, reason: twice });
      checked.broken.forEach((field) => broken.add(field));
      origins.record(leafPaths(checked.clean), path);
      return checked.clean;
    } catch (error) {
      if (!(error instanceof ActorletError)) throw error;
      errors.push(error);
      unread = true;
      return {};
    }
  };

  let config: KubeletConfiguration;
  if (sources.configFile !== undefined && sources.configFile !== '') {
    const path = resolve(sources.configFile);
    const file = layer(path, false);
    config = resolvePaths(withFileDefaults(decode(file), file), dirname(path));
  } else {
    config = withLegacyDefaults(decode({}));
  }

  if (sources.configDir !== undefined && sources.configDir !== '') {
    let merged = withoutEmptyLists(toVersioned(config));
    for (const path of dropIns(resolve(sources.configDir), errors)) merged = mergePatch(merged, layer(path, true));
    config = decode(merged);
  }

  config = withFlags(config, sources.flags ?? [], { errors, broken, origins });
  // Relative paths that are left come from drop-ins and flags; kubelet opens those below its working folder,
  // but insists on an absolute podLogsDir.
  config = resolvePaths(config, process.cwd(), new Set(['podLogsDir']));

  // Rules over what is left of a file that could not be read would only mislead.
  if (unread) throw new ConfigurationInvalid(errors);

  const resolved = resolveFeatureGates(config.featureGates, (name) => origins.of(`featureGates.${name}`));
  errors.push(...resolved.errors);
  config = withGateDefaults(config, resolved.gates);

  const cgroupVersion = sources.cgroupVersion ?? cgroupVersionOf();
  for (const problem of checkRules(config, { gates: resolved.gates, cgroupVersion }, broken)) {
    errors.push(toError(origins.of(problem.path), problem));
  }
  if (config.failCgroupV1 && cgroupVersion === 1 && !broken.has('failCgroupV1')) {
    errors.push(new ActorletError(configErrors.cgroupV1, { where: origins.of('failCgroupV1') }));
  }
  if (errors.length > 0) throw new ConfigurationInvalid(errors);
  return {
    config,
    warnings: [
      ...lenient,
      ...resolved.warnings,
      ...adviceOn(config, cgroupVersion),
      ...fixedGates(config.featureGates),
    ],
    gates: resolved.gates,
    origins,
  };
}

/**
 * What kubelet warns of in a file of v1beta1 that only its lenient decoder takes: fields that there are not, and keys
 * that are there twice. Of drop-ins it ignores unknown fields without a word, and refuses keys that are there twice.
 */
function strictProblems(file: string, unknown: CheckedLayer['unknown'], duplicates: readonly string[]): string[] {
  const problems = [
    ...duplicates,
    ...unknown.map(({ path, suggestion }) => `unknown field ${JSON.stringify(path)}.${suggestion}`),
  ];
  return problems.map((problem) => `Using lenient decoding as strict decoding failed: ${file}: ${problem}`);
}

/** Decodes a layer that {@link checkLayer} has found clean. */
function decode(raw: JsonObject): KubeletConfiguration {
  return kubeletConfigurationSchema.parse(withoutZeroValues(raw));
}

/**
 * What drop-ins are merged into, as kubelet writes it: an empty list of the file is left out there, so that `enforceNodeAllocatable: []` of the file
 * is the default again wherever there is a folder of drop-ins, be that empty. In a drop-in it stands.
 */
function withoutEmptyLists(versioned: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(versioned).filter(([, value]) => !Array.isArray(value) || value.length > 0));
}

function dropIns(directory: string, errors: ActorletError[]): string[] {
  try {
    return listDropIns(directory);
  } catch (error) {
    if (!(error instanceof ActorletError)) throw error;
    errors.push(error);
    return [];
  }
}

/** loadConfigFile: the hard thresholds have defaults only when there is a file, and it does not set them: `{}` stands for none. */
function withFileDefaults(config: KubeletConfiguration, { evictionHard }: JsonObject): KubeletConfiguration {
  const isSet = evictionHard !== undefined && evictionHard !== null;
  if (isSet && !config.mergeDefaultEvictionSettings) return config;
  return { ...config, evictionHard: { ...DEFAULT_EVICTION_HARD, ...config.evictionHard } };
}

/** applyLegacyDefaults: what the flags' defaults are when no file is given. */
function withLegacyDefaults(config: KubeletConfiguration): KubeletConfiguration {
  const out = structuredClone(config);
  out.authentication.anonymous.enabled = true;
  out.authentication.webhook.enabled = false;
  out.authorization.mode = 'AlwaysAllow';
  out.readOnlyPort = 10255;
  return out;
}

/** Two fields have a default only while their feature gate is on. */
function withGateDefaults(config: KubeletConfiguration, gates: FeatureGates): KubeletConfiguration {
  const out = structuredClone(config);
  if (gates.enabled('KubeletCrashLoopBackOffMax')) out.crashLoopBackOff.maxContainerRestartPeriod ??= 300_000;
  if (gates.enabled('KubeletEnsureSecretPulledImages')) {
    out.imagePullCredentialsVerificationPolicy ??= 'NeverVerifyPreloadedImages';
  }
  return out;
}

/** Flags come last and keep their zero values: `--port=0` is 0 and not the default. */
function withFlags(
  config: KubeletConfiguration,
  flags: readonly ConfigurationFlag[],
  found: { errors: ActorletError[]; broken: Set<string>; origins: Origins },
): KubeletConfiguration {
  const patch: JsonObject = {};
  for (const { flag, path, value } of flags) {
    const keys = path.split('.');
    const last = keys.pop() ?? path;
    let parent: JsonObject = patch;
    for (const key of keys) parent = (parent[key] ??= {}) as JsonObject;
    parent[last] = value;
    found.origins.record([path], `flag ${flag}`);
    // Gates of the flag are added to those of the file; any other map replaces the file's.
    if (path === 'featureGates') found.origins.record(leafPaths({ featureGates: value }), `flag ${flag}`);
  }
  const checked = checkLayer(patch, (path) => found.origins.of(path), true);
  found.errors.push(...checked.errors);
  for (const { path, suggestion } of checked.unknown) {
    const where = found.origins.of(path);
    found.errors.push(new ActorletError(configErrors.unknownField, { where, path, suggestion }));
  }
  checked.broken.forEach((field) => found.broken.add(field));
  const base = toVersioned(config);
  const replaced = flags.map((flag) => flag.path).filter((path) => path !== 'featureGates' && !path.includes('.'));
  for (const field of replaced) if (field in checked.clean) delete base[field];
  return kubeletConfigurationSchema.parse(mergePatch(base, checked.clean));
}

function adviceOn(config: KubeletConfiguration, cgroupVersion: 1 | 2): string[] {
  const warnings: string[] = [];
  if (cgroupVersion === 1) {
    // kubelet's CgroupV1DeprecatedWarning; it also records it as a node event with reason CgroupV1.
    warnings.push(
      'cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to cgroup v2. More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1',
    );
  }
  const { kubeletCgroups, kubeReservedCgroup } = config;
  if (kubeletCgroups !== '' && kubeReservedCgroup !== '' && !kubeletCgroups.startsWith(kubeReservedCgroup)) {
    warnings.push('unsupported configuration:KubeletCgroups is not within KubeReservedCgroup');
  }
  return warnings;
}

/** Where each field of a configuration was set: a file, a drop-in or a flag; the last one counts. */
class Origins {
  readonly #of = new Map<string, string>();

  /** Notes that these paths were set by `where`. */
  record(paths: readonly string[], where: string): void {
    for (const path of paths) {
      this.#of.delete(path);
      this.#of.set(path, where);
    }
  }

  /** Was the field, or something inside it, set by anyone? */
  isSet(path: string): boolean {
    return this.of(path) !== 'defaults';
  }

  /** Who set the field, or `defaults`. List items belong to their list. */
  of(path: string): string {
    const wanted = path.split('[', 1)[0] ?? '';
    let found = 'defaults';
    for (const [known, where] of this.#of) {
      if (known === wanted || known.startsWith(`${wanted}.`) || wanted.startsWith(`${known}.`)) found = where;
    }
    return found;
  }
}

/** The fields that hold paths (KubeletConfigurationPathRefs), but for `authentication.x509.clientCAFile`. */
const PATH_FIELDS = [
  'staticPodPath',
  'tlsCertFile',
  'tlsPrivateKeyFile',
  'resolvConf',
  'volumePluginDir',
  'podLogsDir',
] as const;

/** A copy whose relative paths are made absolute below `root`; '' stays "no path". Paths in `except` are left alone. */
function resolvePaths(
  config: KubeletConfiguration,
  root: string,
  except: ReadonlySet<string> = new Set(),
): KubeletConfiguration {
  const absolute = (path: string) => (path === '' || isAbsolute(path) ? path : join(root, path));
  const out = structuredClone(config);
  for (const field of PATH_FIELDS) if (!except.has(field)) out[field] = absolute(out[field]);
  out.authentication.x509.clientCAFile = absolute(out.authentication.x509.clientCAFile);
  return out;
}
