import type { Volume } from '../protocol/api-types.ts';
import type { PersistentVolume } from '../protocol/storage-types.ts';
import { ebsVolumeId } from './ebs-volume-id.ts';
import { regionalAffinity, zonalAffinity, zonesLabel, ZONES_APART } from './migration-topology.ts';

type PvSpec = NonNullable<PersistentVolume['spec']>;
type Csi = NonNullable<PvSpec['csi']>;

/** Where a source stands: in a PV, or inline in a pod of this namespace. */
type Place = { pv: PersistentVolume } | { volume: Volume; namespace: string };

/** What a source of a cloud is to its CSI driver. */
interface Moved {
  csi: Csi;
  /** Of an inline volume: it must be another one for each disk, since staging paths are made of it. */
  name: string;
  accessModes?: string[] | undefined;
  nodeAffinity?: PvSpec['nodeAffinity'];
}

/** A kind of volume that a CSI driver has taken over; null: the volume is not of this kind. */
type Mover = (place: Place) => Moved | null;

/** Fields of both `v1.Volume` and the spec of a PV whose volumes CSI drivers have taken over. */
const MOVERS: { [Field in keyof PvSpec & keyof Volume]?: Mover } = {
  awsElasticBlockStore: ebs,
  azureDisk,
  azureFile,
  cinder,
  gcePersistentDisk: gce,
  portworxVolume: portworx,
  vsphereVolume: vsphere,
};

/**
 * A volume of a cloud as the CSI volume that it has become (`csi-translation-lib`); null when it is of another kind. An inline one becomes a
 * PV that no API server has. Throws in kubelet's words when it cannot be one.
 */
export function migratedVolume(place: Place): PersistentVolume | null {
  for (const [field, move] of Object.entries(MOVERS)) {
    let moved: Moved | null;
    try {
      moved = move(place);
    } catch (error) {
      throw new Error(`failed to translate in-tree pv to CSI: ${(error as Error).message}`, { cause: error });
    }
    if (moved === null) continue;
    const { csi, name, accessModes, nodeAffinity } = moved;
    if ('volume' in place)
      return { metadata: { name }, spec: { csi, volumeMode: 'Filesystem', ...(accessModes && { accessModes }) } };
    const { [field as keyof PvSpec]: _, ...spec } = place.pv.spec ?? {};
    return {
      ...place.pv,
      spec: { ...spec, csi, ...(accessModes && { accessModes }), ...(nodeAffinity && { nodeAffinity }) },
    };
  }
  return null;
}

function ebs(place: Place): Moved | null {
  const source = 'pv' in place ? place.pv.spec?.awsElasticBlockStore : place.volume.awsElasticBlockStore;
  if (source === undefined) return null;
  const driver = 'ebs.csi.aws.com';
  const handle = named('failed to translate Kubernetes ID to EBS Volume ID', () => ebsVolumeId(source.volumeID));
  const volumeAttributes = { partition: String(source.partition ?? 0) };
  return {
    ...{ csi: csiOf(driver, handle, source, volumeAttributes), name: `${driver}-${handle}` },
    ...zonal(place, `topology.${driver}/zone`),
  };
}

function gce(place: Place): Moved | null {
  const source = 'pv' in place ? place.pv.spec?.gcePersistentDisk : place.volume.gcePersistentDisk;
  if (source === undefined) return null;
  const driver = 'pd.csi.storage.gke.io';
  const { pdName, partition = 0, readOnly } = source;
  const zone = 'pv' in place ? gceZone(place.pv) : 'zones/UNSPECIFIED';
  const csi = csiOf(driver, `projects/UNSPECIFIED/${zone}/disks/${pdName}`, source, {
    partition: partition === 0 ? '' : String(partition),
  });
  const inline = { csi, name: `${driver}-${pdName}`, accessModes: [readOnly ? 'ReadOnlyMany' : 'ReadWriteOnce'] };
  if (!('pv' in place)) return inline;
  return { ...inline, ...zonal(place, 'topology.gke.io/zone'), accessModes: gceModes(place.pv.spec?.accessModes) };
}

/** Where a disk is: in one zone, or in a region whose zones are named. */
function gceZone(pv: PersistentVolume): string {
  const zones = zonesLabel(pv).split(ZONES_APART);
  if (zones.length === 1) return `zones/${zones[0] || 'UNSPECIFIED'}`;
  const regions = new Set<string>();
  for (const zone of zones) {
    const parts = zone.split('-');
    if (parts.length !== 3)
      throw new Error(
        `failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: ${zone}`,
      );
    regions.add(parts.slice(0, 2).join('-'));
  }
  const [region = '', ...others] = [...regions].sort();
  if (others.length === 0) return `regions/${region}`;
  const got = [region, ...others].map((each) => `${each}:{}`).join(' ');
  throw new Error(`failed to get region from zones: multiple or no regions gotten from zones, got: map[${got}]`);
}

