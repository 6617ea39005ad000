/** Why a spec cannot tell on the simulated runtime what it tells on a real one. */
interface SimulatedLimit {
  why: string;
  /** Only by an agent by itself: the nodes of `actorlet nodes` serve streams. */
  alone?: true;
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
    alone: true,
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
    names: ['Security Context', 'should support sysctls', 'PrivilegedPod'],
  },
];

/** Why the spec fails on the simulated runtime; undefined when it should pass. @param fleet on nodes of `actorlet nodes` */
export function simulatedLimit(name: string, fleet = false): string | undefined {
  return limits(fleet).find((limit) => fits(limit, name))?.why;
}

/** What the spec does not see on the simulated runtime though it passes. */
export function simulatedRemark(name: string): string | undefined {
  return WEAKER.find((limit) => fits(limit, name))?.why;
}

/** All names of {@link simulatedLimit}. */
export function simulatedLimitNames(fleet = false): string[] {
  return limits(fleet).flatMap(({ names }) => names);
}

function limits(fleet: boolean): SimulatedLimit[] {
  return FAILING.filter(({ alone }) => !fleet || alone !== true);
}

function fits({ names }: SimulatedLimit, name: string): boolean {
  return names.some((part) => name.includes(part));
}
