import type { Pod } from '../../../../machines/protocol/api-types.ts';
import { wholePod } from '../../fuzz/support/whole-pod.ts';

type Path = readonly (string | number)[];

/** Where each text of a value stands. */
function textPlaces(value: unknown, at: Path = []): Path[] {
  if (typeof value === 'string') return [at];
  if (typeof value !== 'object' || value === null) return [];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return (entries as [string | number, unknown][]).flatMap(([key, child]) => textPlaces(child, [...at, key]));
}

function put(pod: Pod, at: Path, text: string): void {
  let within = pod as unknown as Record<string | number, unknown>;
  for (const key of at.slice(0, -1)) within = within[key] as Record<string | number, unknown>;
  within[at.at(-1) ?? ''] = text;
}

const ALL = textPlaces(wholePod('web', 'u1'));

/** A pod all of whose texts are parts of this one, which they share. */
export function withTexts(text: string): Pod {
  const each = Math.ceil(text.length / ALL.length);
  const pod = wholePod('web', 'u1');
  for (const [i, at] of ALL.entries()) put(pod, at, text.slice(i * each, (i + 1) * each));
  return pod;
}
