/** The part of a pino `Logger` that the private containerd writes to; a pino logger fits as it is. */
export interface RuntimeLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A log that keeps nothing. */
export const silentLog: RuntimeLog = { info: () => {}, warn: () => {}, error: () => {} };
