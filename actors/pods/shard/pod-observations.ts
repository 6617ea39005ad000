import type { ContainerKind } from '../../../machines/container/container-context.ts';
import { statePath } from '../../../machines/machine-step/step.ts';
import type { PodContext } from '../../../machines/pod/pod-context.ts';
import { specContainer } from '../../../machines/pod/spec.ts';
import { verdictOf } from '../../../machines/probe/probe-verdict.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import { CONFIG_FIRST_SEEN } from '../../../machines/sources/annotations.ts';
import type { Observation } from '../../record/metrics/observation.ts';

/** kubelet's names for the kinds of containers; a sidecar is an init container there. */
const CONTAINER_TYPE: Readonly<Record<ContainerKind, string>> = {
  init: 'init_container',
  sidecar: 'init_container',
  regular: 'container',
  ephemeral: 'ephemeral_container',
};
const PROBE_TYPE = { liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup' } as const;
const PROBE_FIELD = { liveness: 'livenessProbe', readiness: 'readinessProbe', startup: 'startupProbe' } as const;
const RESULT = { success: 'successful', failure: 'failed', unknown: 'unknown' } as const;

/** Where a container machine goes from `starting` when the start fails. */
const START_FAILED: ReadonlySet<string> = new Set(['retrying', 'inDoubt', 'starting.imageBackOff']);
/** The waiting reasons that are also kubelet's `code` of a failed start. */
const START_ERRORS: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImageInspectError',
  'ErrImageNeverPull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'PostStartHookError',
]);

/**
 * Readings that one step of a pod gives, under kubelet's metric names: starts of containers and how they failed, probe
 * runs, the time from the first sight of the pod to its running. Found by comparing the place before and after, so the
 * machines know nothing of metrics.
 */
export function podObservations(before: PodContext, after: PodContext, message: PodMessage): Observation[] {
  const out: Observation[] = [];
  if (message.type === 'pod.start' && message.source !== 'orphan') {
    const seen = firstSeen(after);
    const count = after.pod.spec?.containers.length ?? 0;
    out.push({ name: 'kubelet_containers_per_pod_count', labels: {}, value: count, op: 'observe' });
    if (seen !== null) out.push(seconds('kubelet_pod_worker_start_duration_seconds', {}, message.at - seen));
  }
  if (before.status?.phase === 'Pending' && after.status?.phase === 'Running') {
    const seen = firstSeen(after);
    if (seen !== null) out.push(seconds('kubelet_pod_start_duration_seconds', {}, message.at - seen));
  }
  if (before.containers !== after.containers) starts(before, after, message.at, out);
  if (message.type === 'effect.done' || message.type === 'effect.failed') {
    probeRun(before, after, message, out);
    if (message.effect === 'cri.CreateContainer') imageVolumes(after, message, out);
  }
  if (after.finished && !before.finished) forgetProbes(after, out);
  return out;
}

function starts(before: PodContext, after: PodContext, at: number, out: Observation[]): void {
  for (const [name, place] of Object.entries(after.containers)) {
    const old = before.containers[name];
    if (old === place) continue;
    const labels = { container_type: CONTAINER_TYPE[place.context.kind] };
    const was = old === undefined ? 'waiting' : statePath(old.value);
    const is = statePath(place.value);
    if (is.startsWith('starting.') && !was.startsWith('starting.')) {
      out.push({ name: 'kubelet_started_containers_total', labels, value: 1, op: 'inc' });
    }
    const sleepMs = (specContainer(after.pod, name)?.container.lifecycle?.preStop?.sleep?.seconds ?? 0) * 1000;
    if (was === 'stopping.preStop' && is !== was && at < (old?.context.kill?.since ?? 0) + sleepMs)
      out.push({ name: 'kubelet_sleep_action_terminated_early_total', labels: {}, value: 1, op: 'inc' });
    const image = imageRequest(was, is, specContainer(after.pod, name)?.container.imagePullPolicy);
    if (image !== null)
      out.push({ name: 'kubelet_image_manager_ensure_image_requests_total', labels: image, value: 1, op: 'inc' });
    const code = place.context.waiting?.reason ?? '';
    const failed = was.startsWith('starting.') && was !== is && START_FAILED.has(is);
    const hookFailed = was === 'starting.postStart' && is.startsWith('stopping.');
    const badName = is === 'retrying' && was !== 'retrying' && code === 'InvalidImageName';
    if (badName) out.push({ name: 'kubelet_started_containers_total', labels, value: 1, op: 'inc' });
    if ((failed || hookFailed || badName) && START_ERRORS.has(code)) {
      out.push({ name: 'kubelet_started_containers_errors_total', labels: { ...labels, code }, value: 1, op: 'inc' });
      if (after.pod.spec?.hostUsers === false && !everFailed(before))
        out.push({ name: 'kubelet_started_user_namespaced_pods_errors_total', labels: {}, value: 1, op: 'inc' });
    }
  }
}

