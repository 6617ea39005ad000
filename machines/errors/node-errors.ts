import { defineErrors } from './define.ts';

/** Errors of the node as a whole: shards, runtime connection. */
export const nodeErrors = defineErrors('NOD', {
  shardSilent: [
    1,
    'Shard {shard} gave no sign of life for {ms} ms.',
    'It is ended and its pods are taken over by a new worker; look for a loop in the last messages of its journal.',
  ],
  shardEnded: [2, 'Shard {shard} ended unexpectedly: {problem}.', 'Its pods are taken over by a new worker.'],
  stepFailed: [
    3,
    'The machine of pod {pod} failed on a message: {problem}.',
    'The pod keeps its last state and the next message is tried anew; replay its journal to see the step.',
  ],
  userNamespaces: [
    7,
    'User namespaces cannot be given out: {problem}.',
    'See userNamespaces.idsPerPod in the configuration, the ids of user kubelet (getsubids kubelet), and the file userns in the folder of each pod.',
  ],
  unknownCgroupDriver: [
    4,
    'The runtime returned an unknown cgroup driver {driver}.',
    'Use a runtime whose cgroup driver is cgroupfs or systemd.',
  ],
  checkpointDamaged: [
    5,
    'The checkpoint {path} is damaged: it is not JSON or its checksum is wrong.',
    'Pods count with the resources that their specs ask for; the file is written anew.',
  ],
  checkpointUnwritten: [
    6,
    'The checkpoint {path} could not be written: {problem}.',
    'Make room on the disk of the root directory, or remount it writable; it is tried again every ten seconds.',
  ],
  oomUnremembered: [
    14,
    'The file {path}, which tells the last SystemOOM event, could not be written: {problem}.',
    'Make room on the disk of the root directory, or remount it writable; at worst the next agent tells this event again.',
  ],
  stopFailed: [
    8,
    'The part {part} of the node was not stopped: {problem}.',
    'The other parts are stopped all the same; when the process ends nothing of it is left.',
  ],
  nodeStepFailed: [
    10,
    'The machine of the node failed on a message: {problem}.',
    'The node keeps its last state and the next message is tried anew; replay the journal to see the step.',
  ],
  podPutAside: [
    11,
    'Pod {pod} is put aside until {until}: {deaths} workers in a row died on it, the last one because {problem}.',
    'What runs of it goes on unwatched; it is tried again then, and 30 s after the last death when its definition changes. Report its manifest: a pod should not be able to do this.',
  ],
  managersRefuse: [
    12,
    'CPUs and memory cannot be given away as configured: {problem}.',
    'See cpuManagerPolicy, memoryManagerPolicy, topologyManagerPolicy and their options, what is reserved, and the NUMA nodes of this machine.',
  ],
  managerCheckpoint: [
    13,
    '{problem}, please drain this node and delete the checkpoint file {path} before starting again.',
    'The file tells which pod has which CPUs or memory; with another policy, other reserved CPUs or another machine it is not true any more.',
  ],
  machineFailed: [
    15,
    'The machine {machine} failed on a message ({message}), which has changed nothing: {problem}.',
    'Who waited for it is told so, and the next message is tried anew. Please report it with the journal (--journal-dir), whose folder of that name has the message.',
  ],
  orderFailed: [
    16,
    'What the machine {machine} ordered ({order}) could not be carried out: {problem}.',
    'Its other orders are carried out all the same. Please report it with the log: it is a fault of actorlet.',
  ],
  undeclaredMove: [
    9,
    'The machine of {name} was to go from {from} to {to}, which it does not declare.',
    'It stays where it is and the message changes nothing; actorlet replay shows the step, and its --export makes a journal for a report.',
  ],
});
