/** One condition of the runtime (`runtime.v1.RuntimeCondition`). */
export interface RuntimeCondition {
  type: string;
  status: boolean;
  reason: string;
  message: string;
}

/**
 * What is known of the runtime: not asked yet, no answer now (`before` is what it was), no answer for long, or its conditions.
 */
export type RuntimeLook =
  | { state: 'unasked' }
  | { state: 'quiet'; before: RuntimeHealth }
  | { state: 'silent' }
  | { state: 'answered'; conditions: readonly RuntimeCondition[] };

/** The runtime's part in the node's readiness. */
export interface RuntimeHealth {
  runtimeReady: boolean;
  networkReady: boolean;
  /** Why not, in kubelet's words and order; empty when all is well. */
  messages: string[];
  /**
   * It does not answer, and was ready not long ago: pods wait, the node stays what it was, with its messages. Kubelet, too, bears a
   * restart of the runtime and a machine that is slow for a while (`maxWaitForContainerRuntime`, 30 s).
   */
  quiet?: true;
}

const NETWORK_MESSAGES = ['network state unknown', 'container runtime network not ready'];

/** The runtime's state in the words that kubelet puts into the Ready condition. */
export function runtimeHealthOf(look: RuntimeLook): RuntimeHealth {
  if (look.state === 'unasked') {
    return {
      runtimeReady: false,
      networkReady: false,
      messages: ['container runtime status check may not have completed yet', 'network state unknown'],
    };
  }
  if (look.state === 'quiet') {
    return { runtimeReady: false, networkReady: false, messages: look.before.messages, quiet: true };
  }
  if (look.state === 'silent') {
    return { runtimeReady: false, networkReady: false, messages: ['container runtime is down'] };
  }
  const messages: string[] = [];
  const ready = (type: string, name: string) => {
    const condition = look.conditions.find((c) => c.type === type);
    if (condition?.status === true) return true;
    messages.push(`${name} not ready: ${condition === undefined ? '<nil>' : conditionText(condition)}`);
    return false;
  };
  const runtimeReady = ready('RuntimeReady', 'container runtime');
  const networkReady = ready('NetworkReady', 'container runtime network');
  return { runtimeReady, networkReady, messages };
}

/** Why the runtime's network is not ready, in kubelet's words; undefined when it is, and when that is not known. */
export function networkProblemOf({
  networkReady,
  messages = [],
}: Pick<RuntimeHealth, 'networkReady'> & Partial<RuntimeHealth>): string | undefined {
  return networkReady ? undefined : messages.find(isOfNetwork);
}

function isOfNetwork(message: string): boolean {
  return NETWORK_MESSAGES.some((start) => message.startsWith(start));
}

function conditionText(c: RuntimeCondition): string {
  return `${c.type}=${String(c.status)} reason:${c.reason} message:${c.message}`;
}

/** Everything that keeps the node from being ready. */
export interface ReadinessFacts {
  runtime: RuntimeHealth;
  /** What PLEG says, e.g. `pleg was last seen active 3m0s ago; threshold is 3m0s`; null when it is well. */
  plegError: string | null;
  storageErrors?: readonly string[];
  shutdownErrors?: readonly string[];
}

/** The errors in kubelet's order: runtime, PLEG, network, storage, shutdown. */
export function readinessErrors(facts: ReadinessFacts): string[] {
  const { runtime } = facts;
  const runtimeMessages = runtime.messages.filter((m) => !isOfNetwork(m));
  const networkMessages = runtime.messages.filter(isOfNetwork);
  if (!runtime.runtimeReady && runtime.quiet !== true && runtimeMessages.length === 0)
    runtimeMessages.push('container runtime is down');
  if (!runtime.networkReady && runtime.runtimeReady && networkMessages.length === 0) {
    networkMessages.push('container runtime network not ready: <nil>');
  }
  return [
    ...runtimeMessages,
    ...(facts.plegError === null ? [] : [`PLEG is not healthy: ${facts.plegError}`]),
    ...networkMessages,
    ...(facts.storageErrors ?? []),
    ...(facts.shutdownErrors ?? []),
  ];
}
