import { defineErrors } from './define.ts';

/** Errors of the simulated runtime: its script, its socket, its live control. */
export const simErrors = defineErrors('SIM', {
  scriptUnreadable: [
    1,
    'The simulation script {file} cannot be read: {problem}.',
    'Give --script a readable YAML or JSON file.',
  ],
  scriptSyntax: [
    2,
    'The simulation script {file} is not valid YAML or JSON: {problem}.',
    'Correct the file at the place named.',
  ],
  scriptInvalid: [
    3,
    'The simulation script {file} has wrong values: {problems}.',
    'Correct each field named; docs/simulated-runtime.md lists them.',
  ],
  socketInUse: [
    4,
    'Another process already listens on the socket {socket}.',
    'Stop that process or give --socket another path.',
  ],
  socketUnusable: [
    5,
    'The simulated runtime cannot listen on {socket}: {problem}.',
    'Give --socket a path in a writable folder, at most 107 bytes long, that is absent or a left-over socket.',
  ],
  unknownContainer: [
    6,
    'The simulated runtime holds no container {id}.',
    'Take the id from ListContainers or from `.state`.',
  ],
  unknownSandbox: [
    7,
    'The simulated runtime holds no sandbox {id}.',
    'Take the id from ListPodSandbox or from `.state`.',
  ],
  seedInvalid: [8, '--seed is {value}, which is not a whole number.', 'Give a whole number from 0 to 4294967295.'],
});
