import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { Command } from 'commander';
import { defaultShards } from '../../../actors/configure/configuration/actorlet-settings.ts';
import { ConfigurationInvalid } from '../../../actors/configure/configuration/problems.ts';
import { ALL_FLAGS } from '../../../bin/flags/all-flags.ts';
import { actorletFlags } from '../../../bin/flags/actorlet-flags.ts';
import { type DaemonOptions, daemonFlags, readDaemonOptions } from '../../../bin/flags/daemon-options.ts';
import { DEPRECATIONS } from '../../../bin/flags/flag-spec.ts';
import { goArguments } from '../../../bin/flags/go-arguments.ts';
import { referenceData } from './reference-data.ts';

interface ReferenceFlag {
  name: string;
  type: string;
  default: string;
  deprecated: string;
}

function parse(...argv: string[]): DaemonOptions {
  const command = new Command('actorlet').exitOverride().configureOutput({ writeErr: () => undefined });
  daemonFlags(command);
  command.action(() => undefined);
  command.parse(argv, { from: 'user' });
  return readDaemonOptions(command);
}

function field(options: DaemonOptions, path: string): unknown {
  return options.configuration.find((flag) => flag.path === path)?.value;
}

function errorsOf(...argv: string[]): string {
  try {
    parse(...argv);
  } catch (error) {
    assert.ok(error instanceof Error);
    return error.message;
  }
  return '';
}

test('every flag of kubelet is there, with its default and its deprecation', () => {
  const reference = (referenceData('flags') as ReferenceFlag[]).filter((flag) => flag.name !== 'version');
  const kubelets = ALL_FLAGS.filter((flag) => !actorletFlags.includes(flag));
  assert.deepEqual(kubelets.map((flag) => flag.name).sort(), reference.map((flag) => flag.name).sort());
  for (const flag of reference) {
    const own = kubelets.find((one) => one.name === flag.name);
    assert.equal(own?.preset ?? '', flag.default.replace(/^\[|\]$/g, ''), flag.name);
    assert.equal(own?.deprecated === undefined ? '' : DEPRECATIONS[own.deprecated], flag.deprecated, flag.name);
    assert.equal(own?.kind === 'bool', flag.type === 'bool', flag.name);
  }
});

test('every default can be read as a value', () => {
  for (const { name, preset, kind } of ALL_FLAGS) {
    if (preset !== undefined && name !== 'journal-dir') {
      assert.doesNotThrow(() => parse(`--${name}=${preset}`), `${name} (${kind})`);
    }
  }
});

test('Go-style arguments', () => {
  const { args, errors } = goArguments([
    '--fail-swap-on',
    '--enable-server=false',
    '--root-dir',
    '--odd',
    '--pod_manifest_path=/x',
    '-v',
    '4',
    '--no-journal',
    'replay',
    '--fail-swap-on',
  ]);
  assert.deepEqual(errors, []);
  assert.deepEqual(args, [
    '--fail-swap-on=true',
    '--enable-server=false',
    '--root-dir=--odd',
    '--pod-manifest-path=/x',
    '--v=4',
    '--journal=false',
    'replay',
    '--fail-swap-on',
  ]);
});

