/** FlexVolume drivers by their program: what is called, what is made of the answers, kubelet's words. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { FlexDrivers } from '../../../actors/resources/flex/flex-drivers.ts';
import type { PublishCall, VolumePlugin, VolumeSpec } from '../../../actors/resources/volumes/volume-plugin.ts';
import { readMounts } from '../../../actors/host/files/mountinfo.ts';
import type { ObjectContent } from '../../../machines/protocol/ask.ts';
import type { PersistentVolume } from '../../../machines/protocol/storage-types.ts';
import { FolderDriver } from '../../tools/flex-driver/folder-driver.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { withRoot } from './with-root.ts';

const skip = process.getuid?.() !== 0;
const signal = new AbortController().signal;
const pod = {
  metadata: { name: 'p', namespace: 'ns', uid: 'u' },
  spec: { serviceAccountName: 'clerk', containers: [] },
};

function inline(more: object = {}): VolumeSpec {
  const flexVolume = { driver: 'example.com/folder', options: { folder: 'one' }, ...more };
  const volume = { name: 'v', flexVolume };
  return { name: 'v', pv: null, claim: null, volume, readOnly: false, mode: 'Filesystem' };
}

function ofPv(more: object = {}): VolumeSpec {
  const flexVolume = { driver: 'example.com/folder', fsType: 'ext4', options: { folder: 'two' }, ...more };
  const pv = { metadata: { name: 'pv-1' }, spec: { flexVolume } } as PersistentVolume;
  return { ...inline(), name: 'pv-1', pv, volume: { name: 'v' } };
}

interface Bench {
  root: string;
  driver: FolderDriver;
  drivers: FlexDrivers;
  path: string;
  plugin: (spec?: VolumeSpec) => Promise<VolumePlugin>;
  publish: (spec: VolumeSpec, more?: Partial<PublishCall>) => Promise<string>;
  secrets: Map<string, ObjectContent>;
}

async function withDriver(use: (bench: Bench) => Promise<void>): Promise<void> {
  await withRoot(async ({ root, settings: { rootDir } }) => {
    const pluginDir = join(root, 'drivers');
    const driver = new FolderDriver(pluginDir, 'example.com', 'folder');
    const secrets = new Map<string, ObjectContent>();
    const secret = (namespace: string, name: string): Promise<ObjectContent> => {
      const found = secrets.get(`${namespace}/${name}`);
      return found ? Promise.resolve(found) : Promise.reject(new Error(`secrets "${name}" not found`));
    };
    const drivers = new FlexDrivers({ rootDir, pluginDir, secret, log: pino({ level: 'silent' }) });
    const path = join(rootDir, 'pods/u/volumes/example.com~folder/v');
    const plugin = async (spec = inline()): Promise<VolumePlugin> => {
      const found = await drivers.pluginFor(spec);
      assert.ok(found !== null, 'no plugin');
      return found;
    };
    const publish = async (spec: VolumeSpec, more: Partial<PublishCall> = {}): Promise<string> => {
      const its = await plugin(spec);
      const call = {
        spec,
        pod,
        path,
        devicePath: '',
        stagedPath: '',
        again: false,
        signal,
        ownership: { podUid: 'u' },
      };
      return its.publish({ ...call, ...more });
    };
    await use({ root, driver, drivers, path, plugin, publish, secrets });
  });
}

const leave = { podUid: 'u', name: 'v', mode: 'Filesystem' as const, signal };
const mountsAt = async (path: string): Promise<number> =>
  (await readMounts()).filter(({ mountPoint }) => mountPoint === path).length;
const words = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'it worked',
    (error: unknown) => (error as Error).message,
  );

test(
  'a volume is mounted once with what the driver is to know, given to the group, measured, and unmounted',
  { skip },
  async () => {
    await withDriver(async ({ driver, drivers, path, plugin, publish }) => {
      const its = await plugin();
      assert.deepEqual(
        [its.name, await its.attachable(inline()), await its.stages?.(inline())],
        ['example.com/folder', false, false],
      );
      assert.equal(await publish(inline(), { fsGroup: 4321 }), path);
      await publish(inline(), { fsGroup: 4321 });
      assert.equal(await mountsAt(path), 1);
      const [, options = ''] = driver.calls.find((line) => line.startsWith('mount '))?.split(`${path} `) ?? [];
      assert.equal(
        options,
        '{"folder":"one","kubernetes.io/fsType":"","kubernetes.io/mounterArgs.FsGroup":"4321","kubernetes.io/pod.name":"p","kubernetes.io/pod.namespace":"ns","kubernetes.io/pod.uid":"u","kubernetes.io/pvOrVolumeName":"v","kubernetes.io/readwrite":"rw","kubernetes.io/serviceAccount.name":"clerk"}',
      );
      assert.equal(statSync(path).gid, 4321);
      writeFileSync(join(path, 'file'), 'kept');
      assert.ok(((await its.usage?.({ spec: inline(), path, signal }))?.capacityBytes ?? 0) > 0);
      assert.deepEqual(
        (await drivers.all()).map(({ name }) => name),
        ['example.com/folder'],
      );
      await its.unpublish({ ...leave, path });
      await its.unpublish({ ...leave, path });
      assert.equal(existsSync(path), false);
      assert.equal(readFileSync(join(driver.volume('one'), 'file'), 'utf8'), 'kept');
      assert.deepEqual(driver.did, ['init', 'mount', 'unmount']);
    });
  },
);

test('secrets: of the driver’s type, as base64, of the PV’s namespace', { skip }, async () => {
  await withDriver(async ({ driver, path, plugin, publish, secrets }) => {
    secrets.set('other/key', { type: 'example.com/folder', data: { user: 'äh' }, binaryData: { bytes: '/w==' } });
    const spec = ofPv({ secretRef: { name: 'key', namespace: 'other' } });
    await publish({ ...spec, readOnly: true });
    const line = driver.calls.find((each) => each.startsWith('mount ')) ?? '';
    assert.match(
      line,
      /"kubernetes.io\/readwrite":"ro","kubernetes.io\/secret\/bytes":"\/w==","kubernetes.io\/secret\/user":"w6Ro"/,
    );
    assert.match(line, /"kubernetes.io\/fsType":"ext4".*"kubernetes.io\/pvOrVolumeName":"pv-1"/);
    await (await plugin()).unpublish({ ...leave, path });
    const mine = ofPv({ secretRef: { name: 'key' } });
    assert.equal(await words(publish(mine)), 'couldn\'t get secret ns/key err: secrets "key" not found');
    secrets.set('ns/key', { type: 'Opaque', data: {}, binaryData: {} });
    assert.equal(
      await words(publish(mine)),
      "couldn't get secret ns/key err: cannot get secret of type example.com/folder",
    );
    assert.equal(existsSync(path), false);
  });
});

test('what a driver prints, in kubelet’s words', { skip }, async () => {
  await withDriver(async ({ driver, drivers, path, publish }) => {
    const cases: [text: string, exit: number, says: string][] = [
      [
        '{"status":"Failure","message":"no such disk"}',
        1,
        'mount command failed, status: Failure, reason: no such disk',
      ],
      ['{"status":"Failure"}', 0, 'mount command failed, status: Failure, reason: '],
      ['', 1, 'unexpected end of JSON input'],
      ['oops: not found', 127, "invalid character 'o' looking for beginning of value"],
      ['{"status":"Success"}\nand more', 0, "invalid character 'a' after top-level value"],
      ['{"status":"Success"}', 3, 'exit status 3'],
      ['{"status":7}', 0, 'json: cannot unmarshal number into Go struct field DriverStatus.status of type string'],
      ['[]', 0, 'json: cannot unmarshal array into Go value of type flexvolume.DriverStatus'],
    ];
    for (const [text, exit, says] of cases) {
      driver.answer('mount', text, exit);
      assert.equal(await words(publish(inline())), says, text);
      assert.equal(existsSync(path), false, text);
    }
    driver.remove();
    assert.equal(await drivers.pluginFor(inline()), null);
    assert.deepEqual(await drivers.all(), []);
  });
});

test(
  'a driver that does not begin is none, until it is put right; one that comes or is replaced is found',
  { skip },
  async () => {
    await withDriver(async ({ root, driver, drivers }) => {
      const other: VolumeSpec = inline({ driver: 'late' });
      assert.equal(await drivers.pluginFor(other), null);
      driver.answer('init', '{"status":"Failure"}', 1);
      assert.equal(await drivers.pluginFor(inline()), null);
      driver.answer('init', null);
      assert.notEqual(await drivers.pluginFor(inline()), null);
      // One without a vendor lies in a folder of its own name.
      const folder = join(root, 'drivers/late');
      mkdirSync(folder);
      writeFileSync(
        join(folder, 'late'),
        '#!/bin/sh\necho "{\\"status\\":\\"Success\\",\\"Capabilities\\":{\\"ATTACH\\":false}}"\n',
        { mode: 0o755 },
      );
      const late = await drivers.pluginFor(other);
      assert.deepEqual([late?.name, await late?.attachable(other)], ['late', false]);
      const before = await drivers.pluginFor(inline());
      driver.remove();
      new FolderDriver(join(root, 'drivers'), 'example.com', 'folder');
      assert.notEqual(await drivers.pluginFor(inline()), before);
    });
  },
);

test('a call that hangs is ended when it is given up, and counts as one that may have worked', { skip }, async () => {
  await withDriver(async ({ driver, publish }) => {
    driver.hang('mount', true);
    const control = new AbortController();
    const call = publish(inline(), { signal: control.signal });
    call.catch(() => undefined);
    await waitFor('the call', () => Promise.resolve(driver.did.includes('mount') || undefined));
    control.abort();
    await assert.rejects(call, { code: 'FlexVolume', message: 'signal: killed', done: false });
  });
});

test(
  'an attached device: waited for, made ready once, bound to the pod by the agent where the driver does not',
  { skip },
  async () => {
    await withDriver(async ({ driver, root, path, plugin, publish }) => {
      driver.answer('init', '{"status":"Success"}');
      driver.answer('waitforattach', '{"status":"Success","device":"/dev/x"}');
      driver.answer('mount', '{"status":"Not supported"}', 1);
      driver.answer('unmount', '{"status":"Not supported"}', 1);
      const its = await plugin();
      const spec = inline();
      assert.deepEqual(
        [await its.attachable(spec), await its.stages?.(spec), await its.deviceName(spec, pod)],
        [true, true, 'v'],
      );
      assert.equal(await its.waitForAttach?.({ spec, devicePath: '/dev/y', signal }), '/dev/x');
      driver.answer('mountdevice', '{"status":"Success"}');
      const stagedPath = (await its.stage?.({ spec, pod, devicePath: '/dev/x', signal })) ?? '';
      assert.equal(stagedPath, join(root, 'kubelet/plugins/kubernetes.io/flexvolume/example.com/folder/mounts/v'));
      assert.ok(driver.calls.some((line) => line.startsWith(`mountdevice ${stagedPath} /dev/x {`)));
      writeFileSync(join(stagedPath, 'file'), 'x');
      await publish(spec, { stagedPath });
      assert.equal(readFileSync(join(path, 'file'), 'utf8'), 'x');
      assert.deepEqual(await its.publishedOnDisk?.({ ...leave, path }), { deviceName: 'v', attachable: true });
      const staged = await its.stagedOnDisk?.();
      assert.deepEqual(staged, [{ deviceName: 'v', name: 'v', mode: 'Filesystem', stagedPath, attachable: true }]);
      await its.unpublish({ ...leave, path });
      assert.equal(await mountsAt(path), 0);
      // What was called once and is not there is not called again.
      assert.equal(driver.did.filter((call) => call === 'mount').length, 1);
    });
  },
);
