import type { ValidationGates } from '../../../machines/pod-validation/environment.ts';
import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { sourceErrors } from '../../../machines/errors/source-errors.ts';
import { withoutGatedFields } from '../../../machines/pod-defaults/without-gated-fields.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodSource } from '../../../machines/protocol/messages.ts';
import {
  allPods,
  mergePod,
  mergeSource,
  NO_PODS,
  type DuplicatePod,
  type PodConfigUpdate,
  sourcesReady,
} from '../../../machines/sources/pod-config.ts';
import { FileSource } from './file-source.ts';
import type { HeaderLists } from './http-get.ts';
import { HttpSource } from './http-source.ts';
import { RunningOwnSource } from './own-source.ts';
import type { OwnSource } from './own-source.ts';

/** Where pods come from and who hears of them. */
export interface PodSourcesOptions {
  staticPodPath?: string;
  staticPodURL?: string;
  staticPodURLHeader?: HeaderLists;
  /** A source of the program that embeds the node; it speaks as source `http`, so `staticPodURL` must not be set. */
  own?: OwnSource;
  fileCheckFrequencyMs: number;
  httpCheckFrequencyMs: number;
  /** Further sources that will speak through {@link PodSources.setPods}, e.g. `api`. */
  otherSources?: readonly PodSource[];
  nodeName: string;
  /** Of the node, where they are not as by default. */
  gates?: ValidationGates | undefined;
  log: Logger;
  /** ms since the epoch; written to `kubernetes.io/config.seen`. */
  now: () => number;
  onUpdate: (update: PodConfigUpdate) => void;
  /** Called once, when all sources have spoken. */
  onReadyChange?: (ready: boolean) => void;
  /** Each error once, when it appears; again only after it was gone. */
  onError: (error: ActorletError) => void;
  /** The same of a pod that is left out for another of its list that has its name, as kubelet's event FailedValidation tells it. */
  onInvalid?: (pod: Pick<Pod, 'metadata'>, message: string) => void;
}

/** The sources of a node. */
export interface PodSources {
  /** From now on they speak. */
  start(): void;
  stop(): Promise<void>;
  /** Has every configured source spoken? Before, nothing may be removed from the node. */
  allSourcesReady(): boolean;
  /** Errors that are present now, by source. */
  lastErrors(): Partial<Record<PodSource, ActorletError[]>>;
  /** The pods of all sources but the API server, as they were handed on. */
  staticPods(): Pod[];
  /** The full list of a source that lives elsewhere. */
  setPods(source: PodSource, pods: readonly Pod[]): void;
  /** A newer version of one of its pods, without a look at the others. False when only the full list can tell what became of it. */
  changePod(source: PodSource, pod: Pod): boolean;
}