/** A start has failed, or was repeated: this one is not of the round that made the sandbox, of whose errors kubelet counts the first. */
function everFailed({ containers }: PodContext): boolean {
  return Object.values(containers).some(
    ({ context: { waiting, backOff, imageBackOff, attempt } }) =>
      START_ERRORS.has(waiting?.reason ?? '') || backOff !== null || imageBackOff !== null || attempt > 0,
  );
}

/** What became of the wish for an image; null while nothing is known. Policy Always does not look first. */
function imageRequest(was: string, is: string, policy = 'IfNotPresent'): Record<string, string> | null {
  const pull_policy = policy.toLowerCase();
  const begins = is === 'starting.pullingImage' || is === 'starting.imageBackOff';
  if (was === 'starting.checkingImage' && is === 'starting.awaitingPod')
    return { present_locally: 'true', pull_policy, pull_required: 'false' };
  if (was === 'starting.checkingImage' && (begins || policy === 'Never'))
    return { present_locally: 'false', pull_policy, pull_required: 'true' };
  if (!was.startsWith('starting.') && begins) return { present_locally: 'unknown', pull_policy, pull_required: 'true' };
  return null;
}

type Outcome = Extract<PodMessage, { type: 'effect.done' | 'effect.failed' }>;

/** A run counts once it is over: after an error of the prober itself the machine asks again, under another key. */
function probeRun(before: PodContext, after: PodContext, outcome: Outcome, out: Observation[]): void {
  const [owner, name = '', kind = ''] = outcome.key.split('/');
  if (owner !== 'probe' || !isKind(kind)) return;
  const old = before.probes[`${name}/${kind}`];
  const now = after.probes[`${name}/${kind}`];
  const container = specContainer(after.pod, name)?.container;
  const probe = container?.[PROBE_FIELD[kind]];
  if (old?.context.op !== outcome.key || now === undefined || container === undefined || probe === undefined) return;
  if (statePath(now.value) === 'probing') return;
  const { outcome: result } = verdictOf(outcome, { probe, container, settings: after.settings });
  // Kubelet's worker throws away what was the prober's own error.
  if (result === 'unknown') return;
  const labels = probeLabels(after, name, kind);
  const total = { ...labels, result: RESULT[result], pod_uid: after.uid };
  out.push({ name: 'prober_probe_total', labels: total, value: 1, op: 'inc' });
  if (result !== 'failure')
    out.push(seconds('prober_probe_duration_seconds', labels, outcome.at - old.context.askedAt));
}

/**
 * Image volumes of a container that was made, or could not be. Only what the runtime itself names a failed mount counts as
 * one (cri-api `ErrImageVolumeMountFailed`), as in kubelet.
 */
function imageVolumes({ pod }: PodContext, outcome: Outcome, out: Observation[]): void {
  const images = (pod.spec?.volumes ?? []).flatMap(({ name, image }) => (image === undefined ? [] : [name]));
  if (images.length === 0) return;
  const { container } = specContainer(pod, outcome.key.split('/')[1] ?? '') ?? {};
  const mounted = (container?.volumeMounts ?? []).map(({ name }) => name).filter((name) => images.includes(name));
  if (mounted.length === 0) return;
  const failed = outcome.type === 'effect.failed' && outcome.error.message.startsWith('ImageVolumeMountFailed');
  const end = failed ? 'kubelet_image_volume_mounted_errors_total' : 'kubelet_image_volume_mounted_succeed_total';
  const requested = new Set(mounted).size;
  out.push({ name: 'kubelet_image_volume_requested_total', labels: {}, value: requested, op: 'inc' });
  out.push({ name: end, labels: {}, value: mounted.length, op: 'inc' });
}

/** The series of a pod that is gone would stay for ever. */
function forgetProbes(context: PodContext, out: Observation[]): void {
  for (const key of Object.keys(context.probes)) {
    const [name = '', kind = ''] = key.split('/');
    if (!isKind(kind)) continue;
    const labels = probeLabels(context, name, kind);
    for (const result of Object.values(RESULT)) {
      const total = { ...labels, result, pod_uid: context.uid };
      out.push({ name: 'prober_probe_total', labels: total, value: 0, op: 'remove' });
    }
    out.push({ name: 'prober_probe_duration_seconds', labels, value: 0, op: 'remove' });
  }
}

function probeLabels({ pod }: PodContext, container: string, kind: keyof typeof PROBE_TYPE): Record<string, string> {
  const { name = '', namespace = '' } = pod.metadata ?? {};
  return { probe_type: PROBE_TYPE[kind], container, pod: name, namespace };
}

function isKind(kind: string): kind is keyof typeof PROBE_TYPE {
  return kind in PROBE_TYPE;
}

function firstSeen({ pod }: PodContext): number | null {
  const at = Date.parse(pod.metadata?.annotations?.[CONFIG_FIRST_SEEN] ?? '');
  return Number.isNaN(at) ? null : at;
}

function seconds(name: string, labels: Record<string, string>, ms: number): Observation {
  return { name, labels, value: Math.max(0, ms) / 1000, op: 'observe' };
}
