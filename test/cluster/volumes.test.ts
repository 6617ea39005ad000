import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { access, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runs } from '../containerd/agent/support/test-pod.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Pod } from './support/api-objects.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { filesThatHold } from './support/everything-written.ts';
import { apiPod } from './support/manifests.ts';
import { isReadyPod, restarts, uidOf } from './support/seen-pods.ts';
import type { Space } from './support/space.ts';

const NODE = 'beta';
/** Each secret value starts with this, so that one search finds any that leaked. */
const MARK = `s3cr3t-${randomBytes(6).toString('hex')}`;

/** Tokens that were given to pods. */
const tokens: string[] = [];

const cluster = withCluster({ nodes: [{ name: NODE }] });

const configMap = (name: string, data: object, more: object = {}) => ({
  kind: 'ConfigMap',
  metadata: { name },
  data,
  ...more,
});
const secret = (name: string, data: object) => ({ kind: 'Secret', metadata: { name }, stringData: data });

/** A script that prints `KEY='<mark>-suffix'`. It holds the mark in two parts: whole it stands in the file only. */
const marked = (key: string, suffix: string) =>
  `printf "${key}='%s%s-${suffix}'\\n" ${MARK.slice(0, 9)} ${MARK.slice(9)}`;

/** Runs a script in the container `c` of a pod. */
const sh = (pod: Pod, script: string) => cluster.node(NODE).sh(uidOf(pod), 'c', script);

async function readyPod(space: Space, ...args: Parameters<typeof apiPod>): Promise<Pod> {
  await space.create(apiPod(...args));
  return space.waitPod(args[0], 'ready', isReadyPod);
}

/** Waits until a script in the container prints this. */
async function waitOutput(pod: Pod, script: string, wanted: string): Promise<void> {
  let last = '';
  await waitFor(
    `"${script}" to print ${JSON.stringify(wanted)}`,
    async () => ((last = await sh(pod, script)) === wanted ? true : undefined),
    () => `it printed ${JSON.stringify(last)}`,
  );
}