/** Makes the configured sources; their pods arrive as updates, merged as kubelet's PodConfig does. */
export function createPodSources(options: PodSourcesOptions): PodSources {
  const { log, nodeName, gates } = options;
  const running: { start(): void; stop(): Promise<void> }[] = [];
  const configured: PodSource[] = [...(options.otherSources ?? [])];
  const errors: Partial<Record<PodSource, ActorletError[]>> = {};
  const duplicates: Partial<Record<PodSource, ActorletError[]>> = {};
  const reported = new Map<PodSource, Set<string>>();
  const invalid = new Map<PodSource, Set<string>>();
  let state = NO_PODS;
  let ready = false;

  function setPods(source: PodSource, pods: readonly Pod[], places: Record<string, string> = {}): void {
    const shaped = gates === undefined ? pods : pods.map((pod) => withoutGatedFields(pod, gates));
    const merged = mergeSource(state, source, shaped, options.now());
    state = merged.state;
    duplicates[source] = merged.duplicates.map(
      ({ namespace, name, uid, shared, runs }) =>
        new ActorletError(sourceErrors.duplicatePod, {
          pod: `${namespace}/${name}`,
          source,
          ...{ shared, runs },
          value: shared === 'name' ? name : uid,
        }),
    );
    const left = merged.duplicates.filter(({ shared, runs }) => shared === 'name' && runs === 'first');
    tellInvalid(source, new Map(left.map((each) => [invalidText(each), each])));
    report(source);
    for (const update of merged.updates) options.onUpdate(withPlaces(update, places));
    checkReady();
  }

  function tellInvalid(source: PodSource, now: ReadonlyMap<string, DuplicatePod>): void {
    const before = invalid.get(source) ?? new Set();
    invalid.set(source, new Set(now.keys()));
    for (const [message, { namespace, name, uid }] of now)
      if (!before.has(message)) options.onInvalid?.({ metadata: { namespace, name, uid } }, message);
  }

  function changePod(source: PodSource, pod: Pod): boolean {
    const merged = mergePod(state, source, gates === undefined ? pod : withoutGatedFields(pod, gates));
    if (merged === null) return false;
    state = merged.state;
    if (merged.update !== null) options.onUpdate(merged.update);
    return true;
  }

  function report(source: PodSource): void {
    const before = reported.get(source) ?? new Set();
    const present = [...(errors[source] ?? []), ...(duplicates[source] ?? [])];
    reported.set(source, new Set(present.map((error) => error.message)));
    for (const error of present) if (!before.has(error.message)) options.onError(error);
  }

  function setErrors(source: PodSource, present: ActorletError[]): void {
    errors[source] = present;
    report(source);
  }

  function checkReady(): void {
    if (ready || !sourcesReady(state, configured)) return;
    ready = true;
    options.onReadyChange?.(true);
  }

  if (options.staticPodPath) {
    configured.push('file');
    const path = options.staticPodPath;
    running.push(
      new FileSource({
        path,
        nodeName,
        gates,
        checkFrequencyMs: options.fileCheckFrequencyMs,
        log: log.child({ source: 'file' }),
        onPods: (pods, places) => setPods('file', pods, places),
        onErrors: (present) => setErrors('file', present),
      }),
    );
  }
  if (options.staticPodURL) {
    configured.push('http');
    const url = options.staticPodURL;
    running.push(
      new HttpSource({
        url: options.staticPodURL,
        headers: options.staticPodURLHeader ?? {},
        nodeName,
        gates,
        checkFrequencyMs: options.httpCheckFrequencyMs,
        log: log.child({ source: 'http' }),
        onPods: (pods) => setPods('http', pods, placedAt(url, pods)),
        onErrors: (present) => setErrors('http', present),
      }),
    );
  }
  if (options.own !== undefined) {
    configured.push('http');
    running.push(
      new RunningOwnSource(options.own, {
        nodeName,
        gates,
        log: log.child({ source: 'http' }),
        onPods: (pods, places) => setPods('http', pods, places),
        onErrors: (present) => setErrors('http', present),
      }),
    );
  }

  return {
    start() {
      for (const source of running) source.start();
      checkReady();
    },
    stop: async () => {
      await Promise.all(running.map((source) => source.stop()));
    },
    allSourcesReady: () => ready,
    lastErrors: () => {
      const present: Partial<Record<PodSource, ActorletError[]>> = {};
      for (const source of configured) {
        const list = [...(errors[source] ?? []), ...(duplicates[source] ?? [])];
        if (list.length > 0) present[source] = list;
      }
      return present;
    },
    staticPods: () => allPods({ sources: { ...state.sources, api: undefined } }),
    setPods,
    changePod,
  };
}

/** In kubelet's words (filterInvalidPods). */
function invalidText({ source, namespace, name, uid }: DuplicatePod): string {
  return `Error validating pod ${name}_${namespace}(${uid}) from ${source} due to duplicate pod name "${name}", ignoring`;
}

/** The update with the places that are known of its pods. */
function withPlaces(update: PodConfigUpdate, places: Record<string, string>): PodConfigUpdate {
  const known = update.pods.flatMap((pod) => {
    const uid = pod.metadata?.uid ?? '';
    return places[uid] === undefined ? [] : [[uid, places[uid]] as const];
  });
  return known.length === 0 ? update : { ...update, places: Object.fromEntries(known) };
}

/** All pods of a URL stand at it; user, password and query are left out, since they may be secret. */
function placedAt(text: string, pods: readonly Pod[]): Record<string, string> {
  if (!URL.canParse(text)) return {};
  const { origin, pathname } = new URL(text);
  return Object.fromEntries(pods.map((pod) => [pod.metadata?.uid ?? '', `${origin}${pathname}`]));
}
