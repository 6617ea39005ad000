import { defineErrors } from './define.ts';

/** Errors of `actorlet nodes`: its profile and its options. */
export const nodesErrors = defineErrors('NDS', {
  profileUnreadable: [
    1,
    'The profile {file} cannot be read: {problem}.',
    'Give --profile a readable YAML or JSON file.',
  ],
  profileSyntax: [
    2,
    'The profile {file} is not valid YAML or JSON: {problem}.',
    'Correct the file at the place named.',
  ],
  profileInvalid: [
    3,
    'The profile {file} has wrong values: {problems}.',
    'Correct each field named; docs/simulated-nodes.md lists them.',
  ],
  flagInvalid: [4, '{flag} is {value}, which is not {accepted}.', 'Give {accepted}.'],
  rangeTooSmall: [
    5,
    '{what} {range} has room for {room} nodes, and {count} are asked for.',
    'Give a wider range or fewer nodes.',
  ],
  inspectNeedsJournals: [
    6,
    '--inspect shows what the journals of the nodes hold, and there is no --journal-dir.',
    'Give --journal-dir, or leave out --inspect.',
  ],
  sliceFieldDropped: [
    7,
    'The API server has left out {field} of ResourceSlices of driver {driver}: its feature gate {gate} is off.',
    'Switch {gate} on in kube-apiserver, kube-scheduler and kube-controller-manager, or leave that out of the profile.',
  ],
  noWayToServer: [
    8,
    'There is no --kubeconfig, and no service account of a pod: {missing}.',
    'Give --kubeconfig, or run in a pod whose service account is mounted (automountServiceAccountToken).',
  ],
});
