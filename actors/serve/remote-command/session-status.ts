/** The `metav1.Status` of a command that ended well: what an error stream without a word means (client-go's v4). */
export const SUCCESS_STATUS = JSON.stringify({ metadata: {}, status: 'Success' });

/** The `metav1.Status` of a session that broke, as `apierrors.NewInternalError` makes it. */
export function internalErrorStatus(message: string): string {
  return JSON.stringify({
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  });
}