test('booleans, lists, maps, thresholds, taints, memory, headers', () => {
  const options = parse(
    '--fail-swap-on=False',
    '--cluster-dns=10.0.0.1',
    '--cluster-dns=10.0.0.2,10.0.0.3',
    '--node-labels=a=b,c=d',
    '--node-labels',
    'e',
    '--eviction-hard=memory.available<1Gi,nodefs.available<5%',
    '--system-reserved=cpu=100m,memory=1Gi',
    '--feature-gates=EventedPLEG=true,AllBeta=false',
    '--register-with-taints=x=y:NoSchedule,z:NoExecute',
    '--reserved-memory=0:memory=1Gi,hugepages-1Gi=2Gi',
    '--reserved-memory=1:memory=2Gi',
    '--manifest-url-header=a:b,c:d:e',
    '--manifest-url-header=a:f',
    '--cluster-domain=',
  );
  assert.equal(field(options, 'failSwapOn'), false);
  assert.deepEqual(field(options, 'clusterDNS'), ['10.0.0.1', '10.0.0.2', '10.0.0.3']);
  assert.deepEqual(options.kubelet.nodeLabels, { a: 'b', c: 'd', e: '' });
  assert.deepEqual(field(options, 'evictionHard'), { 'memory.available': '1Gi', 'nodefs.available': '5%' });
  assert.deepEqual(field(options, 'systemReserved'), { cpu: '100m', memory: '1Gi' });
  assert.deepEqual(field(options, 'featureGates'), { EventedPLEG: true, AllBeta: false });
  assert.deepEqual(field(options, 'registerWithTaints'), [
    { key: 'x', value: 'y', effect: 'NoSchedule' },
    { key: 'z', value: '', effect: 'NoExecute' },
  ]);
  assert.deepEqual(field(options, 'reservedMemory'), [
    { numaNode: 0, limits: { memory: '1Gi', 'hugepages-1Gi': '2Gi' } },
    { numaNode: 1, limits: { memory: '2Gi' } },
  ]);
  assert.deepEqual(field(options, 'staticPodURLHeader'), { a: ['b', 'f'], c: ['d:e'] });
  assert.equal(field(options, 'clusterDomain'), '');
});

test('own settings', () => {
  assert.deepEqual([1, 2, 3, 5, 64].map(defaultShards), [1, 1, 2, 4, 4]);
  assert.deepEqual(parse('--root-dir=/r').settings, {
    shards: defaultShards(availableParallelism()),
    journalDir: '/r/journal',
    journalMaxBytes: 268_435_456,
    inspect: null,
    privateContainerd: 'auto',
    stopPrivateContainerd: false,
    devicePluginsDir: '/var/lib/kubelet/device-plugins',
    waitForPluginsMs: 0,
  });
  const { settings } = parse('--shards=4', '--no-journal', '--private-containerd=never', '--stop-private-containerd');
  assert.deepEqual([settings.shards, settings.journalDir], [4, null]);
  assert.deepEqual([settings.privateContainerd, settings.stopPrivateContainerd], ['never', true]);
});

test('deprecated flags work and say so in kubelet’s words', () => {
  const options = parse('--max-pods=3', '--root-dir=/r', '--kubeconfig=/k', '--experimental-mounter-path=/m');
  assert.deepEqual(options.warnings, [
    "Flag --max-pods has been deprecated, This parameter should be set via the config file specified by the Kubelet's --config flag. See https://kubernetes.io/docs/tasks/administer-cluster/kubelet-config-file/ for more information.",
    'Flag --experimental-mounter-path has been deprecated, will be removed in 1.25 or later. in favor of using CSI.',
  ]);
  assert.equal(options.kubelet.experimentalMounterPath, '/m');
});

test('--seccomp-default only switches on', () => {
  assert.equal(field(parse('--seccomp-default'), 'seccompDefault'), true);
  assert.equal(field(parse('--seccomp-default=false'), 'seccompDefault'), undefined);
});

test('unknown flags, all at once, with a suggestion', () => {
  const message = errorsOf('--confg', 'x', '--foo=1', '-config=y', '--port');
  assert.match(message, /unknown flag --confg\. Did you mean --config\?/);
  assert.match(message, /unknown flag --foo\. See/);
  assert.match(message, /unknown flag -config\. Did you mean --config\?/);
  assert.match(message, /flag --port needs a value: a whole number/);
});

test('bad values, all at once', () => {
  const message = errorsOf(
    '--port=x',
    '--fail-swap-on=maybe',
    '--sync-frequency=5',
    '--address=host',
    '--node-ip=1.2.3.4,5.6.7.8',
    '--shards=0',
    '--private-containerd=yes',
    '--node-labels=kubernetes.io/role=x',
    '--feature-gates=A',
    '--register-with-taints=a=b:Never',
  );
  const lines = message.split('\n');
  assert.equal(lines.length, 10, message);
  for (const name of ['port', 'fail-swap-on', 'sync-frequency', 'address', 'node-ip', 'shards', 'private-containerd']) {
    assert.ok(
      lines.some((line) => line.startsWith(`CFG021: flag --${name}: got `)),
      name,
    );
  }
  assert.match(message, /CFG024: flag --node-labels: label 'kubernetes\.io\/role=x'/);
});

