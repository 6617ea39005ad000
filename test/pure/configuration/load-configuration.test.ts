import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { ConfigurationInvalid } from '../../../actors/configure/configuration/problems.ts';
import { HEAD, withFolder, writeConfig } from './reference-data.ts';

const cgroupVersion = 2 as const;

function errorsOf(load: () => unknown): string[] {
  try {
    load();
  } catch (error) {
    assert.ok(error instanceof ConfigurationInvalid, String(error));
    return error.errors.map((one) => one.message);
  }
  return [];
}

test('all errors come at once, each with file, path, what was found and what is accepted', () => {
  withFolder((folder) => {
    const configFile = writeConfig(
      folder,
      'config.yaml',
      'staticPodPth: /x\nsyncFrequency: soon\nmaxPods: -1\nauthentication: {webhook: {cacheTLL: 1s}}\nhairpinMode: x\n',
    );
    const errors = errorsOf(() => loadConfiguration({ configFile, cgroupVersion }));
    assert.equal(errors.length, 3, errors.join('\n'));
    assert.ok(errors.every((error) => error.includes(configFile)));
    const all = errors.join('\n');
    assert.match(all, /syncFrequency: got "soon"; accepted: a duration/);
    assert.match(all, /maxPods: got -1; accepted: 0 or more/);
    assert.match(all, /hairpinMode: got "x"; accepted: one of "promiscuous-bridge"/);
  });
});

test('what is measured as the system cannot be the root cgroup', () => {
  withFolder((folder) => {
    const at = (systemCgroups: string) =>
      writeConfig(folder, 'config.yaml', `cgroupRoot: /\nsystemCgroups: ${systemCgroups}\n`);
    const errors = errorsOf(() => loadConfiguration({ configFile: at('/'), cgroupVersion }));
    assert.match(errors.join('\n'), /systemCgroups: got "?\/"?; accepted: any cgroup but the root/);
    assert.deepEqual(
      errorsOf(() => loadConfiguration({ configFile: at('/system'), cgroupVersion })),
      [],
    );
  });
});

test('JSON is read like YAML', () => {
  withFolder((folder) => {
    const configFile = join(folder, 'config.json');
    writeFileSync(
      configFile,
      JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods: 7 }),
    );
    assert.equal(loadConfiguration({ configFile, cgroupVersion }).config.maxPods, 7);
  });
});

test('of several documents the first one counts, in drop-ins too, and what begins as JSON is nothing else', () => {
  withFolder((folder) => {
    const configDir = join(folder, 'd');
    mkdirSync(configDir);
    const more = '---\nmaxPods: 8\nunknown: [\n';
    const configFile = writeConfig(folder, 'config.yaml', `maxPods: 7\n${more}`);
    writeConfig(configDir, '1.conf', `podsPerCore: 2\n${more}`);
    const { config, warnings } = loadConfiguration({ configFile, configDir, cgroupVersion });
    assert.deepEqual([config.maxPods, config.podsPerCore], [7, 2]);
    assert.ok(warnings.every((warning) => !warning.includes('strict')));
    const json = JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' });
    for (const text of [`${json}\n---\n{}`, json.replaceAll('"', ''), `${json},`]) {
      writeFileSync(configFile, text);
      assert.match(errorsOf(() => loadConfiguration({ configFile, cgroupVersion })).join('\n'), /CFG002|neither YAML/);
    }
  });
});

test('booleans and octal numbers are those of YAML 1.1, as kubelet reads them, in drop-ins too', () => {
  withFolder((folder) => {
    const configFile = writeConfig(folder, 'config.yaml', 'failSwapOn: no\nprotectKernelDefaults: on\nmaxPods: 0144\n');
    const configDir = join(folder, 'd');
    mkdirSync(configDir);
    writeConfig(configDir, '1.conf', 'enableServer: off\n');
    const { config } = loadConfiguration({ configFile, configDir, cgroupVersion });
    assert.deepEqual(
      [config.failSwapOn, config.protectKernelDefaults, config.maxPods, config.enableServer],
      [false, true, 100, false],
    );
  });
});

