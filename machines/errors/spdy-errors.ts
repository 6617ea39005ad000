import { defineErrors } from './define.ts';

/** Errors of the SPDY/3.1 connection to the runtime's streaming server. */
export const spdyErrors = defineErrors('SPD', {
  malformed: [
    1,
    'The other side of a SPDY connection broke the protocol: {reason}.',
    'Run the command again; if it comes back, look at the log of the container runtime.',
  ],
  tooLong: [
    2,
    'The other side of a SPDY connection sent a {part} of more than {limit} bytes.',
    'Run the command again; if it comes back, look at the log of the container runtime.',
  ],
  connectionLost: [
    3,
    'The SPDY connection ended before its streams did: {reason}.',
    'Look whether the container runtime was restarted, and run the command again.',
  ],
  streamRefused: [
    4,
    'The other side of a SPDY connection refused the stream {stream} (status {status}).',
    'Look at the log of the container runtime.',
  ],
  streamTimeout: [
    5,
    'The other side of a SPDY connection did not answer the stream {stream} within {seconds} s.',
    'Look whether the container runtime is overloaded, and run the command again.',
  ],
  notReading: [
    6,
    'The other side of a SPDY connection asks but does not read the answers.',
    'Look at the log of the container runtime.',
  ],
  upgradeRefused: [
    7,
    'The streaming server of the runtime did not switch to {protocol}: {reason}.',
    'Look at the log of the container runtime; its streaming server must speak SPDY/3.1.',
  ],
  unreachable: [
    8,
    'The streaming server of the runtime at {address} cannot be reached: {reason}.',
    'Look whether the container runtime runs, and at the address of its streaming server.',
  ],
});
