import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { type ActorletSettings, defaultSettings } from '../../actors/configure/configuration/actorlet-settings.ts';
import { canonicalIp } from '../../actors/configure/configuration/canonical-ip.ts';
import { suggestion } from '../../actors/configure/configuration/closest-name.ts';
import type { KubeletFlags } from '../../actors/configure/configuration/kubelet-flags.ts';
import type { ConfigurationFlag } from '../../actors/configure/configuration/load-configuration.ts';
import { ConfigurationInvalid, shown } from '../../actors/configure/configuration/problems.ts';
import { agentVersion } from '../../actors/configure/configuration/version.ts';
import { type InspectorAddress, inspectorAddress } from '../../actors/configure/configuration/inspector-address.ts';
import { configErrors } from '../../machines/errors/config-errors.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { inspectorErrors } from '../../machines/errors/inspector-errors.ts';
import { parseGoDuration } from '../../machines/values/go-duration.ts';
import { ALL_FLAGS, FLAGS_BY_NAME } from './all-flags.ts';
import { DEPRECATIONS, type FlagSpec } from './flag-spec.ts';
import { readFlagValue } from './flag-values.ts';
import { goArguments } from './go-arguments.ts';
import { checkNodeLabels } from './node-labels.ts';

/** Everything that the command line says. */
export interface DaemonOptions {
  kubelet: KubeletFlags;
  settings: ActorletSettings;
  /** Flags that set fields; for `loadConfiguration`. */
  configuration: ConfigurationFlag[];
  /** Deprecations in kubelet's words, to be printed on standard error before anything else. */
  warnings: string[];
}

const HEADINGS: Readonly<Record<string, string>> = {
  Pods: 'Pods:',
  'Container runtime': 'Container runtime and images:',
  Node: 'Node:',
  Logging: 'Logging:',
  Server: 'Server:',
  actorlet: "actorlet's own:",
  Cluster: 'Cluster:',
  Deprecated: 'Deprecated (set the field in the file of --config instead):',
};

/** Adds all flags of the daemon to a command. Values are read later, by {@link readDaemonOptions}, all at once. */
export function daemonFlags(command: Command): void {
  for (const spec of ALL_FLAGS) command.addOption(optionOf(spec));
  for (const spec of ALL_FLAGS) {
    if (spec.shownAs !== undefined) {
      // For the help only: goArguments turns it into `--name=false`.
      const option = new Option(spec.shownAs, spec.usage).helpGroup(HEADINGS[spec.group] ?? spec.group);
      command.addOption(option.default(undefined));
    }
  }
  command.addOption(new Option('--version [how]', 'print the version and end').helpGroup('Options:').argParser(String));
  // A stray argument gets an error of our own in readDaemonOptions.
  command.allowExcessArguments(true);
  command.helpOption('-h, --help', 'print this help');
  const parse = command.parseOptions.bind(command);
  command.parseOptions = (argv) => {
    const { args, errors } = goArguments(argv);
    if (errors.length > 0) command.error(errors.map((error) => error.message).join('\n'), { exitCode: 1 });
    return parse(args);
  };
  command.on('option:version', () => {
    process.stdout.write(`Kubernetes ${agentVersion()}\n`);
    process.exit(0);
  });
}

function optionOf(spec: FlagSpec): Option {
  const short = spec.name === 'v' ? '-v, ' : '';
  const option = new Option(`${short}--${spec.name} ${spec.kind === 'bool' ? '[bool]' : `<${placeholder(spec)}>`}`);
  const notes = [
    spec.preset === undefined ? '' : `default ${spec.preset}`,
    spec.deprecated === undefined || spec.group === 'Deprecated'
      ? ''
      : `deprecated: ${spec.field ?? 'no field'} in the file`,
  ].filter((note) => note !== '');
  option.description = spec.usage + (notes.length > 0 ? ` (${notes.join('; ')})` : '');
  option.helpGroup(HEADINGS[spec.group] ?? spec.group);
  if (spec.shownAs !== undefined) option.hideHelp();
  return option.argParser((value: string, before: unknown) => [...(Array.isArray(before) ? before : []), value]);
}

