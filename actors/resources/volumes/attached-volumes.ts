import type { Node } from '../../../machines/node-object/node-types.ts';
import { NOT_ATTACHED } from '../../../machines/volume-manager/volume-waits.ts';
import { VolumeFailure } from './volume-plugin.ts';

/** What the node's object says of volumes that are attached to it. */
export interface AttachedVolumes {
  /** Answers the device path of an attached device. @throws VolumeFailure in kubelet's words when it is not attached */
  waitFor(device: string, name: string, signal: AbortSignal): Promise<string>;
  /** Devices that may be: what was heard of the object last names them as in use and as attached. */
  named(): ReadonlySet<string>;
}

/** Reads the node's object: the one whose status the agent writes names volumes in use, and the controller then those that are attached. */
export function attachedVolumes(told: () => Node | null, fresh: () => Promise<Node | null>): AttachedVolumes {
  const named = (): ReadonlySet<string> => {
    const { volumesInUse = [], volumesAttached = [] } = told()?.status ?? {};
    const inUse = new Set<string>(volumesInUse);
    return new Set(volumesAttached.map((each) => each.name).filter((device) => inUse.has(device)));
  };
  return {
    named,
    async waitFor(device, name) {
      const without = (what: string): VolumeFailure => new VolumeFailure(NOT_ATTACHED, `${what} for volume "${name}" `);
      if (!(told()?.status?.volumesInUse ?? []).includes(device))
        throw without("Volume has not been added to the list of VolumesInUse in the node's volume status");
      for (let first = true; ; first = false) {
        const node = await fresh();
        if (node === null) throw without('VerifyControllerAttachedVolume failed fetching node from API server');
        const found = (node.status?.volumesAttached ?? []).find((each) => each.name === device);
        if (found !== undefined) return found.devicePath;
        // It may have been attached between the answer's making and its coming: nobody tells of that again.
        if (!first || !named().has(device)) throw without('Volume not attached according to node status');
      }
    },
  };
}
