/** Why a container's config cannot be made: its waiting reason, and the message of the event (`Error: <message>`). */
export interface ConfigError {
  reason: 'CreateContainerConfigError';
  message: string;
}

/** A failed step towards a config. */
export interface Failed {
  error: ConfigError;
}

/** Shorthand for {@link Failed}. */
export function configError(message: string): Failed {
  return { error: { reason: 'CreateContainerConfigError', message } };
}
