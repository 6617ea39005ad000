import { defineErrors } from './define.ts';

/** Errors of authentication and authorization on the kubelet server, at start. */
export const authErrors = defineErrors('AUTH', {
  badClientCa: [
    1,
    'The client CA bundle {path} cannot be used: {reason}.',
    'Put the PEM certificates of the authorities of clients there, or change authentication.x509.clientCAFile (--client-ca-file).',
  ],
  noMethod: [
    2,
    'No authentication method is configured for the kubelet server.',
    'Set authentication.x509.clientCAFile, or turn on authentication.webhook or authentication.anonymous.',
  ],
});
