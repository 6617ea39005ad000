import type { Candidate } from '../eviction/candidates.ts';
import type { Spare } from '../eviction/soundings.ts';
import type { Reclaimable } from '../eviction/reclaim-plan.ts';
import { resourceOf } from '../eviction/signals.ts';
import type { Signal, StarvedResource } from '../eviction/signals.ts';

const UNITS = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'];

/** An amount for people, three digits at most: `3.1Gi`, `512Mi`, and counts as they are: `30211`. */
export function roughly(resource: StarvedResource, amount: number): string {
  if (resource === 'inodes' || resource === 'pids') return String(Math.round(amount * 10) / 10);
  const size = Math.abs(amount);
  const power = size < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(size) / 10));
  const scaled = amount / 1024 ** power;
  const text = Math.abs(scaled) < 99.95 ? String(Math.round(scaled * 10) / 10) : String(Math.round(scaled));
  return `${text}${UNITS[power] ?? ''}`;
}

/** The same of a signal. */
export function roughlyOf(signal: Signal, amount: number): string {
  return roughly(resourceOf(signal), amount);
}

/** A pod as eviction sees it: `default/web (uses 1.2Gi, asked for 200Mi, priority 0)`. `amount`: how amounts are written. */
export function candidateText(
  { namespace, name, priority, critical, figures }: Candidate,
  resource: StarvedResource,
  amount: (n: number) => string = (n) => roughly(resource, n),
): string {
  const use =
    figures === undefined
      ? 'nothing is known of its use'
      : `uses ${amount(figures.usage)}${resource === 'pids' ? '' : `, asked for ${amount(figures.request)}`}`;
  return `${namespace}/${name} (${use}, priority ${priority}${critical === true ? ', critical: never evicted' : ''})`;
}

/** What the node could give back of these: `12 unused images of 1.2Gi and 3 ended containers`; '' when of none. */
export function spareText(spare: Spare | null, what: readonly Reclaimable[] = ['containers', 'images']): string {
  const { images, containers } = spare ?? { images: null, containers: null };
  const parts: string[] = [];
  if (what.includes('containers'))
    parts.push(containers === null ? 'ended containers (not counted)' : many(containers.count, 'ended container'));
  if (what.includes('images'))
    parts.push(
      images === null
        ? 'unused images (not counted)'
        : `${many(images.count, 'unused image')} of ${roughly('memory', images.bytes)}`,
    );
  return parts.join(' and ');
}

function many(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
