/**
 * Beginnings or middles of the names of 25 short specs of [NodeConformance], chosen to touch each part of a pod's life;
 * `bin/test` runs them. The whole suite takes `bin/conformance` a quarter of an hour.
 */
export const SAMPLE_SPECS: readonly string[] = [
  'Networking Granular Checks: Pods should function for node-pod communication: http',
  'ConfigMap should be consumable via the environment',
  '[sig-node] Container Lifecycle Hook when create a pod with lifecycle hook should execute poststart exec hook properly',
  '[sig-node] Container Lifecycle Hook when create a pod with lifecycle hook should execute prestop http hook properly',
  'should report termination message from log output if TerminationMessagePolicy FallbackToLogsOnError is set',
  "Containers should be able to override the image's default command and arguments",
  "Downward API should provide container's limits.cpu/memory and requests.cpu/memory as env vars",
  'will start an ephemeral container in an existing pod',
  'should invoke init containers on a RestartAlways pod',
  'should not start app containers and fail the pod if init containers fail on a RestartNever pod',
  'should test kubelet managed /etc/hosts file',
  "should reject pod when the node OS doesn't match pod's OS",
  'Pods should allow activeDeadlineSeconds to be updated',
  'Pods should support remote command execution over websockets',
  'Probing container should be restarted with a /healthz http liveness probe',
  'should schedule a Pod requesting a RuntimeClass and initialize its Overhead',
  'When creating a container with runAsUser should run the container with uid 65534',
  'when creating containers with AllowPrivilegeEscalation should not allow privilege escalation when false',
  'should support sysctls with slashes as separator',
  "Variable Expansion should allow substituting values in a container's command",
  'Probing restartable init container should be ready immediately after startupProbe succeeds',
  'ConfigMap updates should be reflected in volume',
  'EmptyDir volumes should support (non-root,0666,tmpfs)',
  'HostPath should support subPath',
  'Projected secret should be consumable from pods in volume as non-root with defaultMode and fsGroup set',
];

/** The text as a regular expression that matches it alone. */
export function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