function placeholder(spec: FlagSpec): string {
  if (spec.words !== undefined) return spec.words.join('|');
  const names: Partial<Record<FlagSpec['kind'], string>> = {
    string: 'text',
    int: 'n',
    list: 'a,b',
    map: spec.separator === '<' ? 'k<v' : 'k=v',
    gates: 'k=bool',
    taints: 'k=v:effect',
    headers: 'k:v',
    vmodule: 'file=n',
    reservedMemory: 'n:k=v',
  };
  return names[spec.kind] ?? spec.kind;
}

/**
 * Reads all flags that were given. Throws {@link ConfigurationInvalid} with an error for each bad value, each bad node
 * label and an argument that is none.
 */
export function readDaemonOptions(command: Command): DaemonOptions {
  const given = new Map<string, unknown>();
  const errors: ActorletError[] = [];
  const [extra] = command.args;
  if (extra !== undefined) {
    const near = suggestion(
      extra,
      command.commands.map((sub) => sub.name()),
    );
    errors.push(new ActorletError(configErrors.unexpectedArgument, { argument: extra, suggestion: near }));
  }
  for (const option of command.options) {
    const spec = FLAGS_BY_NAME.get(option.name());
    const raw: unknown = spec === undefined ? undefined : command.getOptionValue(option.attributeName());
    if (spec === undefined || !Array.isArray(raw) || given.has(spec.name)) continue;
    const texts = raw.map(String);
    const value = readFlagValue(spec, texts);
    if (value.ok) given.set(spec.name, value.value);
    else errors.push(badFlag(spec, texts.at(-1), value.accepted));
  }
  errors.push(...checkOwn(given), ...checkNodeLabels(mapOf(given, 'node-labels')));
  if (errors.length > 0) throw new ConfigurationInvalid(errors);

  const specs = ALL_FLAGS.filter((spec) => given.has(spec.name));
  const deprecated = specs.flatMap(({ name, deprecated: why }) =>
    why === undefined ? [] : [`Flag --${name} has been deprecated, ${DEPRECATIONS[why]}`],
  );
  return {
    kubelet: kubeletFlags(given),
    settings: ownSettings(given),
    configuration: specs.flatMap(({ name, field }): ConfigurationFlag[] =>
      // kubelet's --seccomp-default can only switch on what the file leaves off.
      field === undefined || (name === 'seccomp-default' && given.get(name) !== true)
        ? []
        : [{ flag: `--${name}`, path: field, value: given.get(name) }],
    ),
    warnings: deprecated,
  };
}

function checkOwn(given: ReadonlyMap<string, unknown>): ActorletError[] {
  const errors: ActorletError[] = [];
  const check = (name: string, bad: (value: never) => boolean, accepted: string) => {
    const spec = FLAGS_BY_NAME.get(name);
    const value = given.get(name);
    if (spec !== undefined && value !== undefined && bad(value as never)) errors.push(badFlag(spec, value, accepted));
  };
  check('shards', (value: number) => value < 1 || value > 64, '1 to 64');
  check('journal-max-bytes', (value: number) => value < 1_048_576, '1048576 (1 MiB) or more');
  check('inspect', (value: string) => inspectorAddress(value) === null, 'host:port, host or port');
  if (inspectOf(given) !== null && given.get('journal') === false)
    errors.push(new ActorletError(inspectorErrors.needsJournal));
  const checkMs = (name: string, bad: (ms: number) => boolean, accepted: string) =>
    check(name, (value: string) => bad(parseGoDuration(value) ?? NaN), accepted);
  checkMs('wait-for-plugins', (ms) => ms < 0 || ms > 300_000, '0s to 5m');
  checkMs('minimum-container-ttl-duration', (ms) => ms < 0, '0s or more');
  check('cloud-provider', (value: string) => value !== '' && value !== 'external', '"" or "external"');
  check(
    'node-ip',
    (value: string) => !isNodeIPs(value),
    'an IP address, or an IPv4 and an IPv6 address (none of them 0.0.0.0 or ::) with a comma between',
  );
  return errors;
}

function isNodeIPs(text: string): boolean {
  if (text === '') return true;
  const addresses = nodeIPsOf(text);
  if (addresses.length === 2 && addresses.some((address) => address === '0.0.0.0' || address === '::')) return false;
  const families = addresses.map(isIP);
  return !families.includes(0) && families.length <= 2 && new Set(families).size === families.length;
}

/** The addresses of `--node-ip`, in the form in which the machine tells its own; what is none stays as it is. */
function nodeIPsOf(text: string): string[] {
  const addresses = text === '' ? [] : text.split(',').map((address) => address.trim());
  return addresses.map((address) => canonicalIp(address) ?? address);
}