describe('volumes and environment', { concurrency: true }, () => {
  test('configMap, secret and projected volumes hold their objects and follow their changes', async () => {
    const space = await cluster.space('live');
    await space.create(configMap('settings', { color: 'red', extra: 'x' }, { binaryData: { raw: 'AP8Q' } }));
    await space.create(secret('login', { password: `${MARK}-a`, user: 'me' }));
    const volumes = [
      { name: 'cm', configMap: { name: 'settings', defaultMode: 0o640 } },
      { name: 'items', configMap: { name: 'settings', items: [{ key: 'color', path: 'deep/hue', mode: 0o400 }] } },
      { name: 'sec', secret: { secretName: 'login', defaultMode: 0o400 } },
      {
        name: 'all',
        projected: {
          defaultMode: 0o444,
          sources: [
            { configMap: { name: 'settings', items: [{ key: 'color', path: 'cm/color' }] } },
            { secret: { name: 'login', items: [{ key: 'password', path: 'sec/password' }] } },
            { downwardAPI: { items: [{ path: 'me', fieldRef: { fieldPath: 'metadata.name' } }] } },
          ],
        },
      },
    ];
    const volumeMounts = [
      ...volumes.map(({ name }) => ({ name, mountPath: `/v/${name}` })),
      { name: 'cm', mountPath: '/once/color', subPath: 'color' },
    ];
    const pod = await readyPod(space, 'reader', [runs('c', { volumeMounts })], { volumes });

    assert.equal(await sh(pod, 'ls /v/cm /v/items'), '/v/cm:\ncolor\nextra\nraw\n\n/v/items:\ndeep\n');
    assert.equal(await sh(pod, 'cat /v/cm/color /v/items/deep/hue /v/all/cm/color /once/color'), 'redredredred');
    assert.equal(await sh(pod, 'od -An -tx1 /v/cm/raw'), ' 00 ff 10\n');
    assert.equal(await sh(pod, 'cat /v/sec/user /v/all/me'), 'mereader');
    assert.equal(
      await sh(pod, `[ "$(cat /v/sec/password)$(cat /v/all/sec/password)" = ${MARK}-a${MARK}-a ] && echo yes`),
      'yes\n',
    );
    const modes = 'stat -Lc %a /v/cm/color /v/items/deep/hue /v/sec/user /v/all/me /v/cm/raw';
    assert.equal(await sh(pod, modes), '640\n400\n400\n444\n640\n');
    assert.match(await sh(pod, 'readlink /v/cm/color; readlink /v/cm/..data'), /^\.\.data\/color\n\.\.\d{4}_/);
    assert.match(await sh(pod, 'grep " /v/sec " /proc/mounts'), /^tmpfs \/v\/sec tmpfs ro/m);
    assert.equal(await sh(pod, 'touch /v/cm/new 2>/dev/null || echo read-only'), 'read-only\n');

    await space.patch('ConfigMap', 'settings', { data: { color: 'blue', extra: null } });
    await space.patch('Secret', 'login', { stringData: { password: `${MARK}-b` } });
    await waitOutput(pod, 'cat /v/cm/color /v/items/deep/hue /v/all/cm/color', 'blueblueblue');
    await waitOutput(
      pod,
      `for f in /v/sec/password /v/all/sec/password; do [ "$(cat $f)" = ${MARK}-b ] && echo yes; done; :`,
      'yes\nyes\n',
    );
    assert.equal(await sh(pod, 'ls /v/cm'), 'color\nraw\n');
    assert.equal(await sh(pod, 'cat /once/color'), 'red', 'a subPath mount stays as it was');
    const now = await space.get<Pod>('Pod', 'reader');
    assert.equal(restarts([now]), 0);
  });

  test('env comes from configMaps, secrets, fields, resources and services', async () => {
    const space = await cluster.space('env');
    const port = { port: 8080, name: 'http', protocol: 'TCP' };
    const spec = { selector: { app: 'x' }, ports: [port] };
    const service = await space.create<{ spec: { clusterIP: string } }>({
      kind: 'Service',
      metadata: { name: 'my-api' },
      spec,
    });
    await space.create(configMap('settings', { COLOR: 'red', 'some.key': '1' }));
    await space.create(secret('login', { PASSWORD: `${MARK}-env` }));
    const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
    const resource = (name: string, of: string, divisor: string) => ({
      name,
      valueFrom: { resourceFieldRef: { resource: of, divisor } },
    });
    const env = [
      { name: 'ONE', valueFrom: { configMapKeyRef: { name: 'settings', key: 'COLOR' } } },
      { name: 'TWO', valueFrom: { secretKeyRef: { name: 'login', key: 'PASSWORD' } } },
      { name: 'NOT', valueFrom: { configMapKeyRef: { name: 'settings', key: 'none', optional: true } } },
      field('NAME', 'metadata.name'),
      field('NS', 'metadata.namespace'),
      field('UID_', 'metadata.uid'),
      field('LABEL', "metadata.labels['tier']"),
      field('NODE', 'spec.nodeName'),
      field('SA', 'spec.serviceAccountName'),
      field('HOST_IP', 'status.hostIP'),
      field('POD_IP', 'status.podIP'),
      resource('CPU', 'limits.cpu', '1m'),
      resource('MEM', 'requests.memory', '1Mi'),
      { name: 'BOTH', value: '$(ONE)-$(NAME)-$(MISSING)-$$(ONE)' },
    ];
    const envFrom = [{ configMapRef: { name: 'settings' } }, { prefix: 'P_', secretRef: { name: 'login' } }];
    const resources = { limits: { cpu: '250m', memory: '64Mi' }, requests: { memory: '32Mi' } };
    const pod = await readyPod(
      space,
      'envy',
      [runs('c', { env, envFrom, resources })],
      {},
      { labels: { tier: 'back' } },
    );
    const all = new Map(
      (await sh(pod, 'env'))
        .trimEnd()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const),
    );
    const expected = {
      ONE: 'red',
      NAME: 'envy',
      NS: space.name,
      UID_: uidOf(pod),
      LABEL: 'back',
      NODE,
      SA: 'default',
      HOST_IP: cluster.node(NODE).address,
      POD_IP: pod.status?.podIP,
      CPU: '250',
      MEM: '32',
      BOTH: 'red-envy-$(MISSING)-$(ONE)',
      COLOR: 'red',
      MY_API_SERVICE_HOST: service.spec.clusterIP,
      MY_API_SERVICE_PORT: '8080',
      MY_API_SERVICE_PORT_HTTP: '8080',
      MY_API_PORT: `tcp://${service.spec.clusterIP}:8080`,
      MY_API_PORT_8080_TCP_PROTO: 'tcp',
      KUBERNETES_SERVICE_HOST: '10.96.0.1',
      KUBERNETES_SERVICE_PORT: '443',
    };
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, all.get(name)])), expected);
    assert.ok(all.get('TWO') === `${MARK}-env` && all.get('P_PASSWORD') === `${MARK}-env`, 'the secret is in the env');
    assert.equal(all.has('NOT'), false);

    const bare = await readyPod(space, 'bare', [runs('c')], { enableServiceLinks: false });
    const names = await sh(bare, 'env | grep -c MY_API || :; env | grep -c KUBERNETES_SERVICE_HOST');
    assert.equal(names, '0\n1\n');
  });

  test('variables from files of a volume (KEP-3721): init, sidecar, regular and ephemeral containers', async () => {
    const space = await cluster.space('env-files');
    await space.create(secret('login', { PASSWORD: `${MARK}-mixed` }));
    const volumes = [{ name: 'v', emptyDir: {} }];
    const volumeMounts = [{ name: 'v', mountPath: '/v' }];
    const fromFile = (key: string, more: object = {}) => {
      return { name: key, valueFrom: { fileKeyRef: { volumeName: 'v', path: 'env', key, ...more } } };
    };
    const inits = [
      runs('first', { command: ['sh', '-c', `${marked('A', 'a')} > /v/env`], volumeMounts }),
      runs('second', {
        command: ['sh', '-c', `[ "$A" ] && ${marked('B', 'b')} >> /v/env`],
        volumeMounts,
        env: [fromFile('A')],
      }),
      runs('sidecar', { env: [fromFile('B')], restartPolicy: 'Always' }),
    ];
    const env = [
      { name: 'SECRET', valueFrom: { secretKeyRef: { name: 'login', key: 'PASSWORD' } } },
      fromFile('B'),
      fromFile('NONE', { optional: true }),
      { name: 'BOTH', value: '$(SECRET)/$(B)' },
    ];
    const late = runs('late', { env: [fromFile('LATE')] });
    await space.create(apiPod('files', [runs('c', { env, volumeMounts }), late], { volumes, initContainers: inits }));
    const running = await space.waitPod('files', 'c runs, late is refused', (p) => {
      const of = (name: string) => p.status?.containerStatuses?.find((s) => s.name === name);
      return of('c')?.ready === true && of('late')?.state?.waiting?.reason === 'CreateContainerConfigError';
    });
    assert.equal(
      await sh(running, `[ "$B $BOTH" = "${MARK}-b ${MARK}-mixed/${MARK}-b" ] && echo same; echo "<\${NONE-unset}>"`),
      'same\n<unset>\n',
    );
    const sidecar = await cluster.node(NODE).sh(uidOf(running), 'sidecar', `[ "$B" = "${MARK}-b" ] && echo same`);
    assert.equal(sidecar, 'same\n');
    await space.waitEvent('files', 'Failed', /^Error: environment variable key "LATE" not found in file ".*\/v\/env"$/);

    await sh(running, `${marked('LATE', 'l')} >> /v/env`);
    await space.waitPod('files', 'ready', isReadyPod);
    const debug = runs('debug', { env: [fromFile('LATE')], targetContainerName: 'c' });
    await cluster
      .plane()
      .api.patch(
        space.path('Pod', 'files', 'ephemeralcontainers'),
        { spec: { ephemeralContainers: [debug] } },
        'strategic-merge',
      );
    await space.waitPod('files', 'debugged', (p) => p.status?.ephemeralContainerStatuses?.[0]?.state?.running != null);
    const debugged = await cluster.node(NODE).sh(uidOf(running), 'debug', `[ "$LATE" = "${MARK}-l" ] && echo same`);
    assert.equal(debugged, 'same\n');
  });

  test('the service account token of a pod works against the API server', async () => {
    const space = await cluster.space('token');
    const audience = { audience: 'vault', expirationSeconds: 600, path: 'vault-token' };
    const volumes = [{ name: 'own', projected: { sources: [{ serviceAccountToken: audience }] } }];
    const volumeMounts = [{ name: 'own', mountPath: '/own' }];
    const more = { automountServiceAccountToken: true, volumes };
    const pod = await readyPod(space, 'client', [runs('c', { volumeMounts })], more);
    const folder = '/var/run/secrets/kubernetes.io/serviceaccount';
    const [token, ca, namespace, other] = await Promise.all(
      [`${folder}/token`, `${folder}/ca.crt`, `${folder}/namespace`, '/own/vault-token'].map((file) =>
        sh(pod, `cat ${file}`),
      ),
    );
    assert.equal(namespace, space.name);
    assert.equal(ca, await readFile(cluster.plane().pki.ca.cert, 'utf8'));
    const asPod = cluster.plane().apiWithToken(token ?? '');
    try {
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      const { status } = await asPod.post<{
        status: { userInfo: { username: string; extra: Record<string, string[]> } };
      }>('/apis/authentication.k8s.io/v1/selfsubjectreviews', review);
      assert.equal(status.userInfo.username, `system:serviceaccount:${space.name}:default`);
      assert.deepEqual(status.userInfo.extra['authentication.kubernetes.io/pod-name'], ['client']);
      assert.deepEqual(status.userInfo.extra['authentication.kubernetes.io/node-name'], [NODE]);
    } finally {
      asPod.close();
    }
    const claims = JSON.parse(Buffer.from((other ?? '').split('.')[1] ?? '', 'base64url').toString()) as {
      aud: string[];
    };
    assert.deepEqual(claims.aud, ['vault']);
    tokens.push(token ?? '', other ?? '');
  });

  test('optional objects may be missing and may come later', async () => {
    const space = await cluster.space('optional');
    const volumes = [
      { name: 'cm', configMap: { name: 'later', optional: true } },
      { name: 'sec', secret: { secretName: 'later', optional: true } },
    ];
    const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/v/${name}` }));
    const envFrom = [{ configMapRef: { name: 'later', optional: true } }];
    const pod = await readyPod(space, 'patient', [runs('c', { volumeMounts, envFrom })], { volumes });
    assert.equal(await sh(pod, 'ls /v/cm /v/sec'), '/v/cm:\n\n/v/sec:\n');
    await space.create(configMap('later', { came: 'yes' }));
    await space.create(secret('later', { came: `${MARK}-later` }));
    await waitOutput(pod, 'cat /v/cm/came; cut -c1-7 /v/sec/came', `yes${MARK.slice(0, 7)}\n`);
  });

  test('what is not optional holds the container up until it is there', async () => {
    const space = await cluster.space('needed');
    const volumes = [{ name: 'cm', configMap: { name: 'volume-later' } }];
    await space.create(
      apiPod('mounts', [runs('c', { volumeMounts: [{ name: 'cm', mountPath: '/cm' }] })], { volumes }),
    );
    const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'env-later', key: 'a' } } }];
    await space.create(apiPod('refers', [runs('c', { env })]));

    await space.waitEvent('mounts', 'FailedMount', /configmap "volume-later" not found/);
    const waits = await space.waitPod('mounts', 'waiting', (p) => p.status?.containerStatuses?.[0] !== undefined);
    assert.equal(waits.status?.containerStatuses?.[0]?.state?.waiting?.reason, 'ContainerCreating');
    const refused = await space.waitPod('refers', 'refused', (p) => {
      return p.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError';
    });
    assert.equal(refused.status?.containerStatuses?.[0]?.state?.waiting?.message, 'configmap "env-later" not found');
    assert.equal(refused.status?.phase, 'Pending');
    await space.waitEvent('refers', 'Failed', /configmap "env-later" not found/);

    await space.create(configMap('volume-later', { a: '1' }));
    await space.create(configMap('env-later', { a: '1' }));
    await Promise.all(['mounts', 'refers'].map((name) => space.waitPod(name, 'ready', isReadyPod)));
  });

  test('a downward API volume shows fields and follows labels and annotations', async () => {
    const space = await cluster.space('downward');
    const fields = [
      ['labels', 'metadata.labels'],
      ['annotations', 'metadata.annotations'],
      ['name', 'metadata.name'],
      ['uid', 'metadata.uid'],
    ].map(([path, fieldPath]) => ({ path, fieldRef: { fieldPath } }));
    const memory = {
      path: 'memory',
      resourceFieldRef: { containerName: 'c', resource: 'limits.memory', divisor: '1Mi' },
    };
    const volumes = [{ name: 'down', downwardAPI: { items: [...fields, memory] } }];
    const volumeMounts = [{ name: 'down', mountPath: '/down' }];
    const containers = [runs('c', { volumeMounts, resources: { limits: { memory: '48Mi' } } })];
    const pod = await readyPod(
      space,
      'self',
      containers,
      { volumes },
      { labels: { b: '2', a: '1' }, annotations: { n: 'x"y' } },
    );
    assert.equal(
      await sh(pod, 'cat /down/labels; echo; cat /down/annotations | grep ^n='),
      'a="1"\nb="2"\nn="x\\"y"\n',
    );
    assert.equal(await sh(pod, 'cat /down/name /down/uid /down/memory'), `self${uidOf(pod)}48`);
    await space.patch('Pod', 'self', { metadata: { labels: { a: 'changed' } } });
    await waitOutput(pod, 'cat /down/labels', 'a="changed"\nb="2"');
  });

  test('subPath and subPathExpr mount parts of a volume, and no way out of it', async () => {
    const space = await cluster.space('subpath');
    const volumes = [
      { name: 'data', emptyDir: {} },
      { name: 'memory', emptyDir: { medium: 'Memory' } },
    ];
    const env = [{ name: 'WHO', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }];
    const mount = (mountPath: string, more: object) => ({ name: 'data', mountPath, ...more });
    const init = runs('make', {
      command: ['sh', '-c', 'mkdir -p /all/a/b; echo hello > /all/a/b/file; chmod 0751 /all/a'],
      volumeMounts: [mount('/all', {})],
    });
    const volumeMounts = [
      mount('/sub', { subPath: 'a/b' }),
      mount('/file', { subPath: 'a/b/file' }),
      mount('/expr', { subPathExpr: '$(WHO)/logs' }),
      mount('/whole', { readOnly: true }),
      { name: 'memory', mountPath: '/memory' },
    ];
    const more = { volumes, initContainers: [init] };
    const pod = await readyPod(space, 'parts', [runs('c', { env, volumeMounts })], more);
    assert.equal(await sh(pod, 'cat /sub/file /file'), 'hello\nhello\n');
    assert.equal(await sh(pod, 'echo 1 > /expr/x; cat /whole/parts/logs/x'), '1\n');
    assert.equal(await sh(pod, 'touch /whole/y 2>/dev/null || echo read-only'), 'read-only\n');
    assert.match(await sh(pod, 'grep " /memory " /proc/mounts'), /^tmpfs /m);

    const escape = runs('make', {
      command: ['sh', '-c', 'ln -s / /all/out'],
      volumeMounts: [mount('/all', {})],
    });
    const through = [runs('c', { volumeMounts: [mount('/bad', { subPath: 'out/etc' })] })];
    await space.create(apiPod('escape', through, { volumes, initContainers: [escape] }));
    const refused = await space.waitPod('escape', 'refused', (p) => {
      return p.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError';
    });
    assert.match(refused.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '', /subPath/);
  });

  test('fsGroup owns the volumes of a pod', async () => {
    const space = await cluster.space('fsgroup');
    await space.create(secret('login', { password: `${MARK}-group` }));
    const volumes = [
      { name: 'sec', secret: { secretName: 'login', defaultMode: 0o400 } },
      { name: 'data', emptyDir: {} },
    ];
    const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
    const securityContext = { runAsUser: 1234, runAsGroup: 1234, fsGroup: 4321 };
    const pod = await readyPod(space, 'owned', [runs('c', { volumeMounts })], { volumes, securityContext });
    assert.equal(
      await sh(pod, 'stat -Lc "%a %g" /sec/password /data; touch /data/x && stat -c %g /data/x'),
      '440 4321\n2777 4321\n4321\n',
    );
    assert.equal(await sh(pod, 'cut -c1-6 /sec/password'), `${MARK.slice(0, 6)}\n`);
  });
});

test('volumes of a pod are gone from the node when the pod is', async () => {
  const space = await cluster.space('clean');
  await space.create(secret('login', { password: `${MARK}-clean` }));
  const volumes = [
    { name: 'sec', secret: { secretName: 'login' } },
    { name: 'memory', emptyDir: { medium: 'Memory' } },
  ];
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  const pod = await readyPod(space, 'short', [runs('c', { volumeMounts })], { volumes });
  const folder = join(cluster.node(NODE).agentRoot, 'pods', uidOf(pod));
  const mounts = async () =>
    (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').filter((l) => l.includes(folder));
  assert.equal((await mounts()).length, 2);
  assert.ok((await stat(folder)).isDirectory());
  await space.remove('Pod', 'short');
  await space.waitGone(pod);
  assert.deepEqual(await mounts(), [], 'the object goes after the mounts');
  await waitFor('the pod folder to go', () =>
    access(folder).then(
      () => undefined,
      () => true,
    ),
  );
});

test("a secret's value is in no log, journal or metric", async () => {
  const node = cluster.node(NODE);
  assert.ok(tokens.length > 0, 'the tests before this one have used tokens');
  // a restart makes a journal segment that is closed and compressed, and reads secrets again
  await node.restart();
  await node.waitReady();
  const values = [MARK, Buffer.from(MARK).toString('base64').slice(0, 16), ...tokens];
  // the volumes themselves, and what the runtime keeps of a container (its env is in its OCI spec), may hold them
  const skip = (path: string) => path === join(node.dir, 'containerd') || path === join(node.agentRoot, 'pods');
  const served = await Promise.all(
    ['/metrics', '/pods'].map((path) => waitFor(`the agent to serve ${path}`, () => node.readOnly(path))),
  );
  assert.notDeepEqual(await filesThatHold(node.dir, ['reader'], skip), [], 'the search finds what is there');
  assert.deepEqual(await filesThatHold(node.dir, values, skip), []);
  for (const text of served) {
    assert.ok(text.length > 0);
    assert.ok(!values.some((value) => text.includes(value)));
  }
  const events = JSON.stringify(await cluster.plane().api.list('/api/v1/events'));
  assert.ok(!values.some((value) => events.includes(value)));
});