test('hard thresholds have defaults where a file sets none; set to nothing there are none', () => {
  withFolder((folder) => {
    const thresholds = (text: string, dropIn?: string) => {
      const configFile = writeConfig(folder, 'config.yaml', text);
      const configDir = join(folder, 'd');
      mkdirSync(configDir, { recursive: true });
      writeConfig(configDir, '1.conf', dropIn ?? '');
      const { config } = loadConfiguration({ configFile, ...(dropIn !== undefined && { configDir }), cgroupVersion });
      return Object.keys(config.evictionHard).length;
    };
    assert.equal(thresholds(''), 5);
    assert.equal(thresholds('evictionHard: null\n'), 5);
    assert.equal(thresholds('evictionHard: {}\n'), 0);
    assert.equal(thresholds('evictionHard: {}\nmergeDefaultEvictionSettings: true\n'), 5);
    assert.equal(thresholds('evictionHard: {}\n', 'maxPods: 5\n'), 0, 'drop-ins bring no defaults');
    assert.equal(thresholds('evictionHard: {}\n', 'evictionHard: {pid.available: 5%}\n'), 1);
    assert.equal(thresholds('', 'evictionHard: {}\n'), 5, 'and take nothing away by it');
  });
});

test('with a file the read-only port is closed, without one it is open', () => {
  withFolder((folder) => {
    const configFile = writeConfig(folder, 'config.yaml', '');
    assert.equal(loadConfiguration({ configFile, cgroupVersion }).config.readOnlyPort, 0);
    mkdirSync(join(folder, 'd'));
    assert.equal(loadConfiguration({ configDir: join(folder, 'd'), cgroupVersion }).config.readOnlyPort, 10255);
  });
});

test('drop-ins are merged in lexical order, through folders, only *.conf', () => {
  withFolder((folder) => {
    const configFile = writeConfig(
      folder,
      'config.yaml',
      'maxPods: 1\nevictionHard: {memory.available: 1Gi}\nclusterDNS: [10.0.0.1, 10.0.0.2]\nport: 1111\n',
    );
    const dir = join(folder, 'conf.d');
    mkdirSync(join(dir, '15-more'), { recursive: true });
    writeConfig(dir, '20.conf', 'maxPods: 20\nevictionHard: {nodefs.available: 5%}\n');
    writeConfig(dir, '10.conf', 'maxPods: 10\nclusterDNS: [10.0.0.3]\nport: null\n');
    writeConfig(join(dir, '15-more'), 'a.conf', 'podsPerCore: 15\nmaxPods: 15\n');
    writeConfig(dir, '30.yaml', 'maxPods: 30\n');
    const { config, origins } = loadConfiguration({ configFile, configDir: dir, cgroupVersion });
    assert.equal(config.maxPods, 20);
    assert.equal(config.podsPerCore, 15);
    assert.deepEqual(config.clusterDNS, ['10.0.0.3']);
    assert.deepEqual(config.evictionHard, { 'memory.available': '1Gi', 'nodefs.available': '5%' });
    assert.equal(config.port, 10250, 'null in a drop-in brings the default back');
    assert.equal(origins.of('maxPods'), join(dir, '20.conf'));
  });
});

test('a drop-in may be called no more than .conf', () => {
  withFolder((folder) => {
    writeConfig(folder, '.conf', 'maxPods: 7\n');
    writeConfig(folder, '.conf.bak', 'maxPods: 8\n');
    assert.equal(loadConfiguration({ configDir: folder, cgroupVersion }).config.maxPods, 7);
  });
});

test('an empty list of the file is the default again where there is a folder of drop-ins, one of a drop-in stands', () => {
  withFolder((folder) => {
    const configFile = writeConfig(folder, 'config.yaml', 'enforceNodeAllocatable: []\n');
    const configDir = join(folder, 'd');
    mkdirSync(configDir);
    const enforced = (dir?: string) =>
      loadConfiguration({ configFile, configDir: dir, cgroupVersion }).config.enforceNodeAllocatable;
    assert.deepEqual(enforced(), []);
    assert.deepEqual(enforced(configDir), ['pods']);
    writeConfig(configDir, 'a.conf', 'enforceNodeAllocatable: []\n');
    assert.deepEqual(enforced(configDir), []);
  });
});

