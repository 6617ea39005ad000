import { defineErrors } from './define.ts';

/** Errors of the connection to the container runtime. What the runtime itself answers is a `CriError`. */
export const criErrors = defineErrors('CRI', {
  invalidEndpoint: [
    1,
    'The container runtime endpoint "{endpoint}" cannot be used: {why}.',
    'Set containerRuntimeEndpoint (--container-runtime-endpoint) or imageServiceEndpoint to a unix socket, e.g. unix:///run/containerd/containerd.sock.',
  ],
  notReachable: [
    2,
    'The container runtime at {endpoint} did not answer within {seconds} s: {why}.',
    'Check that the runtime is up (systemctl status containerd), that the socket exists and that this user may open it.',
  ],
  wrongApiVersion: [
    3,
    'The container runtime at {endpoint} ({name} {version}) speaks CRI version "{api}"; accepted: "v1".',
    'Update the runtime: containerd 1.6 or CRI-O 1.23 are the oldest that serve CRI v1.',
  ],
  notCri: [
    4,
    'The server at {endpoint} does not serve CRI v1 (package runtime.v1): {why}.',
    'Enable the CRI plugin (in containerd: remove "cri" from disabled_plugins in /etc/containerd/config.toml) or name another endpoint.',
  ],
});
