import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseManifest } from '../../../actors/pods/sources/parse-manifest.ts';
import { defaultPod } from '../../../machines/pod-defaults/default-pod.ts';
import { isIp } from '../../../machines/pod-validation/names.ts';
import type { ValidationGates } from '../../../machines/pod-validation/environment.ts';
import { problemText } from '../../../machines/pod-validation/problem.ts';
import { validatePod } from '../../../machines/pod-validation/validate-pod.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';

type Spec = NonNullable<Pod['spec']>;
type Container = Spec['containers'][number];

const problemsOf = (spec: Partial<Spec>, metadata: Pod['metadata'] = { name: 'web', namespace: 'default' }): string[] =>
  validatePod(defaultPod({ metadata, spec: { containers: [{ name: 'a', image: 'x:1' }], ...spec } })).map(problemText);
const container = (given: Partial<Container>): string[] =>
  problemsOf({ containers: [{ name: 'a', image: 'x:1', ...given }], volumes: [{ name: 'v' }] });
const at = (field: string, problem: string): string[] => [`${field}: ${problem}`];
const C = 'spec.containers[0]';

test('a good pod has no problems', () => {
  assert.deepEqual(problemsOf({}), []);
  assert.deepEqual(
    container({
      ports: [{ containerPort: 80, name: 'http' }],
      env: [
        { name: 'A', value: 'b' },
        { name: 'N', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
      ],
      volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 'a/b' }],
      resources: { limits: { cpu: '1', memory: '64Mi', 'example.com/gpu': '1' } },
      livenessProbe: { exec: { command: ['true'] } },
      lifecycle: { preStop: { sleep: { seconds: 5 } } },
    }),
    [],
  );
});