test('the size of logs is a whole number as kubelet keeps it', () => {
  withFolder((folder) => {
    const at = (size: string) => ({
      configFile: writeConfig(folder, 'config.yaml', `containerLogMaxSize: "${size}"\n`),
      cgroupVersion,
    });
    for (const good of ['10Mi', '-1', '1.5k', '1e6', '1.5e3', '0', '1.Mi'])
      assert.equal(loadConfiguration(at(good)).config.containerLogMaxSize, good);
    for (const bad of ['1.5Mi', '100m', '1000m', '1.0', '1.5', '1e-3', '1.2345k', 'x'])
      assert.match(errorsOf(() => loadConfiguration(at(bad))).join(), /containerLogMaxSize.*without a fraction/, bad);
  });
});

test('a value that is zero for another kind of field is no reason for the default', () => {
  withFolder((folder) => {
    const at = (text: string) => ({ configFile: writeConfig(folder, 'config.yaml', text), cgroupVersion });
    const { config } = loadConfiguration(
      at('containerLogMaxSize: "0"\nsyncFrequency: 0m\nmaxPods: 0\nvolumePluginDir: 0s\n'),
    );
    assert.equal(config.containerLogMaxSize, '0', 'logs are rotated at each look');
    assert.equal(config.syncFrequency, 60_000);
    assert.equal(config.maxPods, 110);
    assert.equal(config.volumePluginDir, join(folder, '0s'));
    for (const bad of ['port: "0"', 'syncFrequency: 0', 'syncFrequency: ""', 'hairpinMode: "0"'])
      assert.equal(errorsOf(() => loadConfiguration(at(`${bad}\n`))).length, 1, bad);
  });
});

test('a bad drop-in is named', () => {
  withFolder((folder) => {
    writeFileSync(join(folder, 'a.conf'), 'maxPods: 3\n');
    writeConfig(folder, 'b.conf', 'maxPods: x\n');
    writeConfig(folder, 'c.conf', 'maxPods: 1\nmaxPods: 2\n');
    const errors = errorsOf(() => loadConfiguration({ configDir: folder, cgroupVersion }));
    assert.equal(errors.length, 3, errors.join('\n'));
    assert.match(errors[0] ?? '', /^CFG004: .*a\.conf: got apiVersion nothing/);
    assert.match(errors[1] ?? '', /^CFG006: .*b\.conf: maxPods: got "x"/);
    assert.match(errors[2] ?? '', /^CFG002: .*c\.conf .*line 4: key "maxPods" already set in map/);
  });
});

/** What strict decoding does not take, as the kubelet v1.35.4 said it of the same text. */
const LENIENT = 'Using lenient decoding as strict decoding failed: ';

test('unknown fields and keys that are there twice are warned of and left out, in drop-ins unknown fields', () => {
  withFolder((folder) => {
    const configFile = writeConfig(
      folder,
      'config.yaml',
      'foo: 1\nmaxpods: 3\nauthentication: {webhook: {cacheTLL: 1s}}\nport: 1\n"port": 1234\nsyncFrequency: 2m\n',
    );
    const { config, warnings, origins } = loadConfiguration({ configFile, cgroupVersion });
    assert.deepEqual(warnings, [
      `${LENIENT}${configFile}: line 7: key "port" already set in map`,
      `${LENIENT}${configFile}: unknown field "authentication.webhook.cacheTLL". Did you mean cacheTTL?`,
      `${LENIENT}${configFile}: unknown field "foo".`,
      `${LENIENT}${configFile}: unknown field "maxpods". Did you mean maxPods?`,
    ]);
    assert.deepEqual([config.port, config.maxPods, config.syncFrequency], [1234, 110, 120_000]);
    assert.equal(origins.of('foo'), 'defaults');

    const configDir = join(folder, 'd');
    mkdirSync(configDir);
    const dropIn = writeConfig(configDir, '1.conf', 'maxPodz: 3\nmaxPods: 4\n');
    const merged = loadConfiguration({ configDir, cgroupVersion });
    assert.equal(merged.config.maxPods, 4);
    assert.deepEqual(merged.warnings, [`${LENIENT}${dropIn}: unknown field "maxPodz". Did you mean maxPods?`]);
  });
});

test('a value of a key that is there twice must be right where it counts', () => {
  withFolder((folder) => {
    const first = writeConfig(folder, 'a.yaml', 'maxPods: many\nmaxPods: 3\n');
    assert.equal(loadConfiguration({ configFile: first, cgroupVersion }).config.maxPods, 3);
    const last = writeConfig(folder, 'b.yaml', 'maxPods: 3\nmaxPods: many\n');
    assert.match(
      errorsOf(() => loadConfiguration({ configFile: last, cgroupVersion }))[0] ?? '',
      /maxPods: got "many"/,
    );
  });
});

