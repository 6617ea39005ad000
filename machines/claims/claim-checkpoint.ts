import { goJson } from '../container-config/go-json.ts';
import { isObject } from '../values/json-object.ts';
import { checked, checkpointJson, corrupted, isCount, isText } from '../values/checkpoint-error.ts';
import { sortedEntries } from '../values/checkpoint-error.ts';
import { crc32 } from '../values/crc32.ts';
import type { ClaimDevice, KnownClaim } from './claim-state.ts';

/** Its name below the root directory. */
export const CLAIM_CHECKPOINT = 'dra_manager_state';

const KIND = { kind: 'DRACheckpoint', apiVersion: 'checkpoint.dra.kubelet.k8s.io/v1' };

/** The text of the checkpoint as kubelet writes it, claims in the order of their names. Null: nothing was ever known. */
export function claimCheckpointText(claims: readonly KnownClaim[] | null): string {
  const Data = goJson({ ...KIND, ClaimInfoStateList: claims === null ? null : claims.map(entryOf) });
  return goJson({ Data, Checksum: crc32(Data) });
}

function entryOf({ uid, name, namespace, pods, drivers }: KnownClaim): object {
  return {
    ...{ ClaimUID: uid, ClaimName: name, Namespace: namespace },
    PodUIDs: Object.fromEntries([...pods].sort().map((pod) => [pod, {}])),
    DriverState: Object.fromEntries(
      sortedEntries(drivers).map(([driver, devices]) => [driver, { Devices: orNull(devices.map(deviceEntry)) }]),
    ),
  };
}

function deviceEntry({ pool, device, share, requests, cdi }: ClaimDevice): object {
  const names = { RequestNames: orNull(requests), CDIDeviceIDs: orNull(cdi) };
  return { PoolName: pool, DeviceName: device, ShareID: share, ...names };
}

/** Go's empty lists come off the wire as none at all. */
function orNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}

/**
 * What a checkpoint holds. None of its claims counts as prepared: drivers are asked again before the next pod uses it.
 * @throws CheckpointError with kubelet's words
 */
export function readClaimCheckpoint(text: string): KnownClaim[] {
  const whole = checkpointJson(text);
  const data = checked(whole['Data'], isText, 'Checkpoint.Data');
  if (checked(whole['Checksum'], isCount, 'Checkpoint.Checksum') !== crc32(data)) throw corrupted();
  return listOf(checkpointJson(data)['ClaimInfoStateList'], 'CheckpointData.ClaimInfoStateList').map(claimOf);
}

function claimOf(entry: unknown): KnownClaim {
  const claim = checked(entry, isObject, 'CheckpointData.ClaimInfoStateList');
  const at = (field: string): string => checked(claim[field] ?? '', isText, `ClaimInfoState.${field}`);
  const drivers = checked(claim['DriverState'] ?? {}, isObject, 'ClaimInfoState.DriverState');
  return {
    ...{ uid: at('ClaimUID'), name: at('ClaimName'), namespace: at('Namespace'), prepared: false },
    pods: Object.keys(checked(claim['PodUIDs'] ?? {}, isObject, 'ClaimInfoState.PodUIDs')).sort(),
    drivers: Object.fromEntries(
      Object.entries(drivers).map(([driver, state]) => {
        const devices = listOf(
          checked(state, isObject, 'ClaimInfoState.DriverState')['Devices'],
          'DriverState.Devices',
        );
        return [driver, devices.map(deviceOf)];
      }),
    ),
  };
}

function deviceOf(entry: unknown): ClaimDevice {
  const device = checked(entry, isObject, 'DriverState.Devices');
  const at = (field: string): string => checked(device[field] ?? '', isText, `Device.${field}`);
  const texts = (field: string): string[] =>
    listOf(device[field], `Device.${field}`).map((text) => checked(text, isText, `Device.${field}`));
  return {
    pool: at('PoolName'),
    device: at('DeviceName'),
    share: device['ShareID'] == null ? null : at('ShareID'),
    requests: texts('RequestNames'),
    cdi: texts('CDIDeviceIDs'),
  };
}

function listOf(value: unknown, field: string): unknown[] {
  return checked(value ?? [], Array.isArray as (value: unknown) => value is unknown[], field);
}
