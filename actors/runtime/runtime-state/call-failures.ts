import type { Logger } from 'pino';
import type { CallReport } from '../../../cri/client/call.ts';

/** A status that fails again with the same words is told once a minute (kubelet `identicalErrorDelay`), ms. */
const SAME_WORDS_MS = 60_000;
/** Containers whose last words are remembered. */
const REMEMBERED = 1_000;

/** Kubelet's words, where they are not `<method> from <runtime|image> service failed` (cri-client `remote_runtime.go`, `remote_image.go`). */
const WORDS: Readonly<Record<string, string>> = {
  ListPodSandbox: 'ListPodSandbox with filter from runtime service failed',
  CreateContainer: 'CreateContainer in sandbox from runtime service failed',
  ListContainers: 'ListContainers with filter from runtime service failed',
  ExecSync: 'ExecSync cmd from runtime service failed',
  Exec: 'Exec cmd from runtime service failed',
  Attach: 'Attach container from runtime service failed',
  ListContainerStats: 'ListContainerStats with filter from runtime service failed',
  PodSandboxStats: 'PodSandbox from runtime service failed',
  ListPodSandboxStats: 'ListPodSandboxStats with filter from runtime service failed',
  ListImages: 'ListImages with filter from image service failed',
  ImageStatus: 'Get ImageStatus from image service failed',
};
/** Asked about what may have vanished meanwhile: that it has is an answer. */
const LOOKS: ReadonlySet<string> = new Set(['ContainerStatus', 'ContainerStats', 'PodSandboxStats']);
/** Kubelet does not tell these at all: what a runtime cannot do, or a look that the next one repeats. */
const UNTOLD: ReadonlySet<string> = new Set(['PodSandboxStatus', 'UpdateRuntimeConfig']);

/** Writes calls to the runtime that failed into the log, in kubelet's words. */
export class CallFailures {
  private readonly log: Logger;
  private readonly steady: () => number;
  /** What was last told of a container's status, by container. */
  private readonly told = new Map<string, { words: string; at: number }>();

  /** @param steady ms of a clock that nobody sets */
  constructor(log: Logger, steady: () => number = () => performance.now()) {
    this.log = log;
    this.steady = steady;
  }

  /** One finished call; those that went well, and those that the agent itself gave up, are not told. */
  tell({ service, method, code, failure }: CallReport): void {
    if (failure === undefined || code === 'Canceled' || UNTOLD.has(method)) return;
    const { error, request } = failure;
    const subject = subjectOf(method, request);
    if (LOOKS.has(method) && (code === 'NotFound' || this.isRepeated(method, subject, error.message))) return;
    const words = WORDS[method] ?? `${method} from ${service === 'ImageService' ? 'image' : 'runtime'} service failed`;
    this.log.error({ err: error, ...subject }, words);
  }

  private isRepeated(method: string, subject: object, words: string): boolean {
    const key = `${method} ${Object.values(subject).join(' ')}`;
    const at = this.steady();
    const last = this.told.get(key);
    if (last?.words === words && at - last.at < SAME_WORDS_MS) return true;
    this.told.delete(key);
    this.told.set(key, { words, at });
    const [oldest] = this.told.keys();
    if (this.told.size > REMEMBERED && oldest !== undefined) this.told.delete(oldest);
    return false;
  }
}

/** What the call was about, by kubelet's names. Filters, configurations and credentials are left out. */
function subjectOf(method: string, request: object): Record<string, unknown> {
  const { containerId, podSandboxId, image, cmd } = request as Record<string, unknown>;
  const name = (image as { image?: unknown } | undefined)?.image;
  return {
    ...(typeof podSandboxId === 'string' && podSandboxId !== '' && { podSandboxID: podSandboxId }),
    ...(typeof containerId === 'string' && { containerID: containerId }),
    ...(typeof name === 'string' && { image: name }),
    ...(method === 'ExecSync' && { cmd }),
  };
}
