/** Why a spec cannot tell on the simulated runtime what it tells on a real one. */
interface SimulatedLimit {
  why: string;
  /** Parts of the names of specs. */
  names: readonly string[];
}

/** Specs that fail on the simulated runtime by its nature: its pods have no processes and no network. */
const FAILING: readonly SimulatedLimit[] = [
  {
    why: 'a server in a pod has to answer',
    names: [
      'Networking Granular Checks: Pods',
      'lifecycle hook should execute',
      'should *not* be restarted with a /healthz http liveness probe',
      'should *not* be restarted with a non-local redirect http liveness probe',
      'should *not* be restarted with a GRPC liveness probe',
      'should *not* be restarted with a tcp:8080 liveness probe',
      'with readiness probe should not be ready before initial delay and never restart',
    ],
  },
  {
    why: 'streams of a command in a container',
    names: [
      'KubeletManagedEtcHosts should test kubelet managed /etc/hosts file',
      'Pods should support remote command execution over websockets',
      'Ephemeral Containers',
      'PrivilegedPod',
    ],
  },
];

/** Specs that pass on the simulated runtime with less behind it. */
const WEAKER: readonly SimulatedLimit[] = [
  {
    why: 'the server does not answer from the start, not only when it means to',
    names: [
      'should be restarted with a /healthz http liveness probe',
      'should be restarted with a GRPC liveness probe',
      'should be restarted with a local redirect http liveness probe',
      'should have monotonically increasing restart count',
      'with readiness probe that fails should never be ready and never restart',
    ],
  },
  {
    why: "the kernel's part (users, capabilities, sysctls) is taken from the container's configuration",
    names: ['Security Context', 'should support sysctls'],
  },
];

/** Why the spec fails on the simulated runtime; undefined when it should pass. */
export function simulatedLimit(name: string): string | undefined {
  return FAILING.find((limit) => fits(limit, name))?.why;
}

/** What the spec does not see on the simulated runtime though it passes. */
export function simulatedRemark(name: string): string | undefined {
  return WEAKER.find((limit) => fits(limit, name))?.why;
}

/** All names of {@link simulatedLimit}. */
export function simulatedLimitNames(): string[] {
  return FAILING.flatMap(({ names }) => names);
}

function fits({ names }: SimulatedLimit, name: string): boolean {
  return names.some((part) => name.includes(part));
}