test('--node-ip is taken in the form in which the machine tells its addresses; of two neither is unspecified', () => {
  const nodeIPs = (given: string) => parse(`--node-ip=${given}`).kubelet.nodeIPs;
  assert.deepEqual(nodeIPs('010.0.0.1, 2001:DB8:0:0:0:0:0:1'), ['10.0.0.1', '2001:db8::1']);
  assert.deepEqual(nodeIPs('0:0::0'), ['::']);
  for (const pair of ['0.0.0.0,::', '10.0.0.1,::', '0.0.0.0,fd00::1'])
    assert.match(errorsOf(`--node-ip=${pair}`), /^CFG021: flag --node-ip/, pair);
});

test('labels of kubernetes.io that a node may give itself', () => {
  assert.doesNotThrow(() =>
    parse('--node-labels=kubernetes.io/arch=amd64,node.kubernetes.io/x=y,a.kubelet.kubernetes.io/x=y,x.io/y=z'),
  );
  assert.throws(() => parse('--node-labels=a.k8s.io/x=y'), ConfigurationInvalid);
});

test('an argument is an error: booleans need =', () => {
  assert.match(errorsOf('--fail-swap-on', 'false'), /^CFG023: unexpected argument false/);
});

test('a password on the command line is not shown', () => {
  assert.doesNotMatch(errorsOf('--manifest-url-header=s3cret'), /s3cret/);
});

/** Values of flags that do not take any text. */
const ANOTHER: Readonly<Record<string, string>> = {
  'node-ip': '10.1.2.3',
  'cloud-provider': 'external',
  inspect: '127.0.0.1:1',
  'private-containerd': 'never',
};

test('each flag that is no field of the configuration changes what the command line says', () => {
  const says = (...argv: string[]) => {
    const { kubelet, settings } = parse('--root-dir=/r', ...argv);
    return JSON.stringify({ kubelet, settings });
  };
  const other: Partial<Record<string, string>> = { int: '7', duration: '7s', map: 'a=b', taints: 'a=b:NoSchedule' };
  for (const { name, kind, preset, field, moot } of ALL_FLAGS) {
    if (field !== undefined || moot !== undefined) continue;
    const value = ANOTHER[name] ?? other[kind] ?? (kind === 'bool' ? String(preset !== 'true') : '/another');
    const all = name === 'journal-max-bytes' ? '7000000' : value;
    assert.notEqual(says(`--${name}=${all}`), says(), `--${name}=${all}`);
  }
});

test('durations that are no field: their bounds', () => {
  assert.equal(parse('--wait-for-plugins=1m30s').settings.waitForPluginsMs, 90_000);
  assert.equal(parse('--minimum-container-ttl-duration=1m').kubelet.minimumContainerTtlDuration, 60_000);
  assert.match(errorsOf('--wait-for-plugins=6m'), /--wait-for-plugins.*0s to 5m/s);
  assert.match(errorsOf('--minimum-container-ttl-duration=-1s'), /--minimum-container-ttl-duration.*0s or more/s);
});

test('whole numbers are read as Go reads them, but klog its verbosity', () => {
  for (const [text, value] of [
    ['010', 8],
    ['0x1F', 31],
    ['0b11', 3],
    ['0o17', 15],
    ['1_000', 1000],
    ['0_7', 7],
    ['+3', 3],
    ['-0x2', -2],
    ['0', 0],
  ] as const)
    assert.equal(field(parse(`--max-pods=${text}`), 'maxPods'), value, text);
  for (const bad of ['08', '1__0', '_1', '1_', '0x', '0xg', '1e3', '1.0', '', ' 1', '0b2', '--1'])
    assert.match(errorsOf(`--max-pods=${bad}`), /--max-pods: got .*; accepted: a whole number/, bad);
  assert.equal(field(parse('--v=010'), 'logging.verbosity'), 10);
  assert.match(errorsOf('--v=0x4'), /accepted: a whole number/);
});
