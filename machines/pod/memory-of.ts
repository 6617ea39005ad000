import { behaves } from '../protocol/behaviour.ts';
import type { PodMemory, ProbeMemory } from '../protocol/memory.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import type { ProbeContext } from '../probe/probe-context.ts';
import type { PodContext } from './pod-context.ts';

/** Extracts what must survive a restart of the agent or of a worker. */
export function memoryOf(context: PodContext): PodMemory {
  const memory: PodMemory = { containers: {}, probes: {}, messages: context.messages };
  if (context.startedAt !== 0) memory.startedAt = context.startedAt;
  if (context.resize !== undefined) {
    const { generation, since, error, actuated, podLevel } = context.resize;
    memory.resize = { generation, since, error, actuated, ...(podLevel && { podLevel }) };
  }
  if (context.termination !== null) memory.termination = context.termination;
  const { containers, probes } = context;
  for (const name in containers) {
    const c = containers[name]?.context;
    if (c === undefined) continue;
    if (c.backOff === null && c.imageBackOff === null && c.preStopDone === '') continue;
    memory.containers[name] = {
      ...(c.backOff !== null && { backOff: c.backOff }),
      ...(c.imageBackOff !== null && { imageBackOff: c.imageBackOff }),
      ...(c.preStopDone !== '' && { preStopDone: c.preStopDone }),
    };
  }
  for (const key in probes) {
    const p = probes[key]?.context;
    if (p === undefined || p.containerId === '') continue;
    memory.probes[key] = probeMemoryOf(p, context.settings);
  }
  return memory;
}

/** A probe's share. What each of its runs would change is left out: a status would be told, and journaled, for every run. */
export function probeMemoryOf(
  { containerId, result, outcome, run, deadline }: ProbeContext,
  settings: Pick<NodeSettings, 'behaviour'>,
): ProbeMemory {
  return behaves(settings, 'steadyProbesAreQuiet')
    ? { containerId, result, run: outcome === result ? 0 : run, outcome }
    : { containerId, result, run, outcome, nextAt: deadline ?? 0 };
}
