import type { AnyStateMachine } from 'xstate';
import { containerGcMachine } from '../container-gc/container-gc-machine.ts';
import { containerMachine } from '../container/container-machine.ts';
import { imageGcMachine } from '../images/image-gc-machine.ts';
import { evictionMachine } from '../eviction/eviction-machine.ts';
import { nodeMachine } from '../node/node-machine.ts';
import { podMachine } from '../pod/pod-machine.ts';
import { probeMachine } from '../probe/probe-machine.ts';
import { shutdownMachine } from '../shutdown/shutdown-machine.ts';
import { supervisorMachine } from '../supervisor/supervisor-machine.ts';
import { deviceMachine } from '../volume-manager/device-machine.ts';
import { mountMachine } from '../volume-manager/mount-machine.ts';
import { volumeMachine } from '../volumes/volume-machine.ts';

/** The machines that a node is made of, by name. */
export const NODE_MACHINES = {
  pod: podMachine,
  container: containerMachine,
  probe: probeMachine,
  volume: volumeMachine,
  mount: mountMachine,
  device: deviceMachine,
  supervisor: supervisorMachine,
  node: nodeMachine,
  'image-gc': imageGcMachine,
  'container-gc': containerGcMachine,
  eviction: evictionMachine,
  shutdown: shutdownMachine,
} as const satisfies Record<string, AnyStateMachine>;

/** Name of one of them. */
export type MachineName = keyof typeof NODE_MACHINES;

/** All names, in the order in which they are shown. */
export const MACHINE_NAMES = Object.keys(NODE_MACHINES) as MachineName[];
