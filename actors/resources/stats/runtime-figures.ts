import type { CriClient } from '../../../cri/client/cri-client.ts';
import type { Container, ContainerStats as CriContainerStats } from '../../../cri/generated/runtime/v1/api.ts';
import { listUsage } from './runtime-listing.ts';

/** Older figures of layers are not told again, ms: containerd measures them so often when it is not told otherwise. */
const LAYERS_MS = 10_000;
/** A runtime that told no swap is asked again after so long, ms: another version may have taken its place. */
const SWAP_MS = 60_000;

/** What the runtime tells of its containers. */
export interface RuntimeFigures {
  /** Null: nothing that is needed ({@link withoutFigures}). */
  stats: readonly CriContainerStats[] | null;
  /** False: of {@link stats} nothing but names and writable layers is of now, and containers that are new are not among them. */
  fresh: boolean;
}

/** The container whose layer was measured first of all, and when (ns). */
interface Eldest {
  id: string;
  timestamp: string;
}

/**
 * What the runtime tells of the usage of containers, asked no more than is needed. It goes to the shim of each container for
 * it, about a millisecond each, and most of what it brings is told out of cgroups anyway. Two things are not:
 *
 * - Writable layers, which it measures by itself now and then, one after the other in the same order. As long as the
 *   one that was measured first has the figure it had, so have all, and asking for that one tells whether all have.
 * - Swap in the short form, where a runtime that has no such figure counts as telling 0.
 */
export class RuntimeUsage {
  private readonly cri: Pick<CriClient, 'runtime'>;
  private readonly now: () => number;
  private readonly steady: () => number;
  private kept: readonly CriContainerStats[] = [];
  private eldest: Eldest | undefined;
  /** When the runtime told containers without swap last; undefined when it told swap. */
  private noSwapAt: number | undefined;

  /**
   * @param now ms since the epoch, as the runtime's timestamps
   * @param steady a clock that nobody can set, ms
   */
  constructor(cri: Pick<CriClient, 'runtime'>, now: () => number, steady = () => performance.now()) {
    this.cri = cri;
    this.now = now;
    this.steady = steady;
  }

  /** All that the runtime tells, of now. @throws Error as {@link listUsage} */
  async all(): Promise<RuntimeFigures & { stats: readonly CriContainerStats[] }> {
    const stats = await listUsage(this.cri);
    this.kept = stats;
    this.eldest = eldestLayer(stats);
    if (stats.length > 0) this.noSwapAt = stats.some(({ swap }) => swap !== undefined) ? undefined : this.steady();
    return { stats, fresh: true };
  }

  /** Names and writable layers, as the runtime would tell them now. @throws Error as {@link listUsage} */
  async layers(): Promise<RuntimeFigures> {
    const { eldest, kept } = this;
    if (eldest === undefined) return this.all();
    const age = this.now() - Number(eldest.timestamp) / 1e6;
    // A clock that was set says nothing of an age.
    if (age < 0 || age >= LAYERS_MS) return this.all();
    const [asked] = await listUsage(this.cri, eldest.id);
    return asked?.writableLayer?.timestamp === eldest.timestamp ? { stats: kept, fresh: false } : this.all();
  }

  /** Swap. @throws Error as {@link listUsage} */
  async swap(): Promise<RuntimeFigures> {
    const known = this.noSwapAt !== undefined && this.steady() - this.noSwapAt < SWAP_MS;
    return known ? { stats: null, fresh: false } : this.all();
  }
}

/** What a runtime tells that has no figure of a container. */
export function withoutFigures({ id, metadata, labels, annotations }: Container): CriContainerStats {
  return { attributes: { id, metadata, labels, annotations } };
}

/** Undefined when there is none, or a container without a figure, which the runtime may have measured by now. */
function eldestLayer(stats: readonly CriContainerStats[]): Eldest | undefined {
  let eldest: Eldest | undefined;
  for (const { attributes, writableLayer } of stats) {
    if (attributes === undefined || writableLayer === undefined) return undefined;
    const { timestamp } = writableLayer;
    if (eldest === undefined || BigInt(timestamp) < BigInt(eldest.timestamp)) eldest = { id: attributes.id, timestamp };
  }
  return eldest;
}
