import type { Pod } from '../protocol/api-types.ts';
import { lacking, lacks } from './lacking.ts';
import { POD_SHAPE } from './pod-shape.ts';
import { invalid, problemText, required } from './problem.ts';
import { fits, readShape } from './shape.ts';

/** Names that lead out of the pod's folder, or that no plain object can hold. */
const NO_FOLDERS = new Set(['.', '..', '__proto__']);

/** Can a pod's folder be called so? */
export function isPodUid(uid: string): boolean {
  return /^[\w.-]{1,253}$/.test(uid) && !NO_FOLDERS.has(uid);
}

/** Containers and volumes of which machines could keep no record: no plain object holds an entry of that name. */
function* unholdable({ spec }: Pod): Generator<string, void, undefined> {
  const lists = ['containers', 'initContainers', 'ephemeralContainers', 'volumes'] as const;
  for (const list of lists)
    for (const [i, { name }] of (spec?.[list] ?? []).entries())
      if (name === '__proto__') yield `spec.${list}[${i}].name`;
}

/**
 * Why a pod of the API cannot be used at all: fields of the wrong type, or without what tells things apart; undefined
 * when it can. The API server, which has checked the rest, sends no such pod; a client in Go would fail to decode it.
 */
export function podProblem(raw: unknown): string | undefined {
  if (isUsable(raw)) return undefined;
  const { value, problems } = readShape(raw, POD_SHAPE);
  const pod = (value ?? {}) as Pod;
  const uid = pod.metadata?.uid ?? '';
  if (!isPodUid(uid)) problems.push(invalid('metadata.uid', uid, 'must be the name of a folder'));
  if (!pod.metadata?.name) problems.push(required('metadata.name'));
  if (!pod.metadata?.namespace) problems.push(required('metadata.namespace'));
  if (!pod.spec?.containers?.length) problems.push(required('spec.containers'));
  if (problems.length === 0) problems.push(...lacking(raw));
  if (problems.length === 0)
    for (const field of unholdable(pod)) problems.push(invalid(field, '__proto__', 'is no name'));
  return problems.length === 0 ? undefined : problems.slice(0, 5).map(problemText).join('; ');
}

/** Almost all pods are: that is told without noting where something is. */
function isUsable(raw: unknown): boolean {
  if (!fits(raw, POD_SHAPE) || lacks(raw)) return false;
  const { metadata, spec } = raw as Pod;
  if (!metadata?.name || !metadata.namespace || !isPodUid(metadata.uid ?? '')) return false;
  return (spec?.containers?.length ?? 0) > 0 && unholdable(raw as Pod).next().done === true;
}
