import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocuments } from '../../../actors/pods/sources/parse-documents.ts';
import { parseManifest } from '../../../actors/pods/sources/parse-manifest.ts';

const origin = { kind: 'file', location: '/m/a.yaml', nodeName: 'node1' } as const;
const doc = (name: string, more = ''): string =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n  - name: a\n    image: x:1\n${more}`;
const names = (text: string): (string | undefined)[] =>
  parseManifest(text, origin).pods.map((pod) => pod.metadata?.name);
const errors = (text: string): string[] => parseManifest(text, origin).errors.map((error) => error.message);

test('a static pod of a file', () => {
  const [pod] = parseManifest(doc('web'), origin).pods;
  const uid = pod?.metadata?.uid ?? '';
  assert.match(uid, /^[0-9a-f]{32}$/);
  assert.deepEqual(pod?.metadata, {
    name: 'web-node1',
    namespace: 'default',
    uid,
    annotations: { 'kubernetes.io/config.hash': uid },
  });
  assert.equal(pod?.spec?.nodeName, 'node1');
  assert.deepEqual(pod?.spec?.tolerations, [{ operator: 'Exists', effect: 'NoExecute' }]);
  assert.deepEqual(pod?.status, { phase: 'Pending' });
});

test('uid: same content same uid; comments and order do not count; file, node and content do', () => {
  const uid = (text: string, from: Parameters<typeof parseManifest>[1] = origin): string =>
    parseManifest(text, from).pods[0]?.metadata?.uid ?? '';
  const base = uid(doc('web'));
  assert.equal(uid(`# hello\n${doc('web')}`), base);
  assert.equal(
    uid(
      JSON.stringify({
        kind: 'Pod',
        spec: { containers: [{ image: 'x:1', name: 'a' }] },
        metadata: { name: 'web' },
        apiVersion: 'v1',
      }),
    ),
    base,
  );
  assert.notEqual(uid(doc('web', '    args: [b]\n')), base);
  assert.notEqual(uid(doc('web'), { ...origin, location: '/m/b.yaml' }), base);
  assert.notEqual(uid(doc('web'), { ...origin, nodeName: 'n2' }), base);
  const own = parseManifest(doc('web').replace('metadata:', 'metadata:\n  uid: "own"'), origin).pods[0];
  assert.equal(own?.metadata?.uid, 'own');
  assert.equal(own?.metadata?.annotations?.['kubernetes.io/config.hash'], 'own');
});

test('http pods get no toleration', () => {
  assert.equal(parseManifest(doc('w'), { ...origin, kind: 'http' }).pods[0]?.spec?.tolerations, undefined);
});

test('several documents, a bad one among good ones', () => {
  const text = `${doc('one')}---\n${doc('Two')}---\n# only a comment\n---\n${doc('three')}`;
  assert.deepEqual(names(text), ['one-node1', 'three-node1']);
  const [error, ...more] = errors(text);
  assert.deepEqual(more, []);
  assert.match(
    error ?? '',
    /^SRC001: Cannot use pod default\/Two in \/m\/a\.yaml, document 2: metadata\.name: Invalid value: "Two-node1": /,
  );
});

test('a broken document does not swallow the next', () => {
  const text = `${doc('one')}---\nkind: Pod\nmetadata: {name: "open\n---\n${doc('three')}`;
  assert.deepEqual(names(text), ['one-node1', 'three-node1']);
  assert.match(
    errors(text)[0] ?? '',
    /^SRC003: Cannot parse document 2 of \/m\/a\.yaml: .* at line 1[01], column \d+\./,
  );
});

