/** Names of fields whose value is masked in every log line, at the top, and up to two levels inside an object. */
const SECRET_FIELDS = [
  'password',
  'token',
  'secret',
  'authorization',
  'Authorization',
  'auth',
  'identityToken',
  'identity_token',
  'registryToken',
  'registry_token',
  'clientKey',
  'staticPodURLHeader',
  'stringData',
];

/** Paths for pino's `redact`. Values of environment variables can be secrets too: they are masked wherever they are. */
export const SECRET_PATHS: string[] = [
  ...SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
  'env[*].value',
  '*.env[*].value',
  'envs[*].value',
  '*.envs[*].value',
];
