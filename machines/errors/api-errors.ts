import { defineErrors } from './define.ts';

/** Errors of the way to the API server: the kubeconfig, its credentials and exec plugins. */
export const apiErrors = defineErrors('API', {
  unreadable: [1, 'cannot read {where}: {reason}.', 'Name a file that exists and that this user may read.'],
  notYaml: [2, 'kubeconfig {where} is neither YAML nor JSON: {reason}.', 'Correct the syntax at the named place.'],
  badField: [3, 'kubeconfig {where}: {path}: got {got}; accepted: {accepted}.', 'Correct the field.'],
  unknownName: [
    4,
    "kubeconfig {where}: {path} names {kind} '{name}', which is not in the file; it has: {known}.",
    'Name one of those, or add it.',
  ],
  notSupported: [5, 'kubeconfig {where}: {path} is not supported by actorlet.', '{instead}'],
  badReference: [
    6,
    'kubeconfig {where}: {path}: file {file} {reason}.',
    'Correct the path (relative ones start at the folder of the kubeconfig) or the file.',
  ],
  manyWays: [
    7,
    'kubeconfig {where}: {path}: more than one way to authenticate: {found}.',
    'Keep one of token, username and exec.',
  ],
  execFailed: [
    10,
    'the credential plugin {command} of kubeconfig {where} failed: {reason}.',
    'Run it by hand as the same user. {hint}',
  ],
  execBadAnswer: [
    11,
    'the credential plugin {command} of kubeconfig {where} wrote no usable ExecCredential: {path}: got {got}; accepted: {accepted}.',
    'Correct the plugin, or its apiVersion in the kubeconfig.',
  ],
});