test('the API server says it in these words', () => {
  const upper = container({ name: 'Web' });
  assert.equal(
    upper[0],
    `${C}.name: Invalid value: "Web": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
  );
  assert.deepEqual(container({ image: '' }), at(`${C}.image`, 'Required value'));
  assert.deepEqual(
    problemsOf({ restartPolicy: 'Sometimes' }),
    at('spec.restartPolicy', 'Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'),
  );
  assert.deepEqual(problemsOf({ containers: [] }), at('spec.containers', 'Required value'));
});

test('all problems at once', () => {
  const found = problemsOf(
    {
      containers: [
        { name: '', image: '' },
        { name: 'b', image: 'x', imagePullPolicy: 'No' },
      ],
      dnsPolicy: 'Any',
    },
    { name: 'Web' },
  );
  const fields = found.map((text) => text.slice(0, text.indexOf(': ')));
  assert.deepEqual(fields, [
    'metadata.name',
    'metadata.namespace',
    `${C}.name`,
    `${C}.image`,
    'spec.containers[1].imagePullPolicy',
    'spec.dnsPolicy',
  ]);
});

test('a variable from a file (KEP-3721): a key, a path that stays in the volume, and an emptyDir', () => {
  const volumes = [
    { name: 'v', emptyDir: {} },
    { name: 'host', hostPath: { path: '/' } },
  ];
  const problems = (fileKeyRef: object, env: object = {}, where: 'containers' | 'initContainers' = 'containers') => {
    const variable = { name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'f', key: 'K', ...fileKeyRef } } };
    const one = { name: 'a', image: 'x:1', env: [{ ...variable, ...env }] } as Container;
    const found = problemsOf({
      volumes,
      [where]: [one],
      ...(where !== 'containers' && { containers: [{ name: 'b', image: 'x:1' }] }),
    });
    return found.map((text) => text.replace(`spec.${where}[0].env[0].valueFrom`, ''));
  };
  const V = '.fileKeyRef.volumeName: ';
  assert.deepEqual(problems({}), []);
  assert.deepEqual(problems({ path: '/any/./where', key: 'any thing #', optional: true }), []);
  assert.deepEqual(problems({ key: '' }), ['.fileKeyRef.key: Required value']);
  assert.deepEqual(problems({ path: '' }), ['.fileKeyRef.path: Required value']);
  assert.deepEqual(problems({ volumeName: '' }), [`${V}Required value`, `${V}Not found: ""`]);
  assert.match(
    problems({ key: 'a=b' }).join(),
    /^\.fileKeyRef\.key: Invalid value: "a=b": a valid environment variable/,
  );
  assert.deepEqual(problems({ path: 'a/../b' }), [
    '.fileKeyRef.path: Invalid value: "a/../b": must not contain \'..\'',
  ]);
  assert.deepEqual(problems({ volumeName: 'none' }), [`${V}Not found: "none"`]);
  const kind = `${V}Invalid value: "host": referenced volume must be of type emptyDir`;
  assert.deepEqual(problems({ volumeName: 'host' }), [kind]);
  assert.deepEqual(problems({ volumeName: 'host' }, {}, 'initContainers'), [kind]);
  assert.match(problems({}, { value: 'x' }).join(), /may not be specified when `value` is not empty/);
});

test('containers', () => {
  const twice = problemsOf({
    containers: [
      { name: 'a', image: 'x' },
      { name: 'a', image: 'x' },
    ],
  });
  assert.deepEqual(twice, at('spec.containers[1].name', 'Duplicate value: "a"'));
  const rows: [Partial<Container>, string, string][] = [
    [{ ports: [{ containerPort: 0 }] }, 'ports[0].containerPort', 'Required value'],
    [
      { ports: [{ containerPort: 70000 }] },
      'ports[0].containerPort',
      'Invalid value: 70000: must be between 1 and 65535, inclusive',
    ],
    [
      { ports: [{ containerPort: 1, protocol: 'ICMP' }] },
      'ports[0].protocol',
      'Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
    ],
    [{ env: [{ name: '' }] }, 'env[0].name', 'Required value'],
    [
      { env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
      'env[0].valueFrom',
      'Invalid value: "": may not be specified when `value` is not empty',
    ],
    [{ volumeMounts: [{ name: 'nope', mountPath: '/x' }] }, 'volumeMounts[0].name', 'Not found: "nope"'],
    [
      {
        volumeMounts: [
          { name: 'v', mountPath: '/x' },
          { name: 'v', mountPath: '/x' },
        ],
      },
      'volumeMounts[1].mountPath',
      'Invalid value: "/x": must be unique',
    ],
    [
      { volumeMounts: [{ name: 'v', mountPath: '/x', subPath: '../y' }] },
      'volumeMounts[0].subPath',
      'Invalid value: "../y": must not contain \'..\'',
    ],
    [
      { volumeMounts: [{ name: 'v', mountPath: '/x', mountPropagation: 'Bidirectional' }] },
      'volumeMounts[0].mountPropagation',
      'Forbidden: Bidirectional mount propagation is available only to privileged containers',
    ],
    [{ livenessProbe: {} }, 'livenessProbe', 'Required value: must specify a handler type'],
    [
      { livenessProbe: { exec: { command: ['a'] }, tcpSocket: { port: 1 } } },
      'livenessProbe.tcpSocket',
      'Forbidden: may not specify more than 1 handler type',
    ],
    [
      { livenessProbe: { exec: { command: ['a'] }, successThreshold: 2 } },
      'livenessProbe.successThreshold',
      'Invalid value: 2: must be 1',
    ],
    [
      { readinessProbe: { httpGet: { port: 80, scheme: 'FTP' } } },
      'readinessProbe.httpGet.scheme',
      'Unsupported value: "FTP": supported values: "HTTP", "HTTPS"',
    ],
    [{ lifecycle: { postStart: { exec: {} } } }, 'lifecycle.postStart.exec.command', 'Required value'],
    [
      { lifecycle: { preStop: { sleep: { seconds: 31 } } } },
      'lifecycle.preStop.sleep',
      'Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)',
    ],
    [
      { resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } },
      'resources.requests',
      'Invalid value: "2": must be less than or equal to cpu limit of 1',
    ],
    [
      { resources: { limits: { disk: '1' } } },
      'resources.limits[disk]',
      'Invalid value: "disk": must be a standard resource for containers',
    ],
    [
      { securityContext: { runAsUser: -1 } },
      'securityContext.runAsUser',
      'Invalid value: -1: must be between 0 and 2147483647, inclusive',
    ],
    [
      { securityContext: { seccompProfile: { type: 'Localhost' } } },
      'securityContext.seccompProfile.localhostProfile',
      'Required value: must be set when seccomp type is Localhost',
    ],
    [
      { restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] },
      'restartPolicy',
      'Required value: must specify restartPolicy when restart rules are used',
    ],
  ];
  for (const [given, field, problem] of rows)
    assert.ok(container(given).includes(`${C}.${field}: ${problem}`), `${field}: got ${container(given).join(' | ')}`);
});

test('init containers: only sidecars have probes and hooks', () => {
  const probe = { exec: { command: ['true'] } };
  const plain = problemsOf({ initContainers: [{ name: 'i', image: 'x', livenessProbe: probe, lifecycle: {} }] });
  const why = 'Forbidden: may not be set for init containers without restartPolicy=Always';
  assert.deepEqual(plain, [`spec.initContainers[0].lifecycle: ${why}`, `spec.initContainers[0].livenessProbe: ${why}`]);
  assert.deepEqual(
    problemsOf({ initContainers: [{ name: 'i', image: 'x', restartPolicy: 'Always', livenessProbe: probe }] }),
    [],
  );
  assert.deepEqual(
    problemsOf({ initContainers: [{ name: 'a', image: 'x' }] }),
    at('spec.initContainers[0].name', 'Duplicate value: "a"'),
  );
});

test('volumes', () => {
  const rows: [Spec['volumes'], string, string][] = [
    [[{ name: 'a' }, { name: 'a' }], 'spec.volumes[1].name', 'Duplicate value: "a"'],
    [
      [{ name: 'a', emptyDir: {}, hostPath: { path: '/x' } }],
      'spec.volumes[0].hostPath',
      'Forbidden: may not specify more than 1 volume type',
    ],
    [
      [{ name: 'a', emptyDir: { sizeLimit: '-1' } }],
      'spec.volumes[0].emptyDir.sizeLimit',
      'Forbidden: SizeLimit field must be a valid resource quantity',
    ],
    [[{ name: 'a', hostPath: { path: '' } }], 'spec.volumes[0].hostPath.path', 'Required value'],
    [
      [{ name: 'a', hostPath: { path: '/a/../b' } }],
      'spec.volumes[0].hostPath.path',
      'Invalid value: "/a/../b": must not contain \'..\'',
    ],
    [
      [{ name: 'a', configMap: { name: 'c', defaultMode: 0o1777 } }],
      'spec.volumes[0].configMap.defaultMode',
      'Invalid value: 1023: must be a number between 0 and 0777 (octal), both inclusive',
    ],
    [
      [{ name: 'a', downwardAPI: { items: [{ path: 'x' }] } }],
      'spec.volumes[0].downwardAPI.items[0]',
      'Required value: one of fieldRef and resourceFieldRef is required',
    ],
  ];
  for (const [volumes, field, problem] of rows)
    assert.ok(problemsOf({ volumes }).includes(`${field}: ${problem}`), field);
  const type = problemsOf({ volumes: [{ name: 'a', hostPath: { path: '/x', type: 'Dir' } }] });
  assert.match(type[0] ?? '', /^spec\.volumes\[0\]\.hostPath\.type: Unsupported value: "Dir": supported values: "", /);
});

test('pod fields', () => {
  const rows: [Partial<Spec>, string, string][] = [
    [{ dnsPolicy: 'None' }, 'spec.dnsConfig', 'Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
    [
      { hostAliases: [{ ip: '1.2.3', hostnames: ['a'] }] },
      'spec.hostAliases[0].ip',
      'Invalid value: "1.2.3": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
    [
      { activeDeadlineSeconds: 0 },
      'spec.activeDeadlineSeconds',
      'Invalid value: 0: must be between 1 and 2147483647, inclusive',
    ],
    [
      { tolerations: [{ key: '', operator: 'Equal' }] },
      'spec.tolerations[0].operator',
      'Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
    [{ hostUsers: false, hostPID: true }, 'spec.hostPID', 'Forbidden: when `hostUsers` is false'],
    [
      { hostNetwork: true, securityContext: { sysctls: [{ name: 'net.ipv4.x', value: '1' }] } },
      'spec.securityContext.sysctls[0].name',
      'Invalid value: "net.ipv4.x": may not be specified when \'hostNetwork\' is true',
    ],
    [
      { hostNetwork: true, containers: [{ name: 'a', image: 'x', ports: [{ containerPort: 1, hostPort: 2 }] }] },
      'spec.containers[0].ports[0].hostPort',
      'Invalid value: 2: must match `containerPort` when `hostNetwork` is true',
    ],
    [
      {
        resources: { limits: { cpu: '1' }, requests: { cpu: '100m' } },
        containers: [{ name: 'a', image: 'x', resources: { requests: { cpu: '200m' } } }],
      },
      'spec.resources.requests[cpu]',
      'Invalid value: "100m": must be greater than or equal to aggregate container requests of 200m',
    ],
  ];
  for (const [spec, field, problem] of rows)
    assert.ok(problemsOf(spec).includes(`${field}: ${problem}`), `${field}: ${problemsOf(spec).join(' | ')}`);
});

test('addresses', () => {
  for (const good of [
    '1.2.3.4',
    '255.255.255.255',
    '::',
    '::1',
    '2001:db8::ffff',
    '1:2:3:4:5:6:7:8',
    '::ffff:1.2.3.4',
  ]) {
    assert.equal(isIp(good), true, good);
  }
  for (const bad of [
    '',
    '1.2.3',
    '1.2.3.4.',
    '01.2.3.4',
    '256.1.1.1',
    ':::',
    '1:2:3:4:5:6:7',
    '1::2::3',
    'g::1',
    '::1.2.3',
  ]) {
    assert.equal(isIp(bad), false, bad);
  }
});

test('a variable without a source: which ones there are follows the gate EnvFiles', () => {
  const spec = { containers: [{ name: 'a', image: 'x:1', env: [{ name: 'A', valueFrom: {} }] }] };
  const pod = defaultPod({ metadata: { name: 'web', namespace: 'default' }, spec });
  const field = `${C}.env[0].valueFrom`;
  const told = (envFiles?: boolean): string[] =>
    validatePod(pod, envFiles === undefined ? {} : { envFiles }).map(problemText);
  const without = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
  const all = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
  assert.deepEqual(told(false), at(field, `Invalid value: "": ${without}`));
  for (const on of [true, undefined]) assert.deepEqual(told(on), at(field, `Invalid value: "": ${all}`));
  const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', ...pod });
  const origin = { kind: 'http', location: 'http://x', nodeName: 'n', gates: { envFiles: false } } as const;
  assert.ok(parseManifest(manifest, origin).errors.some(({ message }) => message.includes(without)));
});

test('tolerations that compare: refused unless their gate is on, and then of whole numbers only', () => {
  const of = (operator: string, value: string, gates: ValidationGates) =>
    validatePod(
      defaultPod({
        metadata: { name: 'web', namespace: 'default' },
        spec: { containers: [{ name: 'a', image: 'x:1' }], tolerations: [{ key: 'k', operator, value }] },
      }),
      gates,
    ).map(problemText);
  const at = 'spec.tolerations[0]';
  const all = '"Equal", "Exists", "Lt", "Gt"';
  assert.deepEqual(of('Lt', '5', {}), [`${at}.operator: Unsupported value: "Lt": supported values: ${all}`]);
  assert.deepEqual(of('Near', '5', {}), [
    `${at}.operator: Unsupported value: "Near": supported values: "Equal", "Exists"`,
  ]);
  const on = (value: string) => of('Gt', value, { taintComparison: true });
  for (const value of ['0', '-7', '9223372036854775807', '-9223372036854775808']) assert.deepEqual(on(value), []);
  const canonical = 'must be a valid decimal integer in canonical form';
  const parsing = 'strconv.ParseInt: parsing';
  assert.deepEqual(on('05'), [`${at}.value: Invalid value: "05": ${canonical}`]);
  assert.deepEqual(on('x'), [
    `${at}.value: Invalid value: "x": ${canonical}`,
    `${at}.value: Invalid value: "x": ${parsing} "x": invalid syntax`,
  ]);
  assert.deepEqual(on('9223372036854775808'), [
    `${at}.value: Invalid value: "9223372036854775808": ${parsing} "9223372036854775808": value out of range`,
  ]);
  assert.deepEqual(on(''), [
    `${at}.value: Invalid value: "": must be non-empty`,
    `${at}.value: Invalid value: "": ${parsing} "": invalid syntax`,
  ]);
});
