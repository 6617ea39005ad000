/** What drivers make of the node's objects is what kubelet's own code makes of them (vectors: test/tools/csi-node-vectors). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { highestVersion, versionText } from '../../../machines/csi/driver-version.ts';
import { markDriver, unmarkDriver, withDriver, withoutDriver } from '../../../machines/csi/node-drivers.ts';
import type { NodeDriver } from '../../../machines/csi/node-drivers.ts';
import { messageOf } from '../../../machines/values/message-of.ts';

interface Objects {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  drivers: NodeDriver[];
}
interface Change {
  before: Objects;
  name: string;
  nodeID?: string;
  max: number;
  topology?: Record<string, string>;
  leaves: boolean;
  after: Objects;
  error?: string;
}
interface Vectors {
  versions: { given: string[]; taken?: string; error?: string }[];
  changes: Change[];
}

const vectors = JSON.parse(readFileSync(join(import.meta.dirname, 'node-vectors.json'), 'utf8')) as Vectors;

test('the version that is taken, or why none is', () => {
  for (const { given, taken, error } of vectors.versions) {
    if (taken !== undefined) assert.equal(versionText(highestVersion(given)), taken, given.join());
    else assert.throws(() => highestVersion(given), { message: error ?? '' }, given.join());
  }
});

/** The same by the machine's own functions; what fails leaves all as it was. */
function changed({ before, name, nodeID = '', max, topology = {}, leaves }: Change): Objects & { error?: string } {
  const info = { nodeId: nodeID, maxVolumes: String(max), topology };
  const merged = (change: { labels?: object; annotations?: object } | null): Objects => ({
    labels: { ...before.labels, ...change?.labels },
    annotations: Object.fromEntries(
      Object.entries({ ...before.annotations, ...change?.annotations }).filter(([, value]) => value !== null),
    ) as Record<string, string>,
    drivers: before.drivers,
  });
  if (leaves)
    return { ...merged(unmarkDriver(before, name)), drivers: withoutDriver(before.drivers, name) ?? before.drivers };
  try {
    const marks = merged(markDriver(before, name, info));
    return { ...marks, drivers: withDriver(before.drivers, name, info) ?? before.drivers };
  } catch (error) {
    return { ...before, error: messageOf(error) };
  }
}

const plain = ({ labels = {}, annotations = {}, drivers }: Objects): Objects => ({
  ...{ labels, annotations },
  drivers: drivers.map(({ topologyKeys, ...rest }) => ({ ...rest, topologyKeys: topologyKeys ?? [] })),
});

test('labels, annotation and drivers after one came or went', () => {
  for (const change of vectors.changes) {
    const { error, ...after } = changed(change);
    assert.deepEqual(plain(after), plain(change.after), JSON.stringify(change));
    assert.equal(error !== undefined, change.error !== undefined);
    if (error !== undefined) assert.ok(change.error?.includes(error), `${change.error}\n${error}`);
  }
  assert.ok(vectors.changes.some(({ error }) => error !== undefined));
});
