import { devicesStateName, devicesWhy, stepDevices } from '../../../machines/devices/device-machine.ts';
import type { DeviceMessage, DeviceOrder } from '../../../machines/devices/device-messages.ts';
import type { DeviceState } from '../../../machines/devices/device-state.ts';
import { journaled } from './journaled-machine.ts';

/** Which devices the node's plugins have, and which containers have them. */
export const devices = journaled<DeviceState, DeviceMessage, DeviceOrder>({
  name: 'devices',
  step: (state, message) => stepDevices(state, message),
  stateName: devicesStateName,
  why: devicesWhy,
});
