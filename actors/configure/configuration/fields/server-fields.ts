import { z } from 'zod';
import { duration, int32, oneOf, text, textList, truth } from '../field-kinds.ts';
import { TLS_CIPHER_SUITES, TLS_VERSIONS } from '../tls-names.ts';

const GROUP = 'a group of fields';

/** The agent's own HTTP servers: addresses, TLS, authentication, authorization, handlers. */
export const serverFields = {
  enableServer: truth(true),
  address: text('0.0.0.0'),
  port: int32(10250),
  readOnlyPort: int32(0),
  healthzPort: int32(10248),
  healthzBindAddress: text('127.0.0.1'),
  tlsCertFile: text(),
  tlsPrivateKeyFile: text(),
  tlsCipherSuites: z
    .array(z.enum(TLS_CIPHER_SUITES, { error: 'a cipher suite by its Go name, such as "TLS_AES_128_GCM_SHA256"' }), {
      error: 'a list of cipher suites',
    })
    .default([]),
  tlsMinVersion: oneOf(['', ...TLS_VERSIONS], ''),
  rotateCertificates: truth(false),
  serverTLSBootstrap: truth(false),
  authentication: z
    .strictObject(
      {
        x509: z.strictObject({ clientCAFile: text() }, { error: GROUP }).prefault({}),
        webhook: z.strictObject({ enabled: truth(true), cacheTTL: duration(120_000) }, { error: GROUP }).prefault({}),
        anonymous: z.strictObject({ enabled: truth(false) }, { error: GROUP }).prefault({}),
      },
      { error: GROUP },
    )
    .prefault({}),
  authorization: z
    .strictObject(
      {
        mode: oneOf(['Webhook', 'AlwaysAllow'], 'Webhook'),
        webhook: z
          .strictObject(
            { cacheAuthorizedTTL: duration(300_000), cacheUnauthorizedTTL: duration(30_000) },
            { error: GROUP },
          )
          .prefault({}),
      },
      { error: GROUP },
    )
    .prefault({}),
  enableDebuggingHandlers: truth(true),
  enableContentionProfiling: truth(false),
  enableProfilingHandler: truth(true),
  enableDebugFlagsHandler: truth(true),
  enableSystemLogHandler: truth(true),
  enableSystemLogQuery: truth(false),
  streamingConnectionIdleTimeout: duration(14_400_000),
  showHiddenMetricsForVersion: text(),
  allowedUnsafeSysctls: textList(),
};
