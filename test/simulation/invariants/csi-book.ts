import type { Fact } from '../world/facts.ts';

/** What drivers have truly done, as rules follow it: by driver and volume. */
export class CsiBook {
  /** Where each volume is staged. */
  readonly staged = new Map<string, Set<string>>();
  /** Where each volume is published. */
  readonly published = new Map<string, Set<string>>();

  take(fact: Fact): void {
    if (fact.f === 'boot') {
      this.staged.clear();
      this.published.clear();
    }
    if (fact.f !== 'csi' || fact.change !== 'acted') return;
    const { call, path } = fact;
    const volume = volumeOf(fact);
    if (call === 'NodeStageVolume') placesOf(this.staged, volume).add(path);
    if (call === 'NodePublishVolume') placesOf(this.published, volume).add(path);
    if (call === 'NodeUnpublishVolume') placesOf(this.published, volume).delete(path);
    if (call === 'NodeUnstageVolume') placesOf(this.staged, volume).delete(path);
  }
}

/** `DRIVER^HANDLE`. */
export function volumeOf({ driver, handle }: { driver: string; handle: string }): string {
  return `${driver}^${handle}`;
}

/** UID of the pod that has it at this path. */
export function podOf(path: string): string {
  return /\/pods\/([^/]+)\/volumes\//.exec(path)?.[1] ?? /\/publish\/[^/]+\/([^/]+)$/.exec(path)?.[1] ?? '';
}

function placesOf(all: Map<string, Set<string>>, volume: string): Set<string> {
  const found = all.get(volume) ?? new Set<string>();
  all.set(volume, found);
  return found;
}
