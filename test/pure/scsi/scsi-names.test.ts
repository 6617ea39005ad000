/** Kubelet's names of disks of storage networks, there and back; what open-iscsi's interfaces say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceOfDisk, diskOfFolder, fcFolder, fcSource, isLunLink } from '../../../machines/scsi/fc-source.ts';
import { ifaceSettings, transportOf } from '../../../machines/scsi/iface-record.ts';
import { iscsiFileText, readIscsiFile } from '../../../machines/scsi/iscsi-file.ts';
import { deviceOfPlace, iscsiFolder, isCardLink, linkName, placeOfFolder } from '../../../machines/scsi/iscsi-names.ts';
import { iscsiDeviceName, iscsiSource } from '../../../machines/scsi/iscsi-source.ts';
import type { PersistentVolume } from '../../../machines/protocol/storage-types.ts';

const iqn = 'iqn.2017-05.com.example:test-lun-7-x';

test('an iSCSI volume, inline and of a PV', () => {
  const iscsi = { targetPortal: '10.0.0.1', iqn, lun: 3, portals: ['10.0.0.2:3261', '[fd00::1]:3260'] };
  const inline = iscsiSource({
    name: 'v',
    pv: null,
    volume: { name: 'v', iscsi: { ...iscsi, secretRef: { name: 's' } } },
  });
  assert.deepEqual(inline, {
    ...{ targetPortal: '10.0.0.1', iqn, lun: 3, fsType: '', initiatorName: '', initIface: 'default', iface: 'default' },
    portals: ['10.0.0.1:3260', '10.0.0.2:3261', '[fd00::1]:3260'],
    ...{ chapDiscovery: false, chapSession: false, secret: { name: 's', namespace: '' } },
  });
  // Kubelet's name has the portal as it is spelled.
  assert.equal(iscsiDeviceName(inline), `10.0.0.1:${iqn}:3`);
  const spec = {
    iscsi: { ...iscsi, initiatorName: 'iqn.me', iscsiInterface: 'card', secretRef: { name: 's', namespace: 'n' } },
  };
  const source = iscsiSource({ name: 'pv', pv: { spec } as unknown as PersistentVolume, volume: { name: 'v', iscsi } });
  assert.deepEqual(
    [source?.iface, source?.initIface, source?.secret],
    ['10.0.0.1:3260:pv', 'card', { name: 's', namespace: 'n' }],
  );
  assert.equal(iscsiSource({ name: 'pv', pv: { spec: {} } as PersistentVolume, volume: { name: 'v', iscsi } }), null);
});

test('folders of iSCSI volumes are read back, also of portals with dashes', () => {
  for (const portal of ['10.0.0.1:3260', '[fd00::1]:3260', 'disks-1.example.com:3260'])
    for (const name of [iqn, 'eui.02004567A425678D', 'naa.52004567BA64678D']) {
      const place = { portal, iqn: name, lun: 12 };
      assert.deepEqual(placeOfFolder(iscsiFolder(place)), place);
      assert.equal(deviceOfPlace(place), `${portal}:${name}:12`);
    }
  for (const folder of ['', 'x', '-lun-1', '-iqn.x-lun-1', 'p-iqn.x-lun-', 'p-iqn.x-lun-x', 'p-iqn.x', 'p-lun-1-iqn.x'])
    assert.ok((placeOfFolder(folder)?.lun ?? 0) === 0, folder);
});

test('udev’s links to LUNs', () => {
  const place = { portal: '[fd00::1]:3260', iqn: 'iqn.x', lun: 1 };
  assert.equal(linkName('tcp', place), 'ip-fd00::1:3260-iscsi-iqn.x-lun-1');
  const ending = linkName('bnx2i', place);
  assert.equal(isCardLink(`pci-0000:03:00.0${ending}`, ending), true);
  assert.equal(isCardLink(`pci-0000:03:00.0${ending}0`, ending), false);
  assert.equal(isCardLink(ending.slice(1), ending), false);
  assert.equal(isLunLink('fc-0x50-lun-1', '50', 1), true);
  assert.equal(isLunLink('pci-0000:03:00.0-fc-0x50-lun-1', '50', 1), true);
  for (const link of ['xfc-0x50-lun-1', 'pci-fc-0x50-lun-1', 'fc-0x50-lun-10', 'fc-0x050-lun-1', 'fc-0x50-lun-1-part1'])
    assert.equal(isLunLink(link, '50', 1), false, link);
});

test('iscsi.json as kubelet writes it; one that is none', () => {
  const volume = { name: 'v', iscsi: { targetPortal: '10.0.0.1', iqn, lun: 3, portals: ['10.0.0.1'] } };
  const source = iscsiSource({ name: 'v', pv: null, volume });
  assert.ok(source);
  const text = iscsiFileText(source, 'v<&>');
  assert.match(
    text,
    /^\{"VolName":"v\\u003c\\u0026\\u003e","Portals":\["10\.0\.0\.1:3260","10\.0\.0\.1:3260"\],.*"Lun":"3".*null\}\n$/,
  );
  assert.deepEqual(readIscsiFile(text), {
    ...{ volName: 'v<&>', portals: ['10.0.0.1:3260'], iqn, lun: 3 },
    ...{ initIface: 'default', iface: 'default', initiatorName: '' },
  });
  for (const odd of ['', '[]', '{}', '{"Lun":"x"}', '{"Lun":3}', 'null']) assert.equal(readIscsiFile(odd), null, odd);
});

test('what an interface says', () => {
  const shown =
    '# BEGIN RECORD 2.1\niface.iscsi_ifacename = default\niface.net_ifacename = <empty>\niface.transport_name = tcp\niface.hwaddress = 00:1\n# END RECORD\n';
  assert.equal(transportOf(shown), 'tcp');
  assert.equal(transportOf('iface.transport_name = <empty>\n'), 'tcp');
  assert.equal(transportOf('iface.transport_name = iser\n'), 'iser');
  assert.equal(transportOf('iface.transport_name = tcp'), '');
  assert.deepEqual(ifaceSettings(shown), [
    ['iface.hwaddress', '00:1'],
    ['iface.transport_name', 'tcp'],
  ]);
  assert.throws(() => ifaceSettings('iface.mtu =\n'), { message: 'error: invalid iface setting: [iface.mtu =]' });
});

test('disks of Fibre Channel by targets and by identifiers', () => {
  const of = (fc: object) => fcSource({ pv: null, volume: { name: 'v', fc } as never });
  const cases: [fc: object, device: string, folder: string][] = [
    [{ targetWWNs: ['50', '51'], lun: 0 }, '[50 51]:0', '50-51-lun-0'],
    [{ targetWWNs: ['50'], lun: 3, wwids: ['36'] }, '[50]:3', '50-lun-3'],
    [{ targetWWNs: ['50'], wwids: ['36', 'VENDOR 1'] }, '[36 VENDOR 1]', '36-VENDOR_1'],
  ];
  for (const [fc, deviceName, folder] of cases) {
    const found = of(fc);
    assert.ok(found?.disk);
    assert.deepEqual([found.deviceName, fcFolder(found.disk)], [deviceName, folder]);
    assert.deepEqual(diskOfFolder(folder), found.disk);
    assert.equal(deviceOfDisk(found.disk), deviceName.replace('VENDOR 1', 'VENDOR_1'));
  }
  assert.deepEqual(of({ targetWWNs: ['50'] }), { disk: null, deviceName: '', fsType: '' });
  assert.deepEqual([diskOfFolder('lun-1'), diskOfFolder('50-lun-x'), diskOfFolder('50-lun-')], [null, null, null]);
  assert.equal(fcSource({ pv: null, volume: { name: 'v' } }), null);
});
