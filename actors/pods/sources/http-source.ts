import type { ValidationGates } from '../../../machines/pod-validation/environment.ts';
import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { sourceErrors } from '../../../machines/errors/source-errors.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { type HeaderLists, httpGet } from './http-get.ts';
import { fullName } from './manifest-file.ts';
import { MAX_MANIFEST_BYTES, readManifest } from './parse-manifest.ts';

/** What an {@link HttpSource} needs. */
export interface HttpSourceOptions {
  /** `staticPodURL`. */
  url: string;
  /** `staticPodURLHeader`; its values are never logged. */
  headers: HeaderLists;
  nodeName: string;
  /** Of the node, where they are not as by default. */
  gates?: ValidationGates | undefined;
  /** `httpCheckFrequency` in ms: pause between two requests. */
  checkFrequencyMs: number;
  log: Logger;
  /** All pods of the URL; only when they changed. Not called before an answer could be used. */
  onPods: (pods: Pod[]) => void;
  /** All present errors, after each request. */
  onErrors: (errors: ActorletError[]) => void;
}

const REQUEST_TIMEOUT_MS = 10_000;

/** Source `http`: static pods from a URL, polled (features B2). */
export class HttpSource {
  #options: HttpSourceOptions;
  /** The URL without user and password. */
  #place: string;
  #timer: NodeJS.Timeout | undefined;
  #abort = new AbortController();
  #running: Promise<void> | undefined;
  #body: Buffer | undefined;
  #bodyErrors: ActorletError[] = [];
  #pods: Pod[] | undefined;
  #failures = 0;

  constructor(options: HttpSourceOptions) {
    this.#options = options;
    this.#place = withoutUser(options.url);
  }

  start(): void {
    this.#options.log.info({ url: this.#place }, 'Watching URL');
    this.#next();
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  #next(): void {
    this.#running = this.#once().finally(() => {
      if (!this.#abort.signal.aborted) this.#timer = setTimeout(() => this.#next(), this.#options.checkFrequencyMs);
    });
  }

  async #once(): Promise<void> {
    let errors: ActorletError[];
    try {
      errors = await this.#fetch();
    } catch (error) {
      const problem = error instanceof Error ? error.message || error.name : String(error);
      errors = [new ActorletError(sourceErrors.urlFailed, { place: this.#place, problem }, { cause: error })];
    }
    if (this.#abort.signal.aborted) return;
    this.#logOutcome(errors);
    this.#options.onErrors(errors);
  }

  async #fetch(): Promise<ActorletError[]> {
    const place = this.#place;
    if (!/^https?:\/\//i.test(this.#options.url) || !URL.canParse(this.#options.url)) {
      return [new ActorletError(sourceErrors.badUrl, { place })];
    }
    const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
    const answer = await httpGet(new URL(this.#options.url), this.#options.headers, MAX_MANIFEST_BYTES, signal);
    if (this.#abort.signal.aborted) return [];
    if (answer.status !== 200) {
      return [new ActorletError(sourceErrors.urlFailed, { place, problem: answer.statusText })];
    }
    if (answer.body.length === 0) {
      this.#emit([]);
      this.#body = undefined;
      return [new ActorletError(sourceErrors.urlEmpty, { place })];
    }
    if (!this.#body?.equals(answer.body)) await this.#take(answer.body);
    return this.#bodyErrors;
  }

  /** A bad pod does not take the good ones with it, and pods that ran before go on while anything is bad. */
  async #take(body: Buffer): Promise<void> {
    const { url: location, nodeName, gates } = this.#options;
    const origin = { kind: 'http', location, nodeName, ...(gates && { gates }) } as const;
    const { signal } = this.#abort;
    const { pods, errors, unknownFields } = await readManifest(body.toString('utf8'), origin, this.#place, signal);
    this.#body = body;
    this.#bodyErrors = errors;
    for (const field of unknownFields) {
      this.#options.log.warn({ url: this.#place, field }, 'Unknown field in manifest has no effect');
    }
    if (errors.length > 0 && pods.length === 0) return;
    const names = new Set(pods.map(fullName));
    const kept = errors.length === 0 ? [] : (this.#pods ?? []).filter((pod) => !names.has(fullName(pod)));
    this.#emit([...pods, ...kept]);
  }

  #emit(pods: Pod[]): void {
    if (this.#pods?.length === 0 && pods.length === 0) return;
    this.#pods = pods;
    this.#options.onPods(pods);
  }

  /** The first failures are told, the rest only at debug level: a URL may be away for long. */
  #logOutcome(errors: readonly ActorletError[]): void {
    const { log } = this.#options;
    const err = errors[0];
    if (!err) {
      if (this.#failures > 0) log.info({ url: this.#place }, 'Successfully read pods from URL');
      this.#failures = 0;
      return;
    }
    const url = this.#place;
    if (this.#failures < 3) log.info({ url, err: err.message }, 'Failed to read pods from URL');
    else if (this.#failures === 3) {
      log.info({ url, err: err.message }, 'Failed to read pods from URL. Dropping verbosity of this message to V(4)');
    } else log.debug({ url, err: err.message }, 'Failed to read pods from URL');
    this.#failures++;
  }
}

/** The URL as it may be shown. */
function withoutUser(text: string): string {
  if (!URL.canParse(text)) return text.replace(/\/\/[^/@]*@/, '//');
  const url = new URL(text);
  if (url.username === '' && url.password === '') return text;
  url.username = '';
  url.password = '';
  return url.href;
}
