import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from 'pino';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import type { ImageGcMessage, ImageGcOrder } from '../../../machines/images/image-gc-context.ts';
import { imageKey } from '../../../machines/images/image-gc-context.ts';
import { imageGcMachine } from '../../../machines/images/image-gc-machine.ts';
import { bornSnapshot } from '../../../machines/machine-step/step.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { nodeNamed } from '../../../machines/protocol/recorded-event.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { KubeletConfiguration } from '../../configure/configuration/kubelet-configuration.ts';
import type { Clock, Timer } from '../../host/time/clock.ts';
import { lookEach } from '../../host/time/clock.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import type { ImageGcSnapshot } from '../../record/machines/image-gc.ts';
import { imageGc } from '../../record/machines/image-gc.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import { passSpan } from '../../record/tracing/pass-span.ts';
import type { OpenSpan, Spans } from '../../record/tracing/spans.ts';
import type { DiskSize, ImageNode } from './image-node.ts';
import { imagesInUse } from './images-in-use.ts';
import type { ImagesSeen } from './images-in-use.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';

/** Time between two passes, ms (kubelet ImageGCPeriod). */
const PERIOD_MS = 300_000;

/** What the collector of images is made from. */
export interface ImageGcOptions {
  config: Pick<
    KubeletConfiguration,
    'imageGCHighThresholdPercent' | 'imageGCLowThresholdPercent' | 'imageMinimumGCAge' | 'imageMaximumGCAge'
  >;
  settings: Pick<NodeSettings, 'nodeName' | 'imagesByHandler'>;
  cri: Pick<CriClient, 'runtime' | 'image'>;
  clock: Clock;
  log: Logger;
  metrics: Pick<Metrics, 'imagesCollected'>;
  events: { record: (event: RecordedEvent) => void };
  journal: JournalSettings | null;
  pods: () => readonly Pod[];
  images: ImageNode;
  /** Absent where nothing is traced. */
  spans?: Spans;
}

/** What came of a pass. */
export interface ImagePass {
  bytesFreed: number;
  /** Why it did not do what it should; null when it did. */
  problem: string | null;
}

/** Hosts the collector of images: asks the runtime for it, removes what it says, tells what comes of that. */
export class ImageGcManager {
  readonly name = 'image GC';
  private readonly options: ImageGcOptions;
  private readonly machine: SingleMachine<ImageGcSnapshot, ImageGcMessage, ImageGcOrder>;
  private readonly waiting: ((pass: ImagePass) => void)[] = [];
  private timer: Timer | undefined;
  private stopped = false;
  private failed = false;
  /** Of the pass under way. */
  private span: OpenSpan | undefined;
  /** What is begun when a pass ends is no part of that pass's span. */
  private readonly afterwards = AsyncLocalStorage.bind(() => this.beginAll());
  /** Why a pass cannot go on, when the machine cannot be told so either: it is before the next message. */
  private stuck: string | null = null;

  constructor(options: ImageGcOptions) {
    this.options = options;
    const born = bornSnapshot(imageGcMachine, undefined) as ImageGcSnapshot;
    this.machine = new SingleMachine(imageGc, born, options.journal);
  }

  /**
   * Begins to look. Where neither fullness nor age removes an image it is only seen what is there (kubelet detectImages, which goes on
   * then): an image that was not known for `imageMinimumGCAge` is not removed for a disk that is short either.
   */
  start(): void {
    const { config, clock, log } = this.options;
    const policy = {
      highPercent: config.imageGCHighThresholdPercent,
      lowPercent: config.imageGCLowThresholdPercent,
      minAgeMs: config.imageMinimumGCAge,
      maxAgeMs: config.imageMaximumGCAge,
    };
    this.take({ type: 'gc.start', at: clock.now(), policy });
    const off = policy.highPercent === 100 && policy.maxAgeMs === 0;
    if (off) log.info({ v: 2 }, 'ImageGCHighThresholdPercent is set 100 and ImageMaximumGCAge is 0, Disable image GC');
    const begin = (): void => (off ? this.begin({ look: true }) : this.traced(() => this.begin({})));
    this.timer = lookEach(clock, PERIOD_MS, begin);
    begin();
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
    this.span?.end();
    this.machine.close();
    this.refuse('the agent ends');
  }

  /** What it gives back when a disk is short. */
  readonly reclaim = {
    images: async (): Promise<void> => {
      const { problem } = await this.removeUnused();
      if (problem !== null) throw new Error(problem);
    },
  };

  /** What nobody uses now, whatever its age. */
  readonly spare = {
    images: async (): Promise<{ count: number; bytes: number }> => {
      const { images, inUse } = await this.seen();
      const used = new Set(inUse);
      const unused = images.filter((image) => !image.pinned && !used.has(image.id) && !used.has(imageKey(image)));
      return { count: unused.length, bytes: unused.reduce((sum, { bytes }) => sum + bytes, 0) };
    },
  };

  /** Removes every image that is not in use and not too young (kubelet DeleteUnusedImages: a disk is under pressure). */
  private removeUnused(): Promise<ImagePass> {
    return new Promise((resolve) => {
      this.unstick();
      this.waiting.push(resolve);
      this.beginAll();
    });
  }

  private begin(look: { look?: true }): void {
    this.take({ type: 'gc.begin', at: this.options.clock.now(), all: false, ...look });
  }

