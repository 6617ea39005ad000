import { behaves } from '../protocol/behaviour.ts';
import { sandboxWarnings } from '../sandbox-config/sandbox-config.ts';
import type { Draft } from './draft.ts';
import { podEvent } from './draft.ts';
import type { PodContext } from './pod-context.ts';
import { sameJson } from './same-json.ts';

/**
 * Tells what is wrong with the pod's resolver settings (`MissingClusterDNS`, `DNSConfigForming`), with each try to make a sandbox and before it
 * is made, as kubelet does while it generates the config.
 */
export function tellResolverWarnings(draft: Draft): void {
  const { context } = draft;
  const { pod, settings, resolver } = context;
  const warnings = sandboxWarnings(pod, settings, resolver);
  for (const { reason, message } of warnings) podEvent(draft, 'Warning', reason, message);
  if (!behaves(settings, 'triesAreToldOf')) return;
  delete context.resolverWarnings;
  if (!sameJson(warnings, sandboxWarnings(pod, settings))) context.resolverWarnings = warnings;
}

/**
 * Tells them again at a round of the pod, of the sandbox that it has: kubelet generates the config at each sync, and a warning that is told once
 * is gone from the API server an hour later. A node without one has them in its log.
 */
export function tellResolverWarningsAgain(draft: Draft): void {
  const { context } = draft;
  if (context.settings.cluster !== true || !behaves(context.settings, 'triesAreToldOf') || !hasSandbox(context)) return;
  const warnings = context.resolverWarnings ?? sandboxWarnings(context.pod, context.settings);
  for (const { reason, message } of warnings) podEvent(draft, 'Warning', reason, message);
}

/** It is to run, and has a sandbox: of one that is made just now a try tells. */
function hasSandbox({ termination, runtimeReady, tasks, observed }: PodContext): boolean {
  if (termination !== null || !runtimeReady || tasks['sandbox.run']?.state !== 'done') return false;
  return observed?.sandboxes[0]?.state === 'ready';
}
