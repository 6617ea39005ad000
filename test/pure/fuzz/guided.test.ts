/** Decoders of bytes and texts, searched by coverage: what no change of a valid input alone comes to. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { readConfigFile } from '../../../actors/configure/configuration/config-file.ts';
import { emptyLine, parserFor } from '../../../actors/serve/container-logs/line-format.ts';
import { parseLine } from '../../../actors/record/journal/journal-reader.ts';
import { observedContainer, observedSandbox } from '../../../actors/runtime/pleg/observed-from-cri.ts';
import { parseManifest } from '../../../actors/pods/sources/parse-manifest.ts';
import { FrameDecoder } from '../../../actors/serve/spdy/frame-decoder.ts';
import { FrameEncoder } from '../../../actors/serve/spdy/frame-encoder.ts';
import type { SpdyFrame } from '../../../actors/serve/spdy/frames.ts';
import {
  Container,
  ContainerStatus,
  ContainerStatusResponse,
  ListContainersResponse,
  PodSandboxStatus,
  PodSandboxStatusResponse,
} from '../../../cri/generated/runtime/v1/api.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { notPlain } from '../pod/chaos-world.ts';
import { feed, files, folder, journalingShard, lifeOf } from '../journal/journal-fixture.ts';
import { pod } from '../pod/pod-world.ts';
import { guided } from './support/guided.ts';
import { wholePod } from './support/whole-pod.ts';

/** Runs `read`, which may throw errors of ours only, and those name where it is. */
function ours<T>(read: () => T, where: string): T | undefined {
  try {
    return read();
  } catch (error) {
    assert.ok(error instanceof ActorletError && error.message.includes(where), (error as Error).stack);
    return undefined;
  }
}

/** A lock that opens to one word of four half bytes only. */
function lock(key: Buffer): void {
  const [a = 0, b = 0, c = 0, d = 0] = [...key].map((byte) => byte >> 4);
  if (a === 0xc) if (b === 0xa) if (c === 0xf) if (d === 0xe) throw new Error('open');
}

test('the search finds what takes four lucky bytes in a row, and only because it is guided', async () => {
  const search = { inputs: [Buffer.alloc(4)], run: lock };
  const found = guided({ ...search, code: /guided\.test/, runs: 20_000 });
  await assert.rejects(found, /found by an input of \d+ bytes: [\w+/]+=*/);
  assert.equal((await guided({ ...search, code: /no such code/, runs: 1_000 })).kept.length, 0);
});

test('SPDY frames: the same frames, or the same error, however the bytes are cut', async () => {
  const headers = new Map([
    ['streamtype', 'stdout'],
    ['port', '80'],
  ]);
  const frames: SpdyFrame[] = [
    { type: 'synStream', streamId: 1, associatedTo: 0, priority: 0, fin: false, unidirectional: false, headers },
    { type: 'synReply', streamId: 1, fin: false, headers },
    { type: 'rstStream', streamId: 1, status: 3 },
    { type: 'settings', settings: [{ flags: 0, id: 4, value: 1 }] },
    { type: 'ping', id: 1 },
    { type: 'goAway', lastStreamId: 1, status: 0 },
    { type: 'windowUpdate', streamId: 1, delta: 5 },
    { type: 'headers', streamId: 1, fin: true, headers },
  ];
  const read = (pieces: readonly Buffer[]): string => {
    const seen: string[] = [];
    let data = '';
    const decoder = new FrameDecoder();
    try {
      for (const piece of pieces)
        decoder.push(piece, (frame) => {
          // Data comes in as many pieces as its bytes did.
          if (frame.type === 'data') data += `${frame.streamId}${frame.fin ? '!' : ''}${frame.data.toString('hex')}`;
          else seen.push(JSON.stringify(frame, (_key, value: unknown) => (value instanceof Map ? [...value] : value)));
        });
    } catch (error) {
      assert.ok(error instanceof ActorletError, (error as Error).stack);
      seen.push(error.message);
    }
    return `${seen.join('\n')}\n${data.length > 0 ? 'data' : ''}`;
  };
  const encoder = new FrameEncoder();
  const whole = Buffer.concat(frames.map((frame) => encoder.encode(frame)));
  const each = frames.map((frame) => new FrameEncoder().encode(frame));
  const { kept } = await guided({
    inputs: [whole, ...each],
    run: (input) => {
      const byte = Array.from(input, (_one, i) => input.subarray(i, i + 1));
      assert.equal(read([input]), read(byte));
    },
    code: /\/actors\/serve\/spdy\//,
    words: ['80030001', '80030002', '80030003', '80030006', '00000000', '7fffffff', 'ffffffff'].map((hex) =>
      Buffer.from(hex, 'hex'),
    ),
    runs: 800,
  });
  assert.ok(kept.length > 2 * each.length, `${String(kept.length)} kept: the search is not guided`);
});