  /** Begins a pass with the calls of the runtime in its span. Only looking has none in kubelet, nor has making room on a disk that is short. */
  private traced(begin: () => void): void {
    const { spans } = this.options;
    // It is not heard while another one is under way.
    if (spans === undefined || this.stopped || this.machine.state.value !== 'resting') return begin();
    this.span = passSpan(spans, 'images');
    this.span.within(begin);
  }

  /** While a pass is under way it is not heard; it is asked for again when that is over. */
  private beginAll(): void {
    this.take({ type: 'gc.begin', at: this.options.clock.now(), all: true });
  }

  private take(message: ImageGcMessage): void {
    if (this.stopped) return;
    this.unstick();
    if (this.tell(message)) return;
    const problem = `the machine failed on ${message.type}`;
    this.refuse(problem);
    this.goOn(message.at, problem);
  }

  /** False when the machine failed on it. */
  private tell(message: ImageGcMessage): boolean {
    return this.machine.handle(message, this.options.log, (order) => this.carryOut(order)) === null;
  }

  private unstick(): void {
    if (this.stuck !== null) this.goOn(this.options.clock.now(), this.stuck);
  }

  /** The pass in which the machine failed has failed, or the image that this was about stays: otherwise no other pass would ever begin. */
  private goOn(at: number, problem: string): void {
    const told = [this.tell({ type: 'gc.failed', at, problem }), this.tell({ type: 'image.kept', at, problem })];
    this.stuck = told.includes(false) ? problem : null;
  }

  private refuse(problem: string): void {
    for (const tell of this.waiting.splice(0)) tell({ bytesFreed: 0, problem });
  }

  private carryOut(order: ImageGcOrder): void {
    const { clock, events, settings, log, images } = this.options;
    switch (order.type) {
      case 'images.List':
        this.answer(async (at) => ({ type: 'images.listed', at, ...(await this.seen()) }));
        break;
      case 'disk.Measure':
        this.answer(async (at) => ({ type: 'disk.measured', at, ...(await this.measure()) }));
        break;
      case 'image.Remove': {
        const { id, handler, reason } = order;
        log.info({ imageID: id, runtimeHandler: handler, reason }, 'Removing image to free bytes');
        void this.remove(id, handler, reason).then((message) => this.take(message));
        break;
      }
      case 'records.Prune':
        images.records?.prune(new Set(order.images), order.until);
        break;
      case 'event.Record': {
        const { reason, message } = order;
        const { nodeName } = settings;
        const object = nodeNamed(nodeName);
        events.record({ object, at: clock.now(), type: 'Warning', reason, message });
        break;
      }
      case 'pass.Done':
        this.done(order);
        break;
    }
  }

  /** Asks for something; what does not come is told, too. */
  private answer(ask: (at: number) => Promise<ImageGcMessage>): void {
    const at = this.options.clock.now();
    void ask(at)
      .catch((error: unknown): ImageGcMessage => ({ type: 'gc.failed', at, problem: messageOf(error) }))
      .then((message) => this.take(message));
  }

  private async remove(id: string, runtimeHandler: string, reason: 'age' | 'space'): Promise<ImageGcMessage> {
    const { cri, clock, metrics } = this.options;
    const image = { image: id, annotations: {}, userSpecifiedImage: '', runtimeHandler };
    try {
      await cri.image.removeImage({ image });
    } catch (error) {
      return { type: 'image.kept', at: clock.now(), problem: messageOf(error) };
    }
    metrics.imagesCollected.inc({ reason });
    return { type: 'image.removed', at: clock.now() };
  }

  private async measure(): Promise<DiskSize> {
    const [images] = (await this.options.cri.image.imageFsInfo({})).imageFilesystems;
    const path = images?.fsId?.mountpoint;
    if (path === undefined) throw new Error('imageFs information is unavailable');
    return this.options.images.disk(path);
  }

  private seen(): Promise<ImagesSeen> {
    const { cri, settings } = this.options;
    return imagesInUse(cri, this.mayMount(), settings.imagesByHandler === true);
  }

  /** Pods that are not known may have mounted an image; of those that are known the spec says it. */
  private mayMount(): (podUid: string) => boolean {
    const known = new Map(this.options.pods().map((pod) => [pod.metadata?.uid ?? '', pod]));
    return (uid) => {
      const pod = known.get(uid);
      return pod === undefined || pod.spec?.volumes?.some(({ image }) => image !== undefined) === true;
    };
  }

  private done({ all, problem, bytesFreed }: Extract<ImageGcOrder, { type: 'pass.Done' }>): void {
    const { log } = this.options;
    this.span?.end();
    this.span = undefined;
    if (all) for (const tell of this.waiting.splice(0)) tell({ bytesFreed, problem });
    else if (this.waiting.length > 0) queueMicrotask(this.afterwards);
    if (problem === null) {
      // Once it went wrong, it is worth saying that it went well.
      log.info({ v: this.failed ? 1 : 4 }, 'Image garbage collection succeeded');
    } else if (this.failed) log.error({ problem }, 'Image garbage collection failed multiple times in a row');
    else
      log.error({ problem }, 'Image garbage collection failed once. Stats initialization may not have completed yet');
    this.failed = problem !== null;
  }
}
