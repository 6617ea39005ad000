import { behaves } from '../protocol/behaviour.ts';
import { goQuote } from '../values/go-quote.ts';
import type { ContainerEvent } from './container-context.ts';
import { failureText, podText, runtimeError } from './container-events.ts';
import { hookAction, isOverHttp } from './hook-effect.ts';

/**
 * Why the container's postStart hook failed, as `state.waiting.message` of PostStartHookError says it (kubelet's
 * handlerRunner.Run). What the hook wrote is in it, as with kubelet; events do not repeat it, so that no server leaks secrets there.
 */
export function postStartFailure(event: ContainerEvent): string {
  const { container, pod } = event.world;
  const handler = container.lifecycle?.postStart;
  const whose = `for Container "${container.name}" in Pod "${podText(pod)}" failed - error: `;
  const { error, output } = failureOf(event);
  if (handler?.exec) {
    const command = `Exec lifecycle hook ([${(handler.exec.command ?? []).join(' ')}])`;
    return `${command} ${whose}${error}, message: ${goQuote(output)}`;
  }
  if (handler?.httpGet) return `HTTP lifecycle hook (${handler.httpGet.path ?? ''}) ${whose}${error}`;
  return `Cannot run handler: ${error}`;
}

function failureOf(event: ContainerEvent): { error: string; output: string } {
  if (event.type === 'failed') {
    const { outcome, world } = event;
    if (isOverHttp(outcome) && behaves(world.settings, 'triesAreToldOf'))
      return { error: httpsFailure(outcome.error.message), output: '' };
    const follows = behaves(world.settings, 'requestsFailWithoutCodes');
    return { error: follows ? failureText(outcome) : runtimeError(outcome.error), output: '' };
  }
  const handler = event.world.container.lifecycle?.postStart;
  if (event.type === 'done' && event.outcome.effect === 'cri.ExecSync') {
    const { exitCode, output, stderr = '' } = event.outcome.result;
    const command = (handler?.exec?.command ?? []).join(' ');
    return { error: `command '${command}' exited with ${String(exitCode)}: ${stderr}`, output };
  }
  const hook = handler === undefined ? undefined : hookAction(handler, event.world, '', '', 0);
  return { error: hook !== undefined && 'error' in hook ? hook.error : '', output: '' };
}

/** `Get "http://web:80/": ...` of the request that was sent again: what failed first is told (kubelet's runHTTPHandler), with the same URL. */
function httpsFailure(text: string): string {
  const [, url = ''] = /^Get "http(:\/\/(?:[^"\\]|\\.)*)": /.exec(text) ?? [];
  return `Get "https${url}": http: server gave HTTP response to HTTPS client`;
}
