import { defineErrors } from './define.ts';

/** Errors of what is told to the API server about pods: their status, their end, mirror pods. */
export const statusErrors = defineErrors('STS', {
  patchFailed: [
    1,
    'Cannot update the status of pod {pod}: {problem}.',
    'It is tried again; the pod itself is not affected. A Forbidden means that the certificate is not of this node.',
  ],
  deleteFailed: [
    2,
    'Cannot remove pod {pod}, which has ended and is marked for deletion: {problem}.',
    'It is tried again; check that the API server is healthy and that no admission webhook refuses the DELETE.',
  ],
  tookBack: [
    3,
    'Container {containers} of pod {pod} has ended for good, but was reported as not ended; its end is kept.',
    'Please report this with the journal of the pod: it is a fault of actorlet or of the container runtime.',
  ],
  mirrorCreateFailed: [
    4,
    'Cannot create the mirror pod of static pod {pod}: {problem}.',
    'It is tried again; the static pod runs regardless. Create its namespace if that is missing; a static pod must not refer to service accounts, secrets or configMaps.',
  ],
  mirrorDeleteFailed: [
    5,
    'Cannot delete mirror pod {pod}: {problem}.',
    'It is tried again; the pods of this node are not affected.',
  ],
  stepFailed: [
    6,
    'The status manager failed on a message, which has changed nothing: {problem}.',
    'What it was to tell is compared again within 10 s. Please report it with the journal (--journal-dir), whose folder `status` has the message.',
  ],
});
