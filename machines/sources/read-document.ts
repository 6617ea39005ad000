import { defaultPod } from '../pod-defaults/default-pod.ts';
import { isPodUid } from '../pod-validation/pod-problem.ts';
import { POD_SHAPE } from '../pod-validation/pod-shape.ts';
import { type FieldProblem, invalid, notSupported, required } from '../pod-validation/problem.ts';
import { readShape } from '../pod-validation/shape.ts';
import { validatePod } from '../pod-validation/validate-pod.ts';
import type { Pod } from '../protocol/api-types.ts';
import { type StaticOrigin, staticPod } from './static-pod.ts';
import { apiReferences } from './static-references.ts';

/** One object of a document that should be a pod, not yet looked into. */
export interface PodCandidate {
  /** Where it stands: '' for the document itself, `items[2].` in a list. */
  prefix: string;
  value: unknown;
}

/** A decoded manifest: known fields only and defaulted. */
export interface DecodedPod {
  pod: Pod;
  /** The pod as it was written, without defaults: its hash needs to know. */
  written: Pod;
  problems: FieldProblem[];
  /** Fields that `v1.Pod` does not have; they have no effect. */
  unknownFields: string[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Finds the pods in one decoded document: a `Pod`, a `PodList`, or a `v1.List` of pods. */
export function podsIn(document: unknown): { candidates: PodCandidate[]; problems: FieldProblem[] } {
  if (!isObject(document)) {
    const problem = {
      field: '(document)',
      problem: 'Invalid value: must be an object',
      accepted: 'a Pod, a PodList or a List',
    };
    return { candidates: [], problems: [problem] };
  }
  const problems: FieldProblem[] = [];
  const { kind, apiVersion } = document;
  if (!kind) problems.push(required('kind'));
  if (!apiVersion) problems.push(required('apiVersion'));
  else if (apiVersion !== 'v1') problems.push(notSupported('apiVersion', apiVersion, ['v1']));
  const kinds = ['Pod', 'PodList', 'List'];
  if (kind && !(typeof kind === 'string' && kinds.includes(kind))) problems.push(notSupported('kind', kind, kinds));
  if (problems.length > 0) return { candidates: [], problems };
  if (kind === 'Pod') return { candidates: [{ prefix: '', value: document }], problems };
  return listItems(document, kind === 'List');
}

function listItems(
  document: Record<string, unknown>,
  mixed: boolean,
): { candidates: PodCandidate[]; problems: FieldProblem[] } {
  const items = document['items'] ?? [];
  const problems: FieldProblem[] = [];
  if (!Array.isArray(items)) {
    return {
      candidates: [],
      problems: [{ field: 'items', problem: 'Invalid value: must be a list', accepted: 'a list of pods' }],
    };
  }
  const candidates = items.map((value: unknown, index) => ({ prefix: `items[${index}].`, value }));
  const wrong = (kind: unknown): boolean => (mixed ? kind !== 'Pod' : kind !== undefined && kind !== 'Pod');
  const good = candidates.filter(({ prefix, value }) => {
    const kind = isObject(value) ? value['kind'] : undefined;
    if (isObject(value) && wrong(kind)) problems.push(notSupported(`${prefix}kind`, kind ?? '', ['Pod']));
    return !(isObject(value) && wrong(kind));
  });
  return { candidates: good, problems };
}

/** Decodes one candidate: types, unknown fields, defaults, and the name that every static pod must have. */
export function decodePod(candidate: PodCandidate): DecodedPod {
  const { value, problems, unknown } = readShape(candidate.value, POD_SHAPE);
  const written: Pod = isObject(value) ? value : {};
  const pod = defaultPod(written);
  if (problems.length === 0 && !pod.metadata?.name)
    problems.push(required('metadata.name', 'name is needed for the pod'));
  return { pod, written, problems, unknownFields: unknown };
}

/**
 * Makes a decoded manifest a static pod and checks it. Wrong types are reported beside what else is wrong, but not twice.
 */
export function finishPod(
  decoded: DecodedPod,
  origin: StaticOrigin,
  hash: string,
): { pod: Pod; problems: FieldProblem[] } {
  const pod = staticPod(decoded.pod, origin, hash);
  const known = decoded.problems;
  const covered = ({ field }: FieldProblem): boolean =>
    known.some(
      (other) => field === other.field || field.startsWith(`${other.field}.`) || field.startsWith(`${other.field}[`),
    );
  const found = [
    ...uidOf(pod),
    ...validatePod(pod, origin.gates),
    ...apiReferences(pod, origin.gates?.preventStaticPodAPIReferences),
  ].filter((problem) => !covered(problem) && !(problem.field === 'metadata.name' && !decoded.pod.metadata?.name));
  return { pod, problems: [...known, ...found] };
}

/** A folder of the pod is called by its uid: one that leads elsewhere must not be used. */
function uidOf(pod: Pod): FieldProblem[] {
  const uid = pod.metadata?.uid ?? '';
  if (isPodUid(uid)) return [];
  return [invalid('metadata.uid', uid, "must consist of alphanumeric characters, '-', '_' or '.', at most 253")];
}