test('PodList and List, each item on its own', () => {
  const good = { metadata: { name: 'a' }, spec: { containers: [{ name: 'a', image: 'x' }] } };
  const podList = { apiVersion: 'v1', kind: 'PodList', items: [good, { ...good, metadata: { name: 'b' } }] };
  assert.deepEqual(names(JSON.stringify(podList)), ['a-node1', 'b-node1']);
  const list = {
    apiVersion: 'v1',
    kind: 'List',
    items: [{ kind: 'Pod', apiVersion: 'v1', ...good }, { kind: 'Service' }],
  };
  assert.deepEqual(names(JSON.stringify(list)), ['a-node1']);
  assert.match(
    errors(JSON.stringify(list))[0] ?? '',
    /items\[1\]\.kind: Unsupported value: "Service": supported values: "Pod"/,
  );
  const bad = { ...podList, items: [good, { ...good, metadata: { name: 'c' }, spec: { containers: [{ name: 7 }] } }] };
  assert.deepEqual(names(JSON.stringify(bad)), ['a-node1']);
  assert.match(
    errors(JSON.stringify(bad))[0] ?? '',
    /document 1: items\[1\]\.spec\.containers\[0\]\.name: Invalid value: 7: must be a string \(put it in quotes\); items\[1\]\.spec\.containers\[0\]\.image: Required value\./,
  );
});

test('what is no pod', () => {
  assert.match(errors('')[0] ?? '', /^SRC004/);
  assert.match(errors('# nothing\n')[0] ?? '', /^SRC004/);
  assert.match(errors('hello')[0] ?? '', /^SRC002: .*must be an object/);
  assert.match(errors('kind: Pod')[0] ?? '', /apiVersion: Required value/);
  assert.match(
    errors('apiVersion: v1\nkind: Service')[0] ?? '',
    /kind: Unsupported value: "Service": supported values: "Pod", "PodList", "List"/,
  );
  assert.match(errors('apiVersion: v2\nkind: Pod')[0] ?? '', /apiVersion: Unsupported value: "v2"/);
  assert.match(errors(doc('""'))[0] ?? '', /metadata\.name: Required value: name is needed for the pod\./);
});

test('static pods may not reference API objects', () => {
  const found =
    errors(
      doc(
        'web',
        '    envFrom:\n    - secretRef: {name: s}\n  serviceAccountName: me\n  volumes:\n  - {name: c, configMap: {name: c}}\n',
      ),
    )[0] ?? '';
  assert.match(found, /spec\.serviceAccountName: Forbidden: static pods may not reference serviceaccounts; /);
  assert.match(
    found,
    /spec\.containers\[0\]\.envFrom\[0\]\.secretRef: Forbidden: static pods may not reference secrets; /,
  );
  assert.match(
    found,
    /spec\.volumes\[0\]\.configMap: Forbidden: static pods may not reference configmaps \(via configmap volumes\)\./,
  );
});

test('unknown fields are dropped and told', () => {
  const { pods, unknownFields } = parseManifest(doc('web', '    imagee: y\n'), origin);
  assert.deepEqual(unknownFields, ['document 1: spec.containers[0].imagee']);
  assert.equal('imagee' in (pods[0]?.spec?.containers[0] ?? {}), false);
});

test('scalars as Kubernetes reads YAML', () => {
  const value = (text: string): unknown => parseDocuments(`a: ${text}`)[0]?.value;
  assert.deepEqual(value('0644'), { a: 420 });
  assert.deepEqual(value('yes'), { a: true });
  assert.deepEqual(value('10:20'), { a: '10:20' });
  assert.deepEqual(value('2024-01-01'), { a: '2024-01-01' });
  assert.deepEqual(value('1e3'), { a: 1000 });
  assert.deepEqual(value('~'), { a: null });
  assert.deepEqual(parseDocuments('x: &b {c: 1}\nq:\n  <<: *b\n  d: 2')[0]?.value, { x: { c: 1 }, q: { c: 1, d: 2 } });
  assert.equal(parseDocuments('a: 1\r\n---\r\nb: 2\r\n').length, 2);
  assert.deepEqual(parseDocuments('%YAML 1.1\n---\na: 1'), [{ number: 1, value: { a: 1 } }]);
});

test('an alias bomb is an error, not a hang', () => {
  const levels = Array.from({ length: 12 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(',')}]`);
  const [parsed] = parseDocuments(['l0: &l0 [x]', ...levels].join('\n'));
  assert.match(parsed?.problem ?? '', /alias/i);
});

test('the value of a variable never stands in an error', () => {
  const [error] = errors(doc('web', '    env: [{name: PIN, value: 4711}]\n'));
  assert.match(error ?? '', /env\[0\]\.value: Invalid value: "a number": must be a string \(put it in quotes\)/);
  assert.doesNotMatch(error ?? '', /4711/);
});
