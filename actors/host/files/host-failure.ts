/**
 * A failure whose text is the kubelet's own, because it ends up in pod events and container statuses
 * where people and tools look for exactly these words. Everything else is thrown as `ActorletError`.
 */
export class HostFailure extends Error {
  /** Own code such as `HostPathType` or `SubPath`, or an errno name. */
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'HostFailure';
    this.code = code;
  }
}

/** The errno name (or own code) of anything thrown; `''` when it has none. */
export function codeOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error) {
    const { code } = error as { code: unknown };
    if (typeof code === 'string' || typeof code === 'number') return String(code);
  }
  return '';
}

/** Resolves to undefined instead of rejecting when the error's code is one of `codes`. */
export async function ignoring<T>(promise: Promise<T>, ...codes: string[]): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (codes.includes(codeOf(error))) return undefined;
    throw error;
  }
}
