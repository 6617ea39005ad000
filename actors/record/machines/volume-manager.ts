import type { VolumeMessage } from '../../../machines/volume-manager/volume-messages.ts';
import type { VolumeOrder } from '../../../machines/volume-manager/volume-orders.ts';
import { stepVolumeManager } from '../../../machines/volume-manager/volume-manager-machine.ts';
import { volumeManagerStateName, volumeManagerWhy } from '../../../machines/volume-manager/volume-manager-state.ts';
import type { VolumeManagerState } from '../../../machines/volume-manager/volume-manager-state.ts';
import { journaled } from './journaled-machine.ts';

/** The volumes of pods that the main thread sets up, and the devices that pods share. */
export const volumeManager = journaled<VolumeManagerState, VolumeMessage, VolumeOrder>({
  name: 'volume-manager',
  step: stepVolumeManager,
  stateName: volumeManagerStateName,
  why: volumeManagerWhy,
});
