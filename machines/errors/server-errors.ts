import { defineErrors } from './define.ts';

/** Errors of the HTTP servers and of the commands that talk to them. */
export const serverErrors = defineErrors('SRV', {
  cannotListen: [
    1,
    'The {server} server cannot listen on {address}:{port}: {reason}.',
    'Stop what holds that port (ss -ltnp shows it), or change {field} in the configuration; 0 turns the server off.',
  ],
  noAgent: [
    2,
    'No agent answers at {url}: {reason}.',
    'Start actorlet with --read-only-port=10255, or name its address with --server http://ADDRESS:PORT.',
  ],
  notAnAgent: [
    3,
    'What answers at {url} is not an actorlet agent: {reason}.',
    'Name the read-only port of an actorlet agent with --server http://ADDRESS:PORT; a kubelet does not serve this page.',
  ],
  badServerUrl: [
    4,
    '--server {value} is not a URL.',
    'Give it as http://ADDRESS:PORT, for instance http://127.0.0.1:10255.',
  ],
});