function badFlag(spec: FlagSpec, got: unknown, accepted: string): ActorletError {
  const text = spec.name === 'storage-driver-password' ? '<masked>' : shown(spec.name, got);
  return new ActorletError(configErrors.badFlag, { flag: `--${spec.name}`, got: text, accepted });
}

function textOf(given: ReadonlyMap<string, unknown>, name: string): string {
  const value = given.get(name);
  return typeof value === 'string' ? value : '';
}

function numberOf(given: ReadonlyMap<string, unknown>, name: string, preset: number): number {
  const value = given.get(name);
  return typeof value === 'number' ? value : preset;
}

/** A duration as it was written, ms: those that are a field of the configuration stay texts until that is read. */
function msOf(given: ReadonlyMap<string, unknown>, name: string, preset: number): number {
  const value = given.get(name);
  return typeof value === 'string' ? (parseGoDuration(value) ?? preset) : preset;
}

function mapOf(given: ReadonlyMap<string, unknown>, name: string): Record<string, string> {
  return (given.get(name) ?? {}) as Record<string, string>;
}

function kubeletFlags(given: ReadonlyMap<string, unknown>): KubeletFlags {
  const path = (name: string, preset = '') => {
    const text = textOf(given, name) || preset;
    return text === '' ? '' : resolve(text);
  };
  return {
    configFile: path('config'),
    configDir: path('config-dir'),
    rootDir: path('root-dir', '/var/lib/kubelet'),
    certDir: path('cert-dir', '/var/lib/kubelet/pki'),
    kubeconfig: path('kubeconfig'),
    bootstrapKubeconfig: path('bootstrap-kubeconfig'),
    hostnameOverride: textOf(given, 'hostname-override'),
    nodeIPs: nodeIPsOf(textOf(given, 'node-ip')),
    nodeLabels: mapOf(given, 'node-labels'),
    cloudProvider: textOf(given, 'cloud-provider'),
    runtimeCgroups: textOf(given, 'runtime-cgroups'),
    imageCredentialProviderConfig: path('image-credential-provider-config'),
    imageCredentialProviderBinDir: path('image-credential-provider-bin-dir'),
    lockFile: path('lock-file'),
    exitOnLockContention: given.get('exit-on-lock-contention') === true,
    minimumContainerTtlDuration: msOf(given, 'minimum-container-ttl-duration', 0),
    maximumDeadContainers: numberOf(given, 'maximum-dead-containers', -1),
    maximumDeadContainersPerContainer: numberOf(given, 'maximum-dead-containers-per-container', 1),
    experimentalMounterPath: path('experimental-mounter-path'),
    experimentalAllocatableIgnoreEviction: given.get('experimental-allocatable-ignore-eviction') === true,
  };
}

/** `--inspect=true` and `=false` mean what they say, as with a flag that is only on or off. */
function inspectOf(given: ReadonlyMap<string, unknown>): InspectorAddress | null {
  const text = textOf(given, 'inspect');
  if (!given.has('inspect') || text === 'false') return null;
  return inspectorAddress(text === 'true' ? '' : text);
}

function ownSettings(given: ReadonlyMap<string, unknown>): ActorletSettings {
  const rootDir = resolve(textOf(given, 'root-dir') || '/var/lib/kubelet');
  const preset = defaultSettings(rootDir);
  const journalDir = textOf(given, 'journal-dir');
  const mode = textOf(given, 'private-containerd');
  const devicePluginsDir = textOf(given, 'device-plugins-dir');
  return {
    shards: numberOf(given, 'shards', preset.shards),
    journalDir:
      given.get('journal') === false ? null : journalDir === '' ? join(rootDir, 'journal') : resolve(journalDir),
    journalMaxBytes: numberOf(given, 'journal-max-bytes', preset.journalMaxBytes),
    inspect: inspectOf(given),
    privateContainerd: mode === 'always' || mode === 'never' ? mode : 'auto',
    stopPrivateContainerd: given.get('stop-private-containerd') === true,
    devicePluginsDir: devicePluginsDir === '' ? preset.devicePluginsDir : resolve(devicePluginsDir),
    waitForPluginsMs: msOf(given, 'wait-for-plugins', preset.waitForPluginsMs),
  };
}
