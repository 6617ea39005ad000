import { behaves } from '../protocol/behaviour.ts';
import type { EffectDone, EffectFailed } from '../protocol/messages.ts';
import { goDuration } from '../values/go-duration.ts';
import { goQuote } from '../values/go-quote.ts';
import { probeCommand } from './probe-command.ts';
import type { ProbeResult, ProbeWorld } from './probe-context.ts';

/** What was asked for, and of whom. */
type Asked = Pick<ProbeWorld, 'probe' | 'container' | 'settings'>;

/** What one run of a probe says; `text` is the tail of kubelet's Unhealthy or ProbeWarning message. */
export interface Verdict {
  outcome: ProbeResult;
  text: string;
  /** A success that is told as event ProbeWarning (kubelet probe.Warning). */
  warning?: true;
  /** What an `unknown` one would have been, in the words of its event (kubelet's result beside an error). */
  instead?: 'failure' | 'unknown';
}

/**
 * Judges one run. A command that ran too long, a connection that was refused, a status outside 200-399 are
 * failures; an error of the runtime itself, a request that cannot be made and a body that breaks off are `unknown` and count for
 * nothing (kubelet prober.go).
 */
export function verdictOf(outcome: EffectDone | EffectFailed, world: Asked): Verdict {
  if (outcome.type === 'effect.failed') return failed(outcome, world);
  switch (outcome.effect) {
    case 'cri.ExecSync':
      return { outcome: outcome.result.exitCode === 0 ? 'success' : 'failure', text: outcome.result.output };
    case 'net.HttpGet': {
      const { status, body, brokenBody } = outcome.result;
      // Kubelet's prober takes it for an error of its own.
      if (brokenBody !== undefined) return { outcome: 'unknown', text: brokenBody, instead: 'failure' };
      if (status < 200 || status >= 400) {
        return { outcome: 'failure', text: `HTTP probe failed with statuscode: ${status}` };
      }
      // Redirects to the same host were followed: this one leads elsewhere.
      return status >= 300
        ? { outcome: 'success', text: `Probe terminated redirects, Response body: ${body}`, warning: true }
        : { outcome: 'success', text: body };
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

function failed(outcome: EffectFailed, world: Asked): Verdict {
  const { code, message } = outcome.error;
  if (code === 'InvalidRequest') return { outcome: 'unknown', text: message };
  if (outcome.effect !== 'cri.ExecSync') return { outcome: 'failure', text: message };
  if (code === 'DeadlineExceeded') {
    return { outcome: 'failure', text: ranTooLong(world) };
  }
  return { outcome: 'unknown', text: `rpc error: code = ${code} desc = ${message}` };
}

function ranTooLong(world: Asked): string {
  const made = probeCommand(world);
  const command = 'command' in made ? made.command.join(' ') : '';
  const seconds = world.probe.timeoutSeconds ?? 1;
  return behaves(world.settings, 'timeoutsAreGos')
    ? `command timed out: ${goQuote(command)} timed out after ${goDuration(seconds * 1000)}`
    : `command timed out: ${JSON.stringify(command)} timed out after ${seconds}s`;
}
