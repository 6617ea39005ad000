import { ActorletError } from '../../../machines/errors/define.ts';
import { sourceErrors } from '../../../machines/errors/source-errors.ts';
import { type FieldProblem, problemText } from '../../../machines/pod-validation/problem.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { decodePod, finishPod, type PodCandidate, podsIn } from '../../../machines/sources/read-document.ts';
import type { StaticOrigin } from '../../../machines/sources/static-pod.ts';
import { kubeletUid } from '../../../machines/static-pod-uid/kubelet-uid.ts';
import { parseApart } from './parse-apart.ts';
import { parseDocuments, parseJson, type ParsedDocument } from './parse-documents.ts';

/** Greatest size of a manifest, in bytes (kubelet: maxConfigLength). A manifest must be smaller. */
export const MAX_MANIFEST_BYTES = 10 * 1024 * 1024;

/** What a manifest holds: the pods that can run, and one error for each object that cannot. */
export interface ParsedManifest {
  pods: Pod[];
  errors: ActorletError[];
  /** Fields without effect, because `v1.Pod` does not have them: `document 1: spec.containers[0].imagee`. */
  unknownFields: string[];
}

/** YAML of more characters than this is parsed in a thread of its own: the parser takes up to a minute for what may stand in a manifest. */
const APART = 8 * 1024;
/** So is text with more lists and objects in flow style than this: the parser calls itself for each within another, and fills the stack. */
const MOST_FLOWS = 128;
/** Errors of one manifest that are told one by one, problems of one pod, and fields without effect. */
const MOST_TOLD = 100;

/** As {@link parseManifest}, but never holds this thread for long. Ends early, with what it has, when `signal` aborts. */
export async function readManifest(
  text: string,
  origin: StaticOrigin,
  place = origin.location,
  signal?: AbortSignal,
): Promise<ParsedManifest> {
  if (isQuick(text) || parseJson(text) !== undefined) return parseManifest(text, origin, place);
  return podsOf(await parseApart(text, signal), origin, place);
}

/** Whether the thread that asks may parse this YAML itself: it takes some milliseconds at most, whatever the text is. */
export function isQuick(text: string): boolean {
  if (text.length > APART) return false;
  let flows = 0;
  for (const character of text) if (character === '{' || character === '[') flows++;
  return flows <= MOST_FLOWS;
}

/** Reads all pods of a manifest and makes them static pods of the node. `place`: how errors call the manifest. */
export function parseManifest(text: string, origin: StaticOrigin, place = origin.location): ParsedManifest {
  return podsOf(parseDocuments(text), origin, place);
}

function podsOf(documents: readonly ParsedDocument[], origin: StaticOrigin, place: string): ParsedManifest {
  const manifest: ParsedManifest = { pods: [], errors: [], unknownFields: [] };
  if (documents.length === 0) manifest.errors.push(new ActorletError(sourceErrors.emptyFile, { place }));
  for (const { number: document, value, problem } of documents) {
    if (problem !== undefined) {
      manifest.errors.push(new ActorletError(sourceErrors.badSyntax, { place, document, problem }));
      continue;
    }
    const { candidates, problems } = podsIn(value);
    if (problems.length > 0) {
      manifest.errors.push(
        new ActorletError(sourceErrors.badDocument, { place, document, problems: joined(problems) }),
      );
    }
    for (const candidate of candidates) readPod(candidate, document, origin, place, manifest);
  }
  const { errors, unknownFields } = manifest;
  if (errors.length > MOST_TOLD) {
    const count = errors.length - MOST_TOLD;
    errors.splice(MOST_TOLD, count, new ActorletError(sourceErrors.moreErrors, { place, count }));
  }
  manifest.unknownFields = unknownFields.slice(0, MOST_TOLD);
  return manifest;
}

function readPod(
  candidate: PodCandidate,
  document: number,
  origin: StaticOrigin,
  place: string,
  into: ParsedManifest,
): void {
  const decoded = decodePod(candidate);
  const { pod, problems } = finishPod(decoded, origin, kubeletUid(decoded.written, origin));
  for (const field of decoded.unknownFields.slice(0, MOST_TOLD))
    into.unknownFields.push(`document ${document}: ${candidate.prefix}${field}`);
  if (problems.length === 0) {
    into.pods.push(pod);
    return;
  }
  const { namespace, name } = decoded.pod.metadata ?? {};
  const called = name ? `pod ${namespace || 'default'}/${name}` : 'a pod without a name';
  const text = joined(problems, candidate.prefix);
  into.errors.push(new ActorletError(sourceErrors.badPod, { pod: called, place, document, problems: text }));
}

function joined(problems: readonly FieldProblem[], prefix = ''): string {
  const told = problems.slice(0, MOST_TOLD).map((problem) => prefix + problemText(problem));
  if (problems.length > MOST_TOLD) told.push(`and ${problems.length - MOST_TOLD} more problems`);
  return told.join('; ');
}
