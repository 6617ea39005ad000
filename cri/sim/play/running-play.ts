/** A container's command as it is played. */
export interface Play {
  /** The end of it, with its exit code; never when the container ends before. */
  readonly ended: Promise<number>;
  /** SIGTERM. A first process that has no handler for it does not notice. */
  terminate(): void;
}