test('a field that a program sets must exist', () => {
  const flags = [{ flag: 'configuration.maxPodz', path: 'maxPodz', value: 3 }];
  assert.match(
    errorsOf(() => loadConfiguration({ flags, cgroupVersion }))[0] ?? '',
    /^CFG005: flag configuration\.maxPodz: unknown field maxPodz\. Did you mean maxPods\?/,
  );
});

test('flags beat the file, keep zero values, and are named in errors', () => {
  withFolder((folder) => {
    const configFile = writeConfig(
      folder,
      'config.yaml',
      'maxPods: 5\nreadOnlyPort: 10255\nsystemReserved: {cpu: 1, memory: 1Gi}\n'.replace('cpu: 1', 'cpu: "1"'),
    );
    const flags = [
      { flag: '--max-pods', path: 'maxPods', value: 0 },
      { flag: '--sync-frequency', path: 'syncFrequency', value: '2m' },
      { flag: '--anonymous-auth', path: 'authentication.anonymous.enabled', value: true },
      { flag: '--system-reserved', path: 'systemReserved', value: { cpu: '2' } },
    ];
    const { config } = loadConfiguration({ configFile, flags, cgroupVersion });
    assert.equal(config.maxPods, 0);
    assert.equal(config.syncFrequency, 120_000);
    assert.equal(config.readOnlyPort, 10255);
    assert.equal(config.authentication.anonymous.enabled, true);
    assert.equal(config.authentication.webhook.enabled, true);
    assert.deepEqual(config.systemReserved, { cpu: '2' }, 'a map of a flag replaces that of the file');

    const bad = [{ flag: '--port', path: 'port', value: 0 }];
    assert.deepEqual(
      errorsOf(() => loadConfiguration({ configFile, flags: bad, cgroupVersion })),
      ['CFG006: flag --port: port: got 0; accepted: 1 to 65535. Correct the value.'],
    );
  });
});

test('feature gates of the flag are added to those of the file', () => {
  withFolder((folder) => {
    const configFile = writeConfig(folder, 'config.yaml', 'featureGates: {NodeLogQuery: false, QOSReserved: true}\n');
    const flags = [{ flag: '--feature-gates', path: 'featureGates', value: { NodeLogQuery: true } }];
    const { gates } = loadConfiguration({ configFile, flags, cgroupVersion });
    assert.equal(gates.enabled('NodeLogQuery'), true);
    assert.equal(gates.enabled('QOSReserved'), true);
  });
});

test('relative paths: of the file below its folder, of flags below the working folder', () => {
  withFolder((folder) => {
    const configFile = writeConfig(folder, 'config.yaml', 'staticPodPath: pods\npodLogsDir: logs\nresolvConf: ""\n');
    const { config } = loadConfiguration({ configFile, cgroupVersion });
    assert.equal(config.staticPodPath, join(folder, 'pods'));
    assert.equal(config.podLogsDir, join(folder, 'logs'));
    assert.equal(config.resolvConf, '');
    const flags = [{ flag: '--pod-manifest-path', path: 'staticPodPath', value: 'pods' }];
    assert.equal(
      loadConfiguration({ configFile, flags, cgroupVersion }).config.staticPodPath,
      join(process.cwd(), 'pods'),
    );
  });
});

test('a machine with cgroup v1 is refused in kubelet’s words unless failCgroupV1 is false', () => {
  const errors = errorsOf(() => loadConfiguration({ cgroupVersion: 1 }));
  assert.equal(errors.length, 1);
  assert.match(errors[0] ?? '', /kubelet is configured to not run on a host using cgroup v1\./);
  const flags = [{ flag: '--fail-cgroupv1', path: 'failCgroupV1', value: false }];
  assert.match(loadConfiguration({ flags, cgroupVersion: 1 }).warnings.join(), /cgroup v1 detected/);
  assert.deepEqual(loadConfiguration({ cgroupVersion: 2 }).warnings, []);
});

