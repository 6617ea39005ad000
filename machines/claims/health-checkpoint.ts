import { goJson } from '../container-config/go-json.ts';
import { isObject } from '../values/json-object.ts';
import { checked, checkpointJson, isText, sortedEntries } from '../values/checkpoint-error.ts';
import { HEALTH_TIMEOUT_MS, deviceKey } from './claim-health.ts';
import type { DriverHealth } from './claim-health.ts';
import type { ClaimState, DeviceHealth } from './claim-state.ts';

/** Its name below the root directory. */
export const HEALTH_CHECKPOINT = 'dra_health_state';

const NS_PER_MS = 1e6;

/** The text of the file as kubelet writes it: what drivers told of their devices' health. */
export function healthCheckpointText(health: NonNullable<ClaimState['health']>): string {
  const drivers = sortedEntries(health).map(([driver, devices]) => [
    driver,
    { Devices: Object.fromEntries(sortedEntries(devices).map(([key, one]) => [key, entryOf(one)])) },
  ]);
  return goJson(Object.fromEntries(drivers));
}

function entryOf({ pool, device, health, updatedAt, timeoutMs }: DeviceHealth): object {
  return {
    ...{ PoolName: pool, DeviceName: device, Health: health },
    LastUpdated: new Date(updatedAt).toISOString(),
    HealthCheckTimeout: timeoutMs * NS_PER_MS,
  };
}

/**
 * What the file holds. `at`, `steady`: the time of now on both clocks, for what was told before this agent began.
 * @throws CheckpointError when it is none
 */
export function readHealthCheckpoint(
  text: string,
  now: { at: number; steady: number },
): NonNullable<ClaimState['health']> {
  const drivers = Object.entries(checkpointJson(text));
  return Object.fromEntries(
    drivers.map(([driver, state]): [string, DriverHealth] => {
      const devices = checked(state, isObject, 'DevicesHealthMap')['Devices'] ?? {};
      const all = Object.values(checked(devices, isObject, 'DriverHealthState.Devices'));
      return [driver, Object.fromEntries(all.map((each) => deviceOf(each, now)))];
    }),
  );
}

function deviceOf(entry: unknown, { at, steady }: { at: number; steady: number }): [string, DeviceHealth] {
  const whole = checked(entry, isObject, 'DriverHealthState.Devices');
  const text = (field: string): string => checked(whole[field] ?? '', isText, `DeviceHealth.${field}`);
  const [pool, device, told] = [text('PoolName'), text('DeviceName'), text('Health')];
  const health = told === 'Healthy' || told === 'Unhealthy' ? told : 'Unknown';
  const timeout = whole['HealthCheckTimeout'];
  const timeoutMs = typeof timeout === 'number' && timeout > 0 ? timeout / NS_PER_MS : HEALTH_TIMEOUT_MS;
  const updatedAt = Date.parse(text('LastUpdated'));
  const known = Number.isNaN(updatedAt) ? 0 : updatedAt;
  // What lies ahead is of a clock that was set back since.
  const until = steady + Math.min(timeoutMs, known + timeoutMs - at);
  return [deviceKey({ pool, device }), { pool, device, health, updatedAt: known, timeoutMs, until }];
}
