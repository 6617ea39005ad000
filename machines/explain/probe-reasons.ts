import type { Probe } from '../protocol/api-types.ts';
import { probesOf } from '../pod/children.ts';
import { specContainer } from '../pod/spec.ts';
import { statePath } from '../machine-step/step.ts';
import type { Cause } from './explanation.ts';
import type { Failure } from './pod-history.ts';
import { failureOf, machineSince } from './view.ts';
import type { Reason, View } from './view.ts';
import { failed } from './words.ts';
import { span, times } from '../values/spoken-time.ts';

interface ProbeView {
  view: View;
  /** `<container>/<kind>`. */
  key: string;
  /** E.g. `web: its readiness probe (HTTP GET :8080/healthz)`. */
  label: string;
  probe: Probe;
}

type Explainer = (of: ProbeView) => Reason;

/** Why a probe machine is in its state: one entry for each state of its chart. */
export const PROBE_REASONS: Readonly<Record<string, Explainer>> = {
  idle: (of) => one(of, `${of.label} rests: the container does not run`),
  waiting: (of) => {
    const { view, key, label, probe } = of;
    const place = view.context.probes[key]?.context;
    const failure = ofThisContainer(of);
    const early = failedEarly(of);
    const fresh = place?.outcome === 'unknown' || !hasRun(of);
    const causes: Cause[] = [];
    if (failure !== undefined)
      causes.push({
        at: failure.lastAt,
        text: view.mask(`${label} ${failed(failure)}; ${probe.failureThreshold ?? 3} in a row count as failed`),
        kind: 'probe',
      });
    else if (early !== undefined) causes.push({ at: since(of), text: view.mask(`${label} ${early}`), kind: 'probe' });
    else if (fresh) causes.push({ at: since(of), text: `${label} has not run yet${delay(probe)}`, kind: 'probe' });
    else if (place?.outcome === 'success' && place.result !== 'success')
      causes.push({
        at: since(of),
        text: `${label} succeeded ${times(place.run)}; ${probe.successThreshold ?? 1} in a row are needed`,
        kind: 'probe',
      });
    else
      causes.push({
        at: since(of),
        text: `${label} waits for its next turn; it says ${place?.result ?? 'nothing'} so far`,
        kind: 'probe',
      });
    const at = place?.deadline ?? null;
    return { causes, ...(at !== null && { next: { at, what: 'the probe runs again, triggered by timer' } }) };
  },
  probing: (of) => {
    const { view, label } = of;
    const failure = ofThisContainer(of);
    const before = failure === undefined ? '' : view.mask(`; before, it ${failed(failure)}`);
    return one(of, `${label} is running now${before}`);
  },
  onHold: (of) => {
    const { view, key, label } = of;
    const result = view.context.probes[key]?.context.result;
    return one(
      of,
      `${label} is over (${result === 'success' ? 'it succeeded' : 'it failed'}) until there is a new container`,
    );
  },
  ended: (of) => one(of, `${of.label} is quiet: the pod terminates`),
};

/** Why a container's probe of that kind says what it says; null when the container has none. */
export function probeReason(view: View, name: string, kind: 'startup' | 'liveness' | 'readiness'): Reason | null {
  const owner = specContainer(view.context.pod, name);
  const found = owner === null ? undefined : probesOf(owner).find((p) => p.kind === kind);
  if (found === undefined) return null;
  const of = {
    view,
    key: found.key,
    label: `${name}: its ${kind} probe (${handlerOf(found.probe)})`,
    probe: found.probe,
  };
  const state = statePath(view.context.probes[found.key]?.value);
  return PROBE_REASONS[state]?.(of) ?? one(of, `${of.label} is in ${state || 'no state yet'}`);
}

function one(of: ProbeView, text: string): Reason {
  return { causes: [{ at: since(of), text, kind: 'probe' }] };
}

/** Its last run failed, and was of the container that runs now. `key`: `<container>/<kind>`. */
export function hasFailed(of: Pick<ProbeView, 'view' | 'key'>): boolean {
  return hasRun(of) && of.view.context.probes[of.key]?.context.outcome === 'failure';
}

/** It was run since the container began that runs now: what it says is not all of the one before. */
function hasRun({ view, key }: Pick<ProbeView, 'view' | 'key'>): boolean {
  const place = view.context.probes[key]?.context;
  const seen = view.context.observed?.containers.find(({ id }) => id === place?.containerId);
  return place !== undefined && place.askedAt >= (seen?.startedAt ?? 0);
}

/** Failures in a row; of a container that has ended they are told when the one that follows has failed, too. */
function ofThisContainer(of: ProbeView): Failure | undefined {
  const { view, key } = of;
  const failure = failureOf(view, `probe/${key}`);
  const place = view.context.probes[key]?.context;
  if (failure === undefined || place === undefined || place.run === 0 || !hasFailed(of)) return undefined;
  return { ...failure, count: place.run };
}

/** The first run of this container's failed, before failures count. */
function failedEarly({ view, key, probe }: ProbeView): string | undefined {
  const failure = failureOf(view, `probe/${key}`);
  const { countsFrom: from, outcome, askedAt = 0 } = view.context.probes[key]?.context ?? {};
  const isOfFirstRun = (at: number, end: number) => at >= end - (probe.periodSeconds ?? 10) * 1000;
  if (failure === undefined || typeof from !== 'number' || !isOfFirstRun(failure.lastAt, from)) return undefined;
  if (outcome !== 'unknown' && askedAt >= from) return undefined;
  return `${failed({ ...failure, count: 1 })}, which is too early to count`;
}

function since({ view, key }: ProbeView): number {
  return machineSince(view, key) || view.history.state.at;
}

function delay({ initialDelaySeconds = 0 }: Probe): string {
  return initialDelaySeconds === 0 ? '' : ` (initialDelaySeconds ${span(initialDelaySeconds * 1000)})`;
}

/** What the probe does; a command is not shown, since it may hold what nobody should see. */
function handlerOf(probe: Probe): string {
  if (probe.exec) return 'a command';
  if (probe.httpGet) return `HTTP GET :${probe.httpGet.port}${probe.httpGet.path ?? '/'}`;
  if (probe.tcpSocket) return `TCP :${probe.tcpSocket.port}`;
  return probe.grpc ? `gRPC :${probe.grpc.port}` : 'not set';
}
