import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { createLogger } from '../../../actors/record/logging/create-logger.ts';
import { callSpans } from '../../../actors/record/tracing/call-spans.ts';
import { openSpans } from '../../../actors/record/tracing/open-spans.ts';
import { freePorts } from '../../../bin/demo-steps/free-ports.ts';
import { startEmbeddedNode } from '../../../bin/library.ts';
import { createCriClient } from '../../../cri/client/cri-client.ts';
import { RuntimeServiceService, VersionResponse } from '../../../cri/generated/runtime/v1/api.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import { startCollector } from './collector.ts';

const log = createLogger({ format: 'text', verbosity: -1 }, { write: () => undefined });
const checkout = join(import.meta.dirname, '..', '..', '..');

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'tracing-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await pause(20);
}

test('a whole node: spans of a pod’s rounds with the calls in them, of requests, of PLEG, of the collectors', async (t) => {
  const folder = folderOf(t);
  const collector = await startCollector();
  t.after(() => collector.stop());
  const socket = join(folder, 'sim.sock');
  const runtime = await startSimulatedRuntime({ socket, seed: 1 });
  t.after(() => runtime.stop());
  const [readOnlyPort] = await freePorts(1);
  let state = '';
  let tell: (pods: object[]) => unknown = () => undefined;
  const node = await startEmbeddedNode({
    endpoint: `unix://${socket}`,
    rootDir: folder,
    containerLogsDir: join(folder, 'links'),
    configuration: {
      ...{
        address: '127.0.0.1',
        readOnlyPort,
        podLogsDir: join(folder, 'logs'),
        failCgroupV1: false,
        failSwapOn: false,
      },
      ...{ cgroupsPerQOS: false, enforceNodeAllocatable: ['none'] },
      tracing: { endpoint: collector.endpoint, samplingRatePerMillion: 1_000_000 },
    },
    flags: ['--hostname-override', 'traced', '--shards', '1', '--no-journal'],
    source: { name: 'test', start: (told) => void (tell = told) },
    onPod: (report) => void (state = report.state),
    log,
  });
  const pod = {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' } },
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image: 'registry.example/web:1' }] },
  };
  tell([pod]);
  await until(() => state === 'syncing.running');
  assert.equal((await fetch(`http://127.0.0.1:${readOnlyPort}/pods`)).status, 200);
  tell([]);
  await until(() => collector.spans.some(({ name }) => name === 'syncTerminatedPod'));
  await until(() => collector.spans.some(({ name }) => name === 'Images/GarbageCollect'));
  await node.stop();

  const named = (name: string) => collector.spans.filter((span) => span.name === name);
  const [create] = named('syncPod').filter((span) => span.attributes['k8s.pod.update_type'] === 'create');
  assert.ok(create !== undefined, [...new Set(collector.spans.map((span) => span.name))].join(', '));
  assert.deepEqual(create.resource, { 'service.name': 'kubelet', 'host.name': 'traced' });
  assert.equal(create.scope, 'k8s.io/kubernetes/pkg/kubelet');
  assert.deepEqual([create.kind, create.parentId], [1, '']);
  const { 'k8s.pod.uid': uid, ...told } = create.attributes;
  assert.match(String(uid), /^[0-9a-f-]{32,36}$/);
  assert.deepEqual(told, {
    'k8s.pod': 'shop/web-traced',
    'k8s.pod.name': 'web-traced',
    'k8s.namespace.name': 'shop',
    'k8s.pod.update_type': 'create',
  });
  assert.ok(named('syncTerminatingPod').length > 0);
  assert.equal(named('syncTerminatingPod')[0]?.attributes['k8s.pod.update_type'], undefined);

  const [run] = named('runtime.v1.RuntimeService/RunPodSandbox');
  assert.ok(run !== undefined);
  assert.equal(run.scope, 'go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc');
  assert.deepEqual([run.kind, run.status], [3, 0]);
  assert.deepEqual(run.attributes, {
    'rpc.system': 'grpc',
    'rpc.service': 'runtime.v1.RuntimeService',
    'rpc.method': 'RunPodSandbox',
    'rpc.grpc.status_code': 0,
  });
  assert.deepEqual(
    run.events.map(({ name, attributes }) => [name, attributes['message.type'], attributes['message.id']]),
    [
      ['message', 'SENT', 1],
      ['message', 'RECEIVED', 1],
    ],
  );
  const parent = collector.spans.find((span) => span.spanId === run.parentId);
  assert.equal(parent?.name, 'syncPod');
  assert.equal(parent?.traceId, run.traceId);
  assert.ok(parent !== undefined && parent.seconds >= run.seconds, 'a round lasts as long as the calls in it');
  const [list] = named('runtime.v1.RuntimeService/ListPodSandbox');
  assert.equal(list?.parentId, '', "PLEG's calls begin traces of their own");

  for (const [name, scope, calls] of [
    ['Containers/GarbageCollect', 'kuberuntime', ['ListContainers', 'ListPodSandbox']],
    ['Images/GarbageCollect', 'images', ['ListImages', 'ListContainers', 'ImageFsInfo']],
  ] as const) {
    const [pass] = named(name);
    assert.ok(pass !== undefined, name);
    assert.deepEqual(
      [pass.scope, pass.kind, pass.parentId, pass.attributes, pass.status],
      [`k8s.io/kubernetes/pkg/kubelet/${scope}`, 1, '', {}, 0],
    );
    const within = collector.spans.filter(({ parentId }) => parentId === pass.spanId).map((span) => span.name);
    for (const call of calls)
      assert.ok(
        within.some((one) => one.endsWith(`/${call}`)),
        `${name}: ${within.join(', ')}`,
      );
  }

  const [page] = named('/pods').concat(named('/pods/'));
  assert.ok(page !== undefined);
  assert.equal(page.kind, 2);
  const shown = ['http.method', 'http.scheme', 'net.host.name', 'http.status_code'].map((key) => page.attributes[key]);
  assert.deepEqual(shown, ['GET', 'http', 'kubelet', 200]);
});

