import { defineErrors } from './define.ts';

/** Errors of certificates: serving TLS, certificates by CSR, the bootstrap of the client certificate. */
export const certificateErrors = defineErrors('CERT', {
  halfPair: [
    1,
    'tlsCertFile is "{cert}" and tlsPrivateKeyFile is "{key}": certificate and key must be given as a pair.',
    'Set both, or none for a self-signed certificate.',
  ],
  badPair: [
    2,
    'the serving certificate "{cert}" and its key "{key}" cannot be used: {reason}.',
    'Put a PEM certificate and the key that belongs to it there.',
  ],
  halfOnDisk: [
    3,
    'error reading {missing}, certificate and key must be supplied as a pair.',
    'Remove {present}, so that both are made anew, or put the other half back.',
  ],
  noCipherLeft: [
    5,
    'none of the cipher suites {names} of tlsCipherSuites is available.',
    'Choose suites with ECDHE and AES-GCM or CHACHA20, or leave the list empty.',
  ],
  badStore: [
    6,
    'the certificate store cannot use {file}: {reason}.',
    'Remove or repair the file; without it a new certificate is requested.',
  ],
  cannotMake: [7, 'cannot make {what}: {reason}.', 'See the reason; the key may be of an unknown kind.'],
  cannotRequest: [
    10,
    'cannot create certificate signing request: {reason}.',
    'The credentials in use must be allowed to create, get, list and watch certificatesigningrequests.certificates.k8s.io.',
  ],
  notCompatible: [
    11,
    'the certificate signing request {name} exists already and is not compatible: {reason}.',
    'Delete it in the API, and start the agent again.',
  ],
  denied: [
    12,
    'certificate signing request {name} is denied, reason: {reason}, message: {message}.',
    'Delete it in the API, approve the next one (kubectl certificate approve).',
  ],
  failed: [
    13,
    'certificate signing request {name} failed, reason: {reason}, message: {message}.',
    'The signer refused it: correct what the message names, then delete the request.',
  ],
  csrGone: [14, 'certificate signing request {name} was deleted or replaced.', 'A new one is made at the next try.'],
  notSigned: [
    15,
    'certificate signing request {name} was not signed within {minutes} minutes.',
    'Approve it (kubectl certificate approve {name}), and see that the signer runs in kube-controller-manager.',
  ],
  noKubeconfigPath: [
    20,
    '--bootstrap-kubeconfig is given without --kubeconfig.',
    'Name with --kubeconfig the file that the bootstrap is to write.',
  ],
  cannotWrite: [21, 'cannot write {file}: {reason}.', 'The folder must be writable for this user.'],
});
