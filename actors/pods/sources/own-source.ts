import type { ValidationGates } from '../../../machines/pod-validation/environment.ts';
import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { sourceErrors } from '../../../machines/errors/source-errors.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { fullName } from './manifest-file.ts';
import { parseManifest } from './parse-manifest.ts';

/** Takes the full list of pods that shall run, as plain objects like those in manifest files; what is left out ends. Returns one error for each that cannot run. */
export type TellPods = (manifests: readonly object[]) => ActorletError[];

/** A source of pods that the program around the node brings along. */
export interface OwnSource {
  /** How errors and `actorlet explain` call it, e.g. `queue`. */
  name: string;
  /** Called once. Nothing is removed from the node before the first `tell`. */
  start(tell: TellPods): void;
  /** The node ends; `tell` does nothing any more. */
  stop?(): Promise<void>;
}

/** Throws SRC014 when an own source would speak beside a URL: asked before anything of the node is started. */
export function checkOwnSource(source: OwnSource | undefined, staticPodURL: string): void {
  if (source !== undefined && staticPodURL !== '')
    throw new ActorletError(sourceErrors.ownBesideUrl, { place: staticPodURL });
}

/** What a started own source is connected to. */
export interface OwnSourceLinks {
  nodeName: string;
  /** Of the node, where they are not as by default. */
  gates?: ValidationGates | undefined;
  log: Logger;
  onPods: (pods: Pod[], places: Record<string, string>) => void;
  onErrors: (errors: ActorletError[]) => void;
}

/** An own source at work: its manifests get defaults and are checked like those of files. */
export class RunningOwnSource {
  readonly #source: OwnSource;
  readonly #links: OwnSourceLinks;
  #before: Pod[] = [];
  #stopped = false;

  constructor(source: OwnSource, links: OwnSourceLinks) {
    this.#source = source;
    this.#links = links;
  }

  start(): void {
    this.#source.start((manifests) => this.#tell(manifests));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#source.stop?.();
  }

  #tell(manifests: readonly object[]): ActorletError[] {
    if (this.#stopped) return [];
    const { name } = this.#source;
    const { nodeName, gates, log, onPods, onErrors } = this.#links;
    const read = manifests.map((manifest, i) =>
      // The location counts for the uid of a pod without one: it must not change with the pod's position.
      parseManifest(
        textOf(manifest),
        { kind: 'http', location: name, nodeName, ...(gates && { gates }) },
        `${name}, pod ${i + 1}`,
      ),
    );
    for (const field of read.flatMap((r) => r.unknownFields))
      log.warn({ source: name, field }, 'Unknown field in manifest has no effect');
    const errors = read.flatMap((r) => r.errors);
    const pods = read.flatMap((r) => r.pods);
    // A pod that ran is not ended by a bad version of it.
    const names = new Set(pods.map(fullName));
    const kept = errors.length === 0 ? [] : this.#before.filter((pod) => !names.has(fullName(pod)));
    this.#before = [...pods, ...kept];
    onErrors(errors);
    onPods(this.#before, Object.fromEntries(this.#before.map((pod) => [pod.metadata?.uid ?? '', name])));
    return errors;
  }
}

/** What cannot be JSON (a cycle, a bigint, nothing at all) gets the error of text that is none; the other manifests go on. */
function textOf(manifest: unknown): string {
  try {
    return JSON.stringify(manifest) ?? '{';
  } catch {
    return '{';
  }
}