test('the runtime gets the trace by the metadata; a failed call is an error', async (t) => {
  const socket = join(folderOf(t), 'cri.sock');
  const got: string[] = [];
  const server = new Server();
  server.addService(
    { version: RuntimeServiceService.version, removePodSandbox: RuntimeServiceService.removePodSandbox },
    {
      version: (
        call: { metadata: { get(name: string): unknown[] } },
        answer: (e: null, v: VersionResponse) => void,
      ) => {
        got.push(String(call.metadata.get('traceparent')[0]));
        answer(null, VersionResponse.fromPartial({ runtimeName: 'x', runtimeApiVersion: 'v1' }));
      },
      removePodSandbox: (_call: unknown, answer: (e: object) => void) =>
        answer({ code: 5, details: 'no such sandbox' }),
    },
  );
  await new Promise((resolve) => server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), resolve));
  t.after(() => server.forceShutdown());

  for (const rate of [1_000_000, 0]) {
    const collector = await startCollector();
    const options = { endpoint: collector.endpoint, samplingRatePerMillion: rate, hostName: 'n' };
    const spans = openSpans(options, log);
    const cri = createCriClient({ endpoint: `unix://${socket}`, hooks: { trace: callSpans(spans) } });
    const parent = spans.begin({ scope: 's', name: 'parent', kind: 'internal', attributes: {} });
    await parent.within(() => cri.runtime.version({}));
    await assert.rejects(cri.runtime.removePodSandbox({ podSandboxId: 'x' }));
    parent.end('it failed', true);
    cri.close();
    await spans.stop();
    collector.stop();
    if (rate === 0) {
      assert.deepEqual(collector.spans, []);
      assert.match(got[1] ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/, 'told not to sample');
      continue;
    }
    const [version] = collector.spans.filter(({ name }) => name === 'runtime.v1.RuntimeService/Version');
    const [outer] = collector.spans.filter(({ name }) => name === 'parent');
    assert.equal(got[0], `00-${version?.traceId}-${version?.spanId}-01`);
    assert.equal(version?.parentId, outer?.spanId);
    assert.deepEqual([outer?.status, outer?.message, outer?.events[0]?.name], [2, 'it failed', 'exception']);
    const [failed] = collector.spans.filter(({ name }) => name.endsWith('/RemovePodSandbox'));
    assert.deepEqual([failed?.status, failed?.message], [2, 'no such sandbox']);
    assert.equal(failed?.attributes['rpc.grpc.status_code'], 5);
  }
});

test('a collector that is not there holds nothing up', async () => {
  const warned: string[] = [];
  const told = createLogger({ format: 'text', verbosity: 0 }, { write: (line) => warned.push(line) });
  const [port] = await freePorts(1);
  const options = { endpoint: `127.0.0.1:${port}`, samplingRatePerMillion: 1_000_000, hostName: 'n' };
  const spans = openSpans(options, told);
  spans.begin({ scope: 's', name: 'lost', kind: 'internal', attributes: {} }).end();
  await spans.stop();
  assert.match(warned[0] ?? '', /^W.* "Tracing" err=".*(ECONNREFUSED|UNAVAILABLE|No connection)/, 'and it is told');
});

test('only the module that is loaded for tracing has its libraries', () => {
  const sources = globSync('{actors,bin,cri,machines}/**/*.ts', { cwd: checkout }).map((file) => ({
    file,
    text: readFileSync(join(checkout, file), 'utf8'),
  }));
  const using = sources.filter(({ text }) => /from '@opentelemetry\//.test(text)).map(({ file }) => file);
  assert.deepEqual(using, ['actors/record/tracing/open-spans.ts']);
  const loading = sources.filter(({ text }) => /^import .*open-spans/m.test(text)).map(({ file }) => file);
  assert.deepEqual(loading, [], 'by import() only');
});
