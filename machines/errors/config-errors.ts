import { defineErrors } from './define.ts';

/** Errors of the configuration file, its drop-ins, the command line and the checks of the agent's own process. */
export const configErrors = defineErrors('CFG', {
  unreadable: [1, 'cannot read {where}: {reason}.', 'Name a file that exists and that this user may read.'],
  notYaml: [2, '{where} is neither YAML nor JSON: {reason}.', 'Correct the syntax at the named line.'],
  empty: [3, '{where} is empty.', 'Write at least apiVersion and kind, or leave the flag out.'],
  wrongKind: [
    4,
    '{where}: got apiVersion {apiVersion}, kind {kind}; accepted: apiVersion "kubelet.config.k8s.io/v1beta1", kind "KubeletConfiguration".',
    'Set both fields.',
  ],
  unknownField: [
    5,
    '{where}: unknown field {path}.{suggestion}',
    'Remove it, or correct its name; docs/configuration.md says where the fields are listed.',
  ],
  badValue: [6, '{where}: {path}: got {got}; accepted: {accepted}.', 'Correct the value.'],
  unknownGate: [
    7,
    '{where}: featureGates.{name}: unrecognized feature gate.{suggestion}',
    'Remove it, or name a gate of Kubernetes 1.35.',
  ],
  lockedGate: [
    8,
    '{where}: featureGates.{name}: got {got}, but the gate is locked to {locked}.',
    'Remove the gate; its value can no longer be changed.',
  ],
  gateDependency: [
    9,
    '{where}: featureGates.{name} is enabled, but depends on disabled gates: {missing}.',
    'Enable those too, or disable {name}.',
  ],
  cgroupV1: [
    10,
    '{where}: failCgroupV1: kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be removed in a future release.',
    'Boot the machine with cgroup v2, or set failCgroupV1: false (flag --fail-cgroupv1=false).',
  ],
  notDirectory: [
    11,
    'cannot read the drop-in directory {where}: {reason}.',
    'Give --config-dir a directory that exists.',
  ],
  unknownFlag: [20, 'unknown flag {flag}.{suggestion}', 'See --help for all flags.'],
  badFlag: [21, 'flag {flag}: got {got}; accepted: {accepted}.', 'Correct the value.'],
  flagNeedsValue: [22, 'flag {flag} needs a value: {accepted}.', 'Write {flag}=VALUE.'],
  unexpectedArgument: [
    23,
    'unexpected argument {argument}: the daemon takes flags only.{suggestion}',
    'Write a boolean as --flag=false, not --flag false; see --help for the subcommands.',
  ],
  unknownCommand: [
    25,
    'There is no command {command}.{suggestion}',
    'The commands are {commands}; without one, actorlet takes flags and runs the agent. actorlet --help lists all.',
  ],
  badNodeLabel: [24, "flag --node-labels: label '{label}': {reason}.", 'Correct or remove the label.'],
  notRoot: [
    30,
    'kubelet needs to run as uid `0`. It is being run as {uid}.',
    'Start it as root (sudo, or a system service).',
  ],
  swapOn: [
    31,
    'running with swap on is not supported, please disable swap or set --fail-swap-on flag to false. In use: {swaps}.',
    'Run swapoff -a, or set failSwapOn: false.',
  ],
  reservedCpus: [
    40,
    'reserved-cpus: {cpus} is not a subset of online-cpus: {online}.',
    'Name processors that the machine has in reservedSystemCPUs (--reserved-cpus).',
  ],
  reservedTooMuch: [
    41,
    'invalid Node Allocatable configuration. {problem}',
    'Reserve less in systemReserved, kubeReserved and evictionHard.',
  ],
  watchdog: [42, 'configure watchdog: {problem}.', 'Give the service a WatchdogSec of more than one second, or none.'],
  noLockFile: [
    43,
    'cannot exit on lock file contention: no lock file specified.',
    'Give --lock-file too, or leave --exit-on-lock-contention out.',
  ],
  notLocked: [
    44,
    'unable to acquire file lock on "{path}": {reason}.',
    'Name a file in a folder that exists and can be written; flock of util-linux is needed.',
  ],
});
