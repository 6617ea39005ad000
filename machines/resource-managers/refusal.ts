/** A pod for which a manager has nothing. The words are kubelet's. */
export class Refusal extends Error {
  readonly reason: string;

  /** @param reason of kubelet's typed errors; without one it is an unexpected failure */
  constructor(message: string, reason = '') {
    super(message);
    this.reason = reason;
  }
}

/** As kubelet tells it of the pod (cm/admission.GetPodAdmitResult). */
export function rejectionOf({ reason, message }: Refusal): { admit: false; reason: string; message: string } {
  if (reason !== '') return { admit: false, reason, message };
  return {
    admit: false,
    reason: 'UnexpectedAdmissionError',
    message: `Allocate failed due to ${message}, which is unexpected`,
  };
}
