import type { VolumeAttachment } from './storage-objects.ts';

/** What a VolumeAttachment tells of its volume: it is attached, it is not yet, or it will not be (with why). */
export type AttachmentState = { state: 'attached' } | { state: 'waiting' } | { state: 'failed'; problem: string };

/** Kubelet's verifyAttachmentStatus, in its words. */
export function attachmentState(attachment: VolumeAttachment): AttachmentState {
  if (attachment.metadata?.deletionTimestamp !== undefined)
    return { state: 'failed', problem: 'volume attachment is being deleted' };
  if (attachment.status?.attached === true) return { state: 'attached' };
  const error = attachment.status?.attachError;
  return error === undefined ? { state: 'waiting' } : { state: 'failed', problem: error.message ?? '' };
}

/** Number of gRPC's ResourceExhausted. */
const RESOURCE_EXHAUSTED = 8;

/** Was it not attached because the node has no room for more (kubelet: isResourceExhaustError)? */
export function foundNoRoom({ status }: VolumeAttachment): boolean {
  return status?.attachError?.errorCode === RESOURCE_EXHAUSTED;
}

/** What the controller's side of the driver says to the node's: it is passed on to stage and publish. */
export function publishContext(attachment: VolumeAttachment): Record<string, string> {
  return { ...attachment.status?.attachmentMetadata };
}
