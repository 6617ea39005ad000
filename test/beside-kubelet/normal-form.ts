import type { Seen } from './side.ts';

/** Texts that differ from run to run: times, addresses, drawn names, delays. */
const VARYING: [RegExp, string][] = [
  [/10\.88\.\d+\.\d+/g, 'POD-ADDRESS'],
  [/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-X'],
  [/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"'],
  [/containers\/([^/"]+)\/[0-9a-f]{8}/g, 'containers/$1/X'],
  [/in \d[\dms.]*s \(\d[\dms.]*s including waiting\)/g, 'in TIME'],
  [/back-off \d+[ms\d]*/g, 'back-off TIME'],
  [/unmounted volumes=\[[^\]]*\]/g, 'unmounted volumes=[SOME]'],
  [/(\\?"hostId\\?":)\d+/g, '$10'],
  [/"Port":\d+/g, '"Port":"PORT"'],
  [/\\"port\\":\d{5}/g, '\\"port\\":PORT'],
  [/(kubernetes\.io\/config\.seen=\\")[\dTZ:.-]+/g, '$1TIME'],
  [/127\.0\.0\.1:\d+/g, 'LOCAL'],
];

/** Makes what belongs to one side comparable with what belongs to the other: a copy with names that both have. */
export function normalForm({ names }: Seen): <T>(value: T) => T {
  return <T>(value: T): T => {
    let text = JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part));
    for (const [from, to] of names) if (from !== '') text = text.split(from).join(to);
    for (const [from, to] of VARYING) text = text.replace(from, to);
    return ordered(JSON.parse(text)) as T;
  };
}

/** Lists whose order means nothing: kubelet makes them from Go maps. */
const UNORDERED: Record<string, string> = { envs: 'key', hugepageLimits: 'pageSize', conditions: 'type' };

function ordered(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const all = (value as unknown[]).map((item) => ordered(item));
    // Of a claim that it prepares a second time kubelet has each device twice.
    const items = key === 'CDIDevices' ? unique(all) : all;
    const by = UNORDERED[key];
    if (by === undefined && key !== 'options') return items;
    const place = (item: unknown) => (by === undefined ? String(item) : String((item as Record<string, unknown>)[by]));
    return items.sort((a, b) => (place(a) < place(b) ? -1 : 1));
  }
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, ordered(part, name)]));
}

function unique(items: readonly unknown[]): unknown[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}
