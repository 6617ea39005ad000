import type { EffectDone, EffectFailed } from '../protocol/messages.ts';
import type { ProbeResult, ProbeWorld } from './probe-context.ts';

/** What one run of a probe says; `text` is the tail of kubelet's Unhealthy message. */
export interface Verdict {
  outcome: ProbeResult;
  text: string;
}

/**
 * Judges one run. A command that ran too long, a connection that was refused, a status outside 200-399 are
 * failures; an error of the runtime itself is `unknown` and counts for nothing (kubelet prober.go).
 */
export function verdictOf(outcome: EffectDone | EffectFailed, world: Pick<ProbeWorld, 'probe'>): Verdict {
  if (outcome.type === 'effect.failed') return failed(outcome, world);
  switch (outcome.effect) {
    case 'cri.ExecSync':
      return { outcome: outcome.result.exitCode === 0 ? 'success' : 'failure', text: outcome.result.output };
    case 'net.HttpGet': {
      const { status } = outcome.result;
      return status >= 200 && status < 400
        ? { outcome: 'success', text: outcome.result.body }
        : { outcome: 'failure', text: `HTTP probe failed with statuscode: ${status}` };
    }
    case 'net.TcpConnect':
      return { outcome: 'success', text: '' };
    case 'net.GrpcHealth':
      return outcome.result.status === 'SERVING'
        ? { outcome: 'success', text: 'service healthy' }
        : { outcome: 'failure', text: `service unhealthy (responded with "${outcome.result.status}")` };
    default:
      return { outcome: 'unknown', text: '' };
  }
}

function failed(outcome: EffectFailed, world: Pick<ProbeWorld, 'probe'>): Verdict {
  const { code, message } = outcome.error;
  if (outcome.effect !== 'cri.ExecSync') return { outcome: 'failure', text: message };
  if (code === 'DeadlineExceeded') {
    const command = JSON.stringify((world.probe.exec?.command ?? []).join(' '));
    return {
      outcome: 'failure',
      text: `command timed out: ${command} timed out after ${world.probe.timeoutSeconds ?? 1}s`,
    };
  }
  return { outcome: 'unknown', text: `rpc error: code = ${code} desc = ${message}` };
}
