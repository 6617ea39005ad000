import { defineErrors } from './define.ts';

/** Errors of the private containerd, the images made without a registry, and the machine under them. */
export const runtimeErrors = defineErrors('RTM', {
  missingBinaries: [
    1,
    'The agent cannot start a containerd of its own: {binaries} not found on PATH.',
    'Install the Debian packages: apt-get install {packages}; or name a running runtime with --container-runtime-endpoint.',
  ],
  missingCniPlugins: [
    2,
    'The CNI plugins {plugins} were not found in any of {dirs}.',
    'Install the Debian package: apt-get install containernetworking-plugins.',
  ],
  socketPathTooLong: [
    3,
    'The socket path {path} has {length} bytes; a unix socket path may have at most {max}.',
    'Choose a shorter --root-dir.',
  ],
  unknownContainerdVersion: [
    4,
    'The answer of "containerd --version" was not understood: {output}.',
    'Use containerd 1.6 or newer.',
  ],
  containerdTooOld: [5, 'containerd {version} is too old to serve CRI v1.', 'Use containerd 1.6 or newer.'],
  containerdDidNotStart: [
    6,
    'containerd was started, but {what} within {seconds} seconds. The end of its log: {tail}',
    'Read {log}; the configuration it was given is {config}.',
  ],
  noFreeSubnet: [
    7,
    'No free subnet for the pod network: each of {tried} overlaps a route of this machine.',
    'Remove a route, or name a running runtime with --container-runtime-endpoint.',
  ],
  noStaticBusybox: [
    8,
    'No statically linked busybox was found at any of {paths}; the pause image is made from it.',
    'Install the Debian package: apt-get install busybox-static.',
  ],
  imageImportFailed: [
    9,
    'The images {refs} could not be imported into containerd: {output}',
    'Read the log of containerd at {log}, and check the free space on its disk.',
  ],
  notRoot: [10, 'The agent runs containers and mounts and must be root; it runs as user {uid}.', 'Start it as root.'],
  leftovers: [
    11,
    'The private containerd was stopped, but this could not be removed: {what}.',
    'Remove it by hand, or restart the machine.',
  ],
  pidFileNotOurs: [
    12,
    'A containerd (process {pid}) runs with {config}, but its socket {socket} does not answer, and it did not end when it was killed.',
    'End the process by hand and start the agent again.',
  ],
});
