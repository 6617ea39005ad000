import { driversStateName, driversWhy, stepDrivers } from '../../../machines/csi/driver-machine.ts';
import type { DriversState } from '../../../machines/csi/driver-machine.ts';
import type { DriverMessage, DriverOrder } from '../../../machines/csi/driver-messages.ts';
import { journaled } from './journaled-machine.ts';

/** The CSI drivers of the node, and what the API server is told of them. */
export const csi = journaled<DriversState, DriverMessage, DriverOrder>({
  name: 'csi',
  step: (state, message) => stepDrivers(state, message),
  stateName: driversStateName,
  why: driversWhy,
});
