import { defineErrors } from './define.ts';

/** Errors of images: where logins for registries come from. */
export const imageErrors = defineErrors('IMG', {
  pullSecretInvalid: [
    1,
    'Image pull secret {namespace}/{name} cannot be used: {problem}.',
    'Make it anew with `kubectl create secret docker-registry`; its value is shown nowhere.',
  ],
  providerConfigUnreadable: [
    2,
    'Cannot read the credential provider configuration {file}: {reason}.',
    'Give --image-credential-provider-config a YAML or JSON file, or a folder of .yaml, .yml and .json files.',
  ],
  providerConfigInvalid: [
    3,
    'The credential provider configuration {file} is not valid: {problem}.',
    'See kubelet.config.k8s.io/v1 CredentialProviderConfig for its fields.',
  ],
  providerMissing: [
    4,
    'The credential provider {file} cannot be executed: {reason}.',
    'Put the program named in the configuration into --image-credential-provider-bin-dir and make it executable.',
  ],
});
