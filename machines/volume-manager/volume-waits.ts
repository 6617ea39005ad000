/** Kubelet's back-off of a volume's operations (goroutinemap). */
export const WAITS = { firstMs: 500, maxMs: 122_000 };

/** Looking a volume up costs little and is no operation of kubelet's, which does it ten times a second while it fails. */
export const LOOKS = { firstMs: 500, maxMs: 4_000 };

/** Code of what only means that the attachment is not there yet. */
export const NOT_ATTACHED = 'NotAttached';

/**
 * Codes of what is told to a pod's worker that waits for a volume: it cannot be looked up, has not come back in time, or is not attached by then. None of
 * these is a call that has failed.
 */
export const WAITING = {
  unprocessed: 'VolumeUnprocessed',
  timeout: 'VolumeTimeout',
  unattached: 'VolumeUnattached',
} as const;

/** Code of a volume that is not attached because the node has no room for it, and the reason with which its pod is rejected. */
export const NO_ROOM = 'VolumeAttachmentLimitExceeded';

/** Code of a volume that waits until its device is given back, which is made ready with another SELinux label. */
export const LABELLED = 'SELinuxMountMismatch';

/** Code of a volume that is not made larger now though nothing has failed: it is not the node's turn, or its driver does not do so in use. */
export const NOT_GROWN = 'NotGrown';

/** How long a pod's worker waits for a volume, ms: kubelet's podAttachAndMountTimeout. */
export const PATIENCE_MS = 123_000;
