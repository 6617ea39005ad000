import { moment, span } from '../values/spoken-time.ts';
import type { PullPlace } from '../protocol/pull-place.ts';
import type { ToldPull } from './told-pull.ts';

/**
 * How it stands with a pull, as `explain`, the inspector and `pods` say it. Of the queue it tells how it was when the wait
 * began: nobody is told of each move.
 */
export function pullWords(image: string, told: ToldPull | undefined): string {
  if (told === undefined) return `image ${image} is being pulled`;
  const { since, place, begunAt } = told;
  if (begunAt > 0)
    return `image ${image} is being pulled since ${moment(begunAt)}, after ${span(begunAt - since)} in the queue`;
  return `${waitingWords(image)} since ${moment(since)}, at first in place ${place.place} of the queue${aheadWords(place)}`;
}

/** The beginning of what is said of an image whose pull has not begun. */
export function waitingWords(image: string): string {
  return `image ${image} waits to be pulled`;
}

function aheadWords({ underWay, before, more }: PullPlace): string {
  const parts = [
    ...(underWay.length === 0 ? [] : [`${listed(underWay)} ${underWay.length === 1 ? 'was' : 'were'} being pulled`]),
    ...(before.length === 0 ? [] : [`${listed(before)} came before it`]),
    ...(more === 0 ? [] : [`${more} more ${more === 1 ? 'was' : 'were'} ahead`]),
  ];
  return parts.length === 0 ? '' : `: ${parts.join(', ')}`;
}

function listed(images: readonly string[]): string {
  return images.length < 2 ? images.join('') : `${images.slice(0, -1).join(', ')} and ${images.at(-1) ?? ''}`;
}
