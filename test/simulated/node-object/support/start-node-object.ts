import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { createApiClient } from '../../../../actors/cluster/api/create-api-client.ts';
import { kubeletConfigurationSchema } from '../../../../actors/configure/configuration/kubelet-configuration.ts';
import type { JournalSettings } from '../../../../actors/record/journal/machine-journal.ts';
import type { RecordedEvent } from '../../../../machines/protocol/recorded-event.ts';
import { NodeObject } from '../../../../actors/cluster/node-object/node-object.ts';
import type { NodeObjectOptions } from '../../../../actors/cluster/node-object/node-object-options.ts';
import type { Node } from '../../../../machines/node-object/node-types.ts';
import { runtimeHealthOf } from '../../../../machines/node-object/ready-message.ts';
import type { RuntimeLook } from '../../../../machines/node-object/ready-message.ts';
import { startFakeApiServer } from '../../api/support/fake-api-server.ts';
import type { FakeApiServer } from '../../api/support/fake-api-server.ts';

/** Collections that a node object writes to. */
export const NODES = { group: '', version: 'v1', resource: 'nodes' };
export const LEASES = {
  group: 'coordination.k8s.io',
  version: 'v1',
  resource: 'leases',
  namespace: 'kube-node-lease',
};
export const CSI_NODES = { group: 'storage.k8s.io', version: 'v1', resource: 'csinodes' };

const condition = (type: string, status: boolean, reason: string) => ({ type, status, reason, message: 'm' });
/** What a runtime says that is well. */
export const WELL: RuntimeLook = {
  state: 'answered',
  conditions: [condition('RuntimeReady', true, ''), condition('NetworkReady', true, '')],
};
/** What a runtime without a network says. */
export const NO_NETWORK: RuntimeLook = {
  state: 'answered',
  conditions: [condition('RuntimeReady', true, ''), condition('NetworkReady', false, 'NetworkPluginNotReady')],
};

/** A node object at work on a fake API server, with a runtime that is what the test says. */
export interface StartedNodeObject {
  server: FakeApiServer;
  node: NodeObject;
  events: RecordedEvent[];
  runtime: { look: RuntimeLook; version: string; handlers: string[]; podCidrs: string[]; image: string };
  /** The stored object. */
  stored(): Node | undefined;
  ready(): string | undefined;
}

/** Makes one (`start` it); all ends with the test. */
export async function makeNodeObject(
  t: TestContext,
  given: Pick<NodeObjectOptions, 'now' | 'steady'> & {
    config?: object;
    nodeIPs?: string[];
    cloudProvider?: string;
    server?: FakeApiServer;
    journal?: JournalSettings;
  } = {},
): Promise<StartedNodeObject> {
  const rootDir = mkdtempSync(join(tmpdir(), 'node-object-'));
  const server = given.server ?? (await startFakeApiServer());
  const log = pino({ level: 'silent' });
  const api = createApiClient({ kubeconfig: server.kubeconfigPath, userAgent: 'test', log });
  const runtime = { look: WELL, version: '1.6.20', handlers: ['runc'], podCidrs: [] as string[], image: 'a:1' };
  const events: RecordedEvent[] = [];
  const answers = {
    runtime: {
      version: () => Promise.resolve({ runtimeName: 'containerd', runtimeVersion: runtime.version }),
      status: () => Promise.resolve({ runtimeHandlers: runtime.handlers.map((name) => ({ name })) }),
      updateRuntimeConfig: ({ runtimeConfig }: { runtimeConfig: { networkConfig: { podCidr: string } } }) => {
        runtime.podCidrs.push(runtimeConfig.networkConfig.podCidr);
        return Promise.resolve({});
      },
    },
    image: {
      listImages: () =>
        Promise.resolve({ images: [{ id: 'i', repoTags: [runtime.image], repoDigests: [], size: '7' }] }),
    },
  };
  const config = kubeletConfigurationSchema.parse({ nodeStatusUpdateFrequency: '1s', ...given.config });
  const flags = {
    rootDir,
    nodeIPs: given.nodeIPs ?? [],
    nodeLabels: { mine: 'yes' },
    cloudProvider: given.cloudProvider ?? '',
  } as unknown as NodeObjectOptions['flags'];
  const node = new NodeObject({
    api,
    config,
    flags,
    cri: answers as unknown as NodeObjectOptions['cri'],
    events: { record: (event) => events.push(event) },
    log,
    settings: { nodeName: 'node1', runtimeName: 'containerd', cgroupVersion: 2 },
    runtimeState: () => runtimeHealthOf(runtime.look),
    plegError: () => null,
    ...(given.now && { now: given.now }),
    ...(given.steady && { steady: given.steady }),
    journal: given.journal,
  });
  t.after(async () => {
    await node.stop();
    api.close();
    if (given.server === undefined) await server.close();
    rmSync(rootDir, { recursive: true, force: true });
  });
  const stored = () => server.get(NODES, 'node1') as unknown as Node | undefined;
  const ready = () => stored()?.status?.conditions?.find((c) => c.type === 'Ready')?.status;
  return { server, node, events, runtime, stored, ready };
}
