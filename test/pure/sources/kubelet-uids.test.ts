import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseDocuments } from '../../../actors/pods/sources/parse-documents.ts';
import { parseManifest } from '../../../actors/pods/sources/parse-manifest.ts';
import { CONFIG_HASH } from '../../../machines/sources/annotations.ts';
import { decodePod, podsIn } from '../../../machines/sources/read-document.ts';
import type { StaticOrigin } from '../../../machines/sources/static-pod.ts';
import { GO_STRUCTS } from '../../../machines/static-pod-uid/generated/go-types.ts';
import { kubeletUid } from '../../../machines/static-pod-uid/kubelet-uid.ts';

/** See test/tools/static-pod-uid-vectors. */
interface Vector {
  what: string;
  manifest: string;
  file?: string;
  url?: string;
  uid: string;
  pod?: {
    name: string;
    namespace: string;
    annotations: Record<string, string>;
    tolerations?: object[];
    nodeName: string;
    phase: string;
  };
}

const vectors = JSON.parse(readFileSync(new URL('kubelet-uid-vectors.json', import.meta.url), 'utf8')) as Vector[];
const nodeName = 'node-a.example';

const originOf = ({ file, url }: Vector): StaticOrigin => ({
  kind: file === undefined ? 'http' : 'file',
  location: file ?? url ?? '',
  nodeName,
});

test('the UID of every recorded manifest is kubelet’s', () => {
  assert.ok(vectors.length > 250);
  const wrong: string[] = [];
  for (const vector of vectors) {
    const [document] = parseDocuments(vector.manifest);
    const [candidate] = podsIn(document?.value).candidates;
    assert.ok(candidate, vector.what);
    const { written, problems } = decodePod(candidate);
    assert.deepEqual(problems, [], vector.what);
    const uid = written.metadata?.uid || kubeletUid(written, originOf(vector));
    if (uid !== vector.uid) wrong.push(vector.what);
  }
  assert.deepEqual(wrong, []);
});

test('what kubelet’s sources accept is handed on with the same name, annotations and tolerations', () => {
  const accepted = vectors.filter(({ pod }) => pod !== undefined);
  assert.ok(accepted.length > 60);
  for (const vector of accepted) {
    const { pods, errors } = parseManifest(vector.manifest, originOf(vector));
    assert.deepEqual(errors, [], vector.what);
    const [pod] = pods;
    const { [CONFIG_HASH]: hash, ...annotations } = pod?.metadata?.annotations ?? {};
    assert.equal(pod?.metadata?.uid, vector.uid, vector.what);
    assert.equal(hash, vector.uid, vector.what);
    const handedOn = {
      name: pod.metadata.name,
      namespace: pod.metadata.namespace,
      annotations,
      ...(pod.spec?.tolerations ? { tolerations: pod.spec.tolerations } : {}),
      nodeName: pod.spec?.nodeName,
      phase: pod.status?.phase,
    };
    assert.deepEqual(handedOn, vector.pod, vector.what);
  }
});

test('every field of a pod is in a record', () => {
  const every = vectors.find(({ what }) => what === 'every field');
  const names = new Set<string>();
  JSON.parse(every?.manifest ?? '', (key, value: unknown) => {
    names.add(key);
    return value;
  });
  // Times are not told by the hash, and what else of metadata kubelet reads is drawn in other records.
  const exempt = /Time|At$|^creationTimestamp$|^deletionTimestamp$|^fieldsV1$|^uid$|^-$|^$/;
  const missing = Object.entries(GO_STRUCTS).flatMap(([type, fields]) =>
    fields
      .split(' ')
      .map((field) => field.split(':')[1] ?? '')
      .filter((name) => !exempt.test(name) && !names.has(name))
      .map((name) => `${type}: ${name}`),
  );
  assert.deepEqual(missing, []);
});