/** In-tree volumes were never asked for the modes that they cannot have. */
function gceModes(modes: readonly string[] | undefined): string[] | undefined {
  if (modes === undefined || modes.length === 0) return undefined;
  const writes = modes.some((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteMany');
  return [!writes && modes.includes('ReadOnlyMany') ? 'ReadOnlyMany' : 'ReadWriteOnce'];
}

function azureDisk(place: Place): Moved | null {
  const source = 'pv' in place ? place.pv.spec?.azureDisk : place.volume.azureDisk;
  if (source === undefined) return null;
  const { kind, cachingMode, fsType, diskURI } = source;
  if (kind !== undefined && kind.toLowerCase() !== 'managed')
    throw new Error(`kind(${kind}) is not supported in csi migration`);
  const attributes: Record<string, string> = { kind: 'Managed' };
  // An inline volume leaves out a mode that is empty.
  if (cachingMode !== undefined && ('pv' in place || cachingMode !== '')) attributes['cachingmode'] = cachingMode;
  if (fsType !== undefined) attributes['fstype'] = fsType;
  return {
    ...{ csi: csiOf('disk.csi.azure.com', diskURI, source, attributes), name: diskURI },
    ...readWriteOnce(place),
  };
}

function azureFile(place: Place): Moved | null {
  const source = 'pv' in place ? place.pv.spec?.azureFile : place.volume.azureFile;
  if (source === undefined) return null;
  const { secretName, shareName, readOnly } = source;
  let namespace: string;
  let resourceGroup = '';
  if ('pv' in place) {
    const { metadata, spec } = place.pv;
    namespace = spec?.azureFile?.secretNamespace ?? spec?.claimRef?.namespace ?? '';
    if (namespace === '') throw new Error('could not find a secret namespace in PersistentVolumeSource or ClaimRef');
    resourceGroup = metadata?.annotations?.['kubernetes.io/azure-file-resource-group'] ?? '';
  } else namespace = place.namespace || 'default';
  const own = 'pv' in place ? (place.pv.metadata?.name ?? '') : place.volume.name;
  const handle = [resourceGroup, accountOf(secretName), shareName, own, namespace].join('#');
  const csi = csiOf('file.csi.azure.com', handle, { readOnly }, { sharename: shareName });
  return {
    ...{ csi: { ...csi, nodeStageSecretRef: { name: secretName, namespace } }, name: handle },
    ...(!('pv' in place) && { accessModes: ['ReadWriteMany'] }),
  };
}

const ACCOUNT = { before: 'azure-storage-account-', after: '-secret' };

/** The storage account that a secret is named after; its whole name where it is not. */
function accountOf(secretName: string): string {
  for (const line of secretName.split('\n')) {
    const found = line.indexOf(ACCOUNT.before);
    const from = found + ACCOUNT.before.length;
    const to = line.lastIndexOf(ACCOUNT.after);
    if (found >= 0 && to > from) return line.slice(from, to);
  }
  return secretName;
}

function cinder(place: Place): Moved | null {
  const source = 'pv' in place ? place.pv.spec?.cinder : place.volume.cinder;
  if (source === undefined) return null;
  const driver = 'cinder.csi.openstack.org';
  return {
    ...{ csi: csiOf(driver, source.volumeID, source, {}), name: `${driver}-${source.volumeID}` },
    ...zonal(place, `topology.${driver}/zone`),
  };
}

function portworx(place: Place): Moved | null {
  const source = 'pv' in place ? place.pv.spec?.portworxVolume : place.volume.portworxVolume;
  if (source === undefined) return null;
  const driver = 'pxd.portworx.com';
  const { volumeID, fsType, readOnly } = source;
  const csi = csiOf(driver, volumeID, { fsType }, {});
  const name = `${driver}-${volumeID}`;
  if (!('pv' in place)) return { csi, name, accessModes: [readOnly ? 'ReadOnlyMany' : 'ReadWriteOnce'] };
  const annotations = place.pv.metadata?.annotations ?? {};
  const secret = annotations['openstorage.io/auth-secret-name'];
  const namespace = annotations['openstorage.io/auth-secret-namespace'];
  if (secret === undefined || namespace === undefined) return { csi, name };
  const reference = { ...(secret !== '' && { name: secret }), ...(namespace !== '' && { namespace }) };
  const secrets = {
    ...{ nodeStageSecretRef: reference, nodePublishSecretRef: reference, nodeExpandSecretRef: reference },
    ...{ controllerPublishSecretRef: reference, controllerExpandSecretRef: reference },
  };
  return { csi: { ...csi, ...secrets }, name };
}

function vsphere(place: Place): Moved | null {
  const source = 'pv' in place ? place.pv.spec?.vsphereVolume : place.volume.vsphereVolume;
  if (source === undefined) return null;
  const driver = 'csi.vsphere.vmware.com';
  const { volumePath, fsType, storagePolicyName = '' } = source;
  const csi = csiOf(
    driver,
    volumePath,
    { fsType },
    storagePolicyName === '' ? {} : { storagepolicyname: storagePolicyName },
  );
  const name = `${driver}-${volumePath}`;
  if (!('pv' in place)) return { csi, name, accessModes: ['ReadWriteOnce'] };
  const [zone, region] = ['topology.csi.vmware.com/zone', 'topology.csi.vmware.com/region'] as const;
  return { csi, name, nodeAffinity: regionalAffinity(place.pv, zone, region) };
}

/** Fields that are empty are left out, as Go's JSON does. */
function csiOf(
  driver: string,
  volumeHandle: string,
  { fsType = '', readOnly = false }: { fsType?: string | undefined; readOnly?: boolean | undefined },
  volumeAttributes: Record<string, string>,
): Csi {
  return {
    ...{ driver, volumeHandle },
    ...(readOnly && { readOnly }),
    ...(fsType !== '' && { fsType }),
    ...(Object.keys(volumeAttributes).length > 0 && { volumeAttributes }),
  };
}

function zonal(place: Place, key: string): Pick<Moved, 'accessModes' | 'nodeAffinity'> {
  return 'pv' in place ? { nodeAffinity: zonalAffinity(place.pv, key) } : readWriteOnce(place);
}

function readWriteOnce(place: Place): Pick<Moved, 'accessModes'> {
  return 'pv' in place ? {} : { accessModes: ['ReadWriteOnce'] };
}

function named<T>(what: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new Error(`${what} ${(error as Error).message}`, { cause: error });
  }
}
