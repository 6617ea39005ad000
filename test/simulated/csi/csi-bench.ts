import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { CsiObjects } from '../../../actors/cluster/csi/csi-objects.ts';
import { TokenManager } from '../../../actors/cluster/objects/token-manager.ts';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { CsiDrivers } from '../../../actors/resources/csi/csi-drivers.ts';
import { attachmentName } from '../../../actors/resources/csi/csi-names.ts';
import { CsiVolumes } from '../../../actors/resources/csi/csi-volumes.ts';
import type { CsiCallReport } from '../../../actors/resources/csi/node-client.ts';
import { PluginManager } from '../../../actors/resources/plugins/plugin-manager.ts';
import type { PublishCall, VolumeSpec } from '../../../actors/resources/volumes/volume-plugin.ts';
import type { NodeMarks } from '../../../machines/csi/node-drivers.ts';
import type { CsiNode } from '../../../machines/node-object/csi-node.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PersistentVolume } from '../../../machines/protocol/storage-types.ts';
import { CsiDriver } from '../../tools/csi-driver/csi-driver.ts';
import type { CsiDriverOptions } from '../../tools/csi-driver/csi-driver.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { apiBench } from '../objects/objects-bench.ts';

export const STORAGE = { group: 'storage.k8s.io', version: 'v1' };
export const DRIVERS = { ...STORAGE, resource: 'csidrivers' };
export const NODES = { group: '', version: 'v1', resource: 'nodes' };
export const NAME = 'csi.example.com';
const ATTACHMENTS = { ...STORAGE, resource: 'volumeattachments' };

/** A pod that volumes are for. */
export const POD: Pod = {
  metadata: { name: 'web', namespace: 'shop', uid: 'pod-uid-1' },
  spec: { containers: [{ name: 'c' }], serviceAccountName: 'shopkeeper' },
};

/** The node's side of CSI over real sockets, a fake API server, and drivers in this process. */
export async function csiBench(t: TestContext, { timeoutMs, journal }: { timeoutMs?: number; journal?: true } = {}) {
  const api = await apiBench(t);
  const { server, log, logged } = api;
  const rootDir = mkdtempSync(join(tmpdir(), 'csi-'));
  const registry = join(rootDir, 'plugins_registry');
  mkdirSync(registry, { recursive: true });
  server.put(NODES, { metadata: { name: 'node1', labels: { here: 'yes' } }, spec: {}, status: {} });
  const tokens = new TokenManager({ api: api.api, log });
  const objects = new CsiObjects({ api: api.api, tokens, nodeName: 'node1', log });
  const reports: CsiCallReport[] = [];
  const journalDir = join(rootDir, 'journal');
  const drivers = new CsiDrivers({
    ...{ api: () => objects, clock: machineClock, log, refreshes: true, onCall: (report) => reports.push(report) },
    ...(journal && { journal: { dir: journalDir, agent: 'test', maxBytes: 1 << 20, log } }),
  });
  const plugins = new PluginManager({
    ...{ folder: registry, handlers: new Map([['CSIPlugin', drivers]]), clock: machineClock, log },
  });
  const ground = { rootDir, nodeName: 'node1', drivers, api: () => objects, log, volumeHealth: true };
  const volumes = new CsiVolumes({ ...ground, ...(timeoutMs !== undefined && { timeoutMs }) });
  const made: CsiDriver[] = [];
  await plugins.start();
  t.after(async () => {
    for (const driver of made) driver.stop();
    await plugins.stop();
    drivers.stop();
    objects.stop();
    tokens.close();
    rmSync(rootDir, { recursive: true, force: true });
  });
  const signal = new AbortController().signal;
  const b = {
    ...{ server, logged, rootDir, registry, drivers, volumes, reports, journalDir, signal, ground },
    /** A driver with its sockets; it is not started. */
    driver(options: Partial<CsiDriverOptions> = {}): CsiDriver {
      const driver = new CsiDriver({
        ...{ name: NAME, socket: join(rootDir, 'csi.sock'), registration: join(registry, `${NAME}-reg.sock`) },
        dir: join(rootDir, 'disks'),
        ...options,
        traits: { anyVolume: true, ...options.traits },
      });
      made.push(driver);
      return driver;
    },
    /** Starts it, and waits until the node says that it is registered. */
    async comes(driver: CsiDriver): Promise<void> {
      const before = driver.told.length;
      await driver.start();
      await waitFor('its registration', () => driver.told.slice(before).find((told) => told.pluginRegistered));
    },
    csiDriver(spec: object = {}): void {
      const usual = { attachRequired: false, fsGroupPolicy: 'File', volumeLifecycleModes: ['Persistent', 'Ephemeral'] };
      server.put(DRIVERS, { metadata: { name: NAME }, spec: { ...usual, ...spec } });
    },
    csiNode: (): CsiNode | undefined =>
      server.get({ ...STORAGE, resource: 'csinodes' }, 'node1') as CsiNode | undefined,
    marks: () => {
      const { annotations, labels } = (server.get(NODES, 'node1')?.metadata ?? {}) as NodeMarks & object;
      return { labels, nodeIds: annotations?.['csi.volume.kubernetes.io/nodeid'] };
    },
    nodeUid: () => server.get(NODES, 'node1')?.metadata.uid,
    attach(handle: string, status: object, metadata: object = {}): string {
      const name = attachmentName(handle, NAME, 'node1');
      server.put(ATTACHMENTS, { metadata: { name, ...metadata }, spec: {}, status });
      return name;
    },
    spec: (pv: PersistentVolume, mode: VolumeSpec['mode'] = 'Filesystem'): VolumeSpec => ({
      ...{ name: pv.metadata?.name ?? '', pv, claim: null, readOnly: false, mode },
      volume: { name: 'data', persistentVolumeClaim: { claimName: 'c' } },
    }),
    publishing: (spec: VolumeSpec, more: Partial<PublishCall> = {}): PublishCall => ({
      ...{ signal, spec, pod: POD, devicePath: '', stagedPath: '', again: false, ownership: { podUid: 'u' } },
      path: pathOf(rootDir, spec),
      ...more,
    }),
    unpublishing: (spec: VolumeSpec) => ({
      ...{ signal, podUid: POD.metadata?.uid ?? '', name: spec.name, mode: spec.mode, path: pathOf(rootDir, spec) },
    }),
    journalText: () => readFileSync(join(journalDir, 'csi', 'csi-00000001.jsonl'), 'utf8'),
  };
  return b;
}

function pathOf(rootDir: string, spec: VolumeSpec): string {
  const folder = spec.mode === 'Block' ? 'volumeDevices' : 'volumes';
  return join(rootDir, 'pods', POD.metadata?.uid ?? '', folder, 'kubernetes.io~csi', spec.name);
}

/** A PV of the driver. */
export function volume(more: object = {}, csi: object = {}): PersistentVolume {
  return {
    metadata: { name: 'pv-1' },
    spec: {
      csi: { driver: NAME, volumeHandle: 'disk^1', fsType: 'ext4', volumeAttributes: { size: 'big' }, ...csi },
      accessModes: ['ReadWriteOnce'],
      ...more,
    },
  } as PersistentVolume;
}
