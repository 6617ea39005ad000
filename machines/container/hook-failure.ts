import { behaves } from '../protocol/behaviour.ts';
import { goQuote } from '../values/go-quote.ts';
import type { ContainerEvent } from './container-context.ts';
import { failureText, podText, runtimeError } from './container-events.ts';
import { hookAction } from './hook-effect.ts';

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
    const follows = behaves(event.world.settings, 'requestsFailWithoutCodes');
    return { error: follows ? failureText(event.outcome) : runtimeError(event.outcome.error), output: '' };
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
