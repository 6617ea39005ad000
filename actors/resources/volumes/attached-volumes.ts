import type { Node } from '../../../machines/node-object/node-types.ts';
import { NOT_ATTACHED } from '../../../machines/volume-manager/volume-waits.ts';
import { VolumeFailure } from './volume-plugin.ts';

/** What the node's object says of volumes that are attached to it. */
export interface AttachedVolumes {
  /** Answers the device path of an attached device. @throws VolumeFailure in kubelet's words when it is not attached */
  waitFor(device: string, name: string, signal: AbortSignal): Promise<string>;
}

/** Reads the node's object: the one whose status the agent writes names volumes in use, and the controller then those that are attached. */
export function attachedVolumes(told: () => Node | null, fresh: () => Promise<Node | null>): AttachedVolumes {
  return {
    async waitFor(device, name) {
      const without = (what: string): VolumeFailure => new VolumeFailure(NOT_ATTACHED, `${what} for volume "${name}" `);
      if (!(told()?.status?.volumesInUse ?? []).includes(device))
        throw without("Volume has not been added to the list of VolumesInUse in the node's volume status");
      const node = await fresh();
      if (node === null) throw without('VerifyControllerAttachedVolume failed fetching node from API server');
      const found = (node.status?.volumesAttached ?? []).find((each) => each.name === device);
      if (found === undefined) throw without('Volume not attached according to node status');
      return found.devicePath;
    },
  };
}