test('CRI answers: whatever the bytes are, an answer or an error of the decoder', async () => {
  const container = {
    id: 'c1',
    metadata: { name: 'c', attempt: 1 },
    labels: { 'io.kubernetes.container.name': 'c' },
    annotations: { 'io.kubernetes.container.hash': 'ab' },
    createdAt: '1000000000000000',
    image: { image: 'img:1' },
  };
  const status = ContainerStatus.fromPartial({
    ...container,
    mounts: [{ containerPath: '/x', hostPath: '/y' }],
    resources: { linux: { cpuShares: '2' } },
    user: { linux: { uid: '1', gid: '1', supplementalGroups: ['1'] } },
  });
  const sandbox = PodSandboxStatus.fromPartial({
    id: 's',
    network: { ip: '10.0.0.1', additionalIps: [{ ip: '::1' }] },
  });
  const inputs = [
    ContainerStatusResponse.encode({ status, info: { a: 'b' } }).finish(),
    ListContainersResponse.encode({ containers: [Container.fromPartial(container)] }).finish(),
    PodSandboxStatusResponse.encode(PodSandboxStatusResponse.fromPartial({ status: sandbox })).finish(),
  ].map((bytes) => Buffer.from(bytes));
  const decoded = <T>(decode: (bytes: Buffer) => T, bytes: Buffer): T | undefined => {
    try {
      return decode(bytes);
    } catch (error) {
      // grpc-js tells the caller so (code INTERNAL), and goes on.
      assert.ok(error instanceof Error && !(error instanceof TypeError), (error as Error).stack);
      return undefined;
    }
  };
  await guided({
    inputs,
    run: (input) => {
      const one = decoded((bytes) => ContainerStatusResponse.decode(bytes), input)?.status;
      if (one !== undefined) assert.equal(notPlain(observedContainer(one, 's')), null);
      const other = decoded((bytes) => PodSandboxStatusResponse.decode(bytes), input)?.status;
      if (other !== undefined) assert.equal(notPlain(observedSandbox(other)), null);
      decoded((bytes) => ListContainersResponse.decode(bytes), input);
    },
    code: /\/cri\/generated\/|observed-from-cri|\/@bufbuild\//,
    words: ['ffffffffffffffffff01', 'ffffffff0f', '0a7f', '1200'].map((hex) => Buffer.from(hex, 'hex')),
    runs: 600,
  });
});

test('journals: a line is a record, or an error that names its place', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir);
  await feed(shard, 'u1', lifeOf(pod({}, 'u1')).slice(0, 12));
  shard.close();
  const lines = files(dir)[0]?.text.trimEnd().split('\n') ?? [];
  await guided({
    inputs: lines.map((line) => Buffer.from(line)),
    run: (input) => {
      const text = input.toString('utf8');
      const record = ours(() => parseLine({ file: '/j/x.jsonl', line: 3, text }), '/j/x.jsonl');
      assert.ok(record === undefined || typeof record.t === 'string');
    },
    code: /\/(?:actors|machines)\//,
    words: ['{"r":"', '"n":', 'null'],
    runs: 400,
  });
});

test('lines of container logs: whatever they are, they are read or refused', async () => {
  await guided({
    inputs: [
      '2024-01-02T03:04:05.123456789Z stdout F hello\n',
      '2024-01-02T03:04:05.1+01:00 stderr P part',
      '{"log":"hello\\n","stream":"stdout","time":"2024-01-02T03:04:05.123456789Z"}\n',
    ].map((line) => Buffer.from(line)),
    run: (input) => {
      const parse = parserFor(input, 0, input.length);
      const said = parse?.(input, 0, input.length, emptyLine());
      assert.ok(said === undefined || typeof said === 'string');
    },
    code: /\/container-logs\//,
    words: ['Z', '+00:00', 'stdout', 'F:P'],
    runs: 600,
  });
});

test('manifests and configuration: whatever the text is', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-guided-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'config.yaml');
  const config = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods: 5 };
  const small = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'x' },
    spec: { containers: [{ name: 'a', image: 'b' }] },
  };
  await guided({
    inputs: [stringify(small), JSON.stringify(small), stringify(wholePod()), stringify(config)].map((s) =>
      Buffer.from(s),
    ),
    run: (input) => {
      const text = input.toString('utf8');
      const { pods, errors } = parseManifest(text, { kind: 'file', location: '/m/x.yaml', nodeName: 'n' });
      for (const error of errors) assert.ok(error instanceof ActorletError && error.message.includes('/m/x.yaml'));
      for (const one of pods) assert.equal(notPlain(one), null);
      writeFileSync(path, input);
      ours(() => readConfigFile(path), path);
    },
    code: /\/(?:actors|machines)\/|\/node_modules\/yaml\//,
    words: ['!!map ', '!!set\n? ', '%YAML 1.1\n---\n', '? \n: ', '*a', '&a ', '|2-\n', '\r'],
    runs: 250,
  });
});
