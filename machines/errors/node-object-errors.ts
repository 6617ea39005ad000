import { defineErrors } from './define.ts';

/** Errors about the node's object in the API. */
export const nodeObjectErrors = defineErrors('NOB', {
  nodeIpUnusable: [
    1,
    'The node IP {ip} {problem}.',
    'Give --node-ip an address of an interface of this machine, or leave it out; until then no address is told.',
  ],
  noAddress: [
    2,
    'No IP address was found for node {node}: not by its name, not on the interface of the default route.',
    'Give --node-ip, or bring up an interface with a global address; the node has no address until then.',
  ],
  stepFailed: [
    3,
    'The machine that keeps the {machine} failed on a message, which has changed nothing: {problem}.',
    'It goes on with the next message. Please report it with the journal (--journal-dir), whose folder of that name has the message.',
  ],
});
