import { createHash } from 'node:crypto';
import { ActorletError } from '../../machines/errors/define.ts';
import { sourceErrors } from '../../machines/errors/source-errors.ts';
import { type FieldProblem, problemText } from '../../machines/pod-validation/problem.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import { canonicalJson } from '../../machines/sources/canonical-json.ts';
import { decodePod, finishPod, type PodCandidate, podsIn } from '../../machines/sources/read-document.ts';
import { originText, type StaticOrigin } from '../../machines/sources/static-pod.ts';
import { parseDocuments } from './parse-documents.ts';

/** Greatest size of a manifest, in bytes (kubelet: maxConfigLength). A manifest must be smaller. */
export const MAX_MANIFEST_BYTES = 10 * 1024 * 1024;

/** What a manifest holds: the pods that can run, and one error for each object that cannot. */
export interface ParsedManifest {
  pods: Pod[];
  errors: ActorletError[];
  /** Fields without effect, because `v1.Pod` does not have them: `document 1: spec.containers[0].imagee`. */
  unknownFields: string[];
}

/** Reads all pods of a manifest and makes them static pods of the node. `place`: how errors call the manifest. */
export function parseManifest(text: string, origin: StaticOrigin, place = origin.location): ParsedManifest {
  const manifest: ParsedManifest = { pods: [], errors: [], unknownFields: [] };
  const documents = parseDocuments(text);
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
  const { pod, problems } = finishPod(decoded, origin, manifestHash(decoded.pod, origin));
  into.unknownFields.push(...decoded.unknownFields.map((field) => `document ${document}: ${candidate.prefix}${field}`));
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
  return problems.map((problem) => prefix + problemText(problem)).join('; ');
}

/** Identity of a static pod without `metadata.uid`: 32 hex digits from its content and where it was read. */
export function manifestHash(pod: Pod, origin: StaticOrigin): string {
  return createHash('sha256').update(canonicalJson(pod)).update(originText(origin)).digest('hex').slice(0, 32);
}