test('a file that is missing, empty or no YAML gives one error and nothing that misleads', () => {
  withFolder((folder) => {
    const path = join(folder, 'config.yaml');
    const load = () => loadConfiguration({ configFile: path, cgroupVersion: 1 });
    assert.match(errorsOf(load).join('\n'), /^CFG001: cannot read .*ENOENT[^\n]*$/);
    writeFileSync(path, '\n');
    assert.match(errorsOf(load).join('\n'), /^CFG003: [^\n]*is empty[^\n]*$/);
    writeFileSync(path, `${HEAD}maxPods: [1\n`);
    assert.match(errorsOf(load).join('\n'), /^CFG002: [^\n]*line 4[^\n]*$/);
    writeFileSync(path, `${HEAD}--- \na: 1\n`);
    assert.equal(errorsOf(load).length, 1);
    assert.match(
      errorsOf(() => loadConfiguration({ configDir: join(folder, 'none'), cgroupVersion })).join('\n'),
      /^CFG011: /,
    );
  });
});

test('values of HTTP headers are never shown', () => {
  withFolder((folder) => {
    const configFile = writeConfig(folder, 'config.yaml', 'staticPodURLHeader: {Authorization: "Bearer s3cret"}\n');
    const [error = ''] = errorsOf(() => loadConfiguration({ configFile, cgroupVersion }));
    assert.match(error, /staticPodURLHeader\.Authorization: got <masked>/);
    assert.doesNotMatch(error, /s3cret/);
  });
});

test('what kubelet refuses only while it starts is refused here too', () => {
  withFolder((folder) => {
    const configFile = writeConfig(
      folder,
      'config.yaml',
      'cpuManagerPolicy: dynamic\ntlsMinVersion: TLS9\nkubeReserved: {gpu: "1"}\nevictionHard: {disk: 1Gi}\nevictionSoft: {pid.available: 5%}\nsystemReserved: {cpu: "-1"}\n',
    );
    const errors = errorsOf(() => loadConfiguration({ configFile, cgroupVersion }));
    for (const path of [
      'cpuManagerPolicy',
      'tlsMinVersion',
      'kubeReserved.gpu',
      'evictionHard.disk',
      'systemReserved.cpu',
    ]) {
      assert.ok(
        errors.some((error) => error.includes(` ${path}: got`)),
        path,
      );
    }
    assert.ok(errors.some((error) => error.includes('evictionSoftGracePeriod.pid.available: got nothing')));
  });
});

test('unsafe sysctls are allowed only where a namespace of the pod has them', () => {
  withFolder((folder) => {
    const errorsFor = (...names: string[]) => {
      const configFile = writeConfig(folder, 'config.yaml', `allowedUnsafeSysctls: ${JSON.stringify(names)}\n`);
      return errorsOf(() => loadConfiguration({ configFile, cgroupVersion }));
    };
    const namespaced = ['kernel.shm*', 'kernel.sem', 'net.core.somaxconn', 'net/ipv4/conf/eno2.100/rp_filter', 'net.*'];
    assert.deepEqual(errorsFor(...namespaced, 'fs.mqueue.*'), []);
    for (const bad of ['vm.swappiness', 'kernel.*', '*', 'net*', 'kernel/pid_max']) {
      const [error = ''] = errorsFor('net.*', bad);
      assert.match(error, /allowedUnsafeSysctls\[1\]: got .*the sysctls ".*" are not known to be namespaced/, bad);
    }
    assert.match(errorsFor('Net.ipv4*x')[0] ?? '', /allowedUnsafeSysctls\[0\]: .*at most 253 characters/);
  });
});

test('swap is limited with cgroup v2 only', () => {
  withFolder((folder) => {
    const text = 'failCgroupV1: false\nmemorySwap: {swapBehavior: LimitedSwap}\n';
    const configFile = writeConfig(folder, 'config.yaml', text);
    const errors = errorsOf(() => loadConfiguration({ configFile, cgroupVersion: 1 }));
    assert.match(errors.join('\n'), /^CFG006: [^\n]*memorySwap\.swapBehavior: got "LimitedSwap"[^\n]*cgroup v1[^\n]*$/);
    assert.deepEqual(
      errorsOf(() => loadConfiguration({ configFile, cgroupVersion: 2 })),
      [],
    );
  });
});

test('logging.flushFrequency may be nanoseconds', () => {
  withFolder((folder) => {
    const configFile = writeConfig(folder, 'config.yaml', 'logging: {flushFrequency: 2000000000}\n');
    assert.equal(loadConfiguration({ configFile, cgroupVersion }).config.logging.flushFrequency, 2000);
  });
});
