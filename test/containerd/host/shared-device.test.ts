/** What is mounted once for all pods is not taken away while it is mounted elsewhere, too: kubelet's GetDeviceMountRefs check. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { mount, mountOn, mountsRest, unmount } from '../../../actors/host/files/mounts.ts';
import { stagingPath } from '../../../actors/resources/csi/csi-names.ts';
import { CsiVolumes } from '../../../actors/resources/csi/csi-volumes.ts';
import type { FlexDriver } from '../../../actors/resources/flex/flex-driver.ts';
import { flexPlugin } from '../../../actors/resources/flex/flex-plugin.ts';
import { localPlugin } from '../../../actors/resources/volumes/plugins/local.ts';
import type { UnstageCall } from '../../../actors/resources/volumes/volume-plugin.ts';
import { withRoot } from './with-root.ts';

const skip = process.getuid?.() !== 0;
const log = pino({ level: 'silent' });
const { signal } = new AbortController();

/** A file system at `path`, and bound to a pod's folder, which is answered. */
async function shared(path: string, root: string): Promise<string> {
  const inPod = join(root, 'in-pod');
  for (const folder of [path, inPod]) mkdirSync(folder, { recursive: true });
  await mount('none', path, 'tmpfs', []);
  await mount(path, inPod, '', ['bind']);
  return inPod;
}

const inUse = (path: string, by: string) => ({
  message: `the device mount path "${path}" is still mounted by other references [${by}]`,
  what: 'GetDeviceMountRefs check failed',
});

test('a CSI driver is not asked to unstage it', { skip }, async (t) => {
  t.after(mountsRest);
  await withRoot(async ({ settings: { rootDir }, root }) => {
    const stagedPath = stagingPath(rootDir, 'csi.example.com', 'disk');
    const inPod = await shared(stagedPath, root);
    writeFileSync(
      join(dirname(stagedPath), 'vol_data.json'),
      '{"driverName":"csi.example.com","volumeHandle":"disk"}\n',
    );
    const drivers = { client: () => Promise.reject(new Error('asked')), refreshes: false, askAgain: () => undefined };
    const volumes = new CsiVolumes({
      ...{ rootDir, nodeName: 'n', drivers, api: () => null, log, volumeHealth: false },
    });
    const call: UnstageCall = { deviceName: '', name: '', mode: 'Filesystem', stagedPath, signal };
    await assert.rejects(volumes.unstage(call), inUse(stagedPath, inPod));
    await unmount(inPod);
    // A share of the network that another volume of the node has, too, holds up neither.
    const other = stagingPath(rootDir, 'csi.example.com', 'the same');
    mkdirSync(other, { recursive: true });
    await mount(stagedPath, other, '', ['bind']);
    await assert.rejects(volumes.unstage(call), /asked$/);
  });
});

test('a FlexVolume driver is not asked to unmount its device', { skip }, async (t) => {
  t.after(mountsRest);
  await withRoot(async ({ settings: { rootDir }, root }) => {
    const stagedPath = join(rootDir, 'plugins/kubernetes.io/flexvolume/example.com/d/mounts/pv');
    const inPod = await shared(stagedPath, root);
    const driver = { call: () => Promise.reject(new Error('asked')) } as unknown as FlexDriver;
    const secret = () => Promise.reject(new Error('none'));
    const flex = flexPlugin('example.com/d', driver, { rootDir, pluginDir: root, secret, log });
    const call: UnstageCall = { deviceName: 'pv', name: 'pv', mode: 'Filesystem', stagedPath, signal };
    await assert.rejects(flex.unstage?.(call) ?? Promise.resolve(), inUse(stagedPath, inPod));
    await unmount(inPod);
    await assert.rejects(flex.unstage?.(call) ?? Promise.resolve(), /asked$/);
  });
});

test('a local disk stays mounted', { skip }, async (t) => {
  t.after(mountsRest);
  await withRoot(async ({ settings: { rootDir }, root }) => {
    const stagedPath = join(rootDir, 'plugins/kubernetes.io/local-volume/mounts/pv');
    const inPod = await shared(stagedPath, root);
    const local = localPlugin({ rootDir, log, warn: () => undefined });
    const call: UnstageCall = { deviceName: 'pv', name: 'pv', mode: 'Filesystem', stagedPath, signal };
    await assert.rejects(local.unstage?.(call) ?? Promise.resolve(), inUse(stagedPath, inPod));
    assert.equal((await mountOn(stagedPath))?.fsType, 'tmpfs');
    await unmount(inPod);
    await local.unstage?.(call);
    assert.equal(existsSync(stagedPath), false);
  });
});
