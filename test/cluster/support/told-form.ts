import type { Event, Node, Pod } from './api-objects.ts';

/** What one node told of itself and of its pods, with the same words for what is each node's own. */
export type TellForm = <T>(value: T) => T;

/** Texts that are of a node, a pod or a moment. */
const VARYING: [RegExp, string][] = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'],
  [/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]+ [+-]\d{4}/g, 'TIME'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UID'],
  [/(actorlet-sim:\/\/)[0-9a-f]{64}/g, '$1ID'],
  [/\b\d+\.\d+\.\d+\.\d+\b/g, 'ADDRESS'],
  [/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-X'],
  [/\bin \d[\dms.]*s \(\d[\dms.]*s including waiting\)/g, 'in TIME'],
  [/back-off \d+[ms\d]*/g, 'back-off TIME'],
  [/(requested|used|capacity): \d+/g, '$1: N'],
  [/Restart Count: +\d+/g, 'Restart Count: N'],
];

/** Makes what a node told comparable. @param names texts of its own, and what stands for them */
export function toldForm(names: readonly (readonly [string, string])[]): TellForm {
  return <T>(value: T): T => {
    let text = JSON.stringify(value);
    for (const [from, to] of names) text = text.split(from).join(to);
    for (const [from, to] of VARYING) text = text.replace(from, to);
    return inOrder(JSON.parse(text)) as T;
  };
}

/** Keys in one order, and conditions by type: kubelet and API server keep none. */
function inOrder(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => inOrder(item));
    const typeOf = (item: unknown): string => String((item as { type?: unknown }).type);
    return key === 'conditions' ? items.sort((a, b) => (typeOf(a) < typeOf(b) ? -1 : 1)) : items;
  }
  if (value === null || typeof value !== 'object') return key === 'restartCount' ? 'N' : value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, part]) => [name, inOrder(part, name)]));
}

/** All there is of a pod's status. */
export function podForm(form: TellForm, { status, metadata }: Pod): unknown {
  return form({ status, finalizers: metadata?.finalizers, labels: metadata?.labels });
}

/** Of a node: which fields there are, and what its conditions say. What a machine is, is its own. */
export function nodeForm(form: TellForm, { metadata, spec, status }: Node): Record<string, unknown> {
  return {
    labels: Object.keys(metadata?.labels ?? {}).sort(),
    annotations: Object.keys(metadata?.annotations ?? {}).sort(),
    spec: Object.keys(spec ?? {}).sort(),
    status: Object.keys(status ?? {}).sort(),
    // Of swap only a machine that has some tells.
    nodeInfo: Object.keys(status?.nodeInfo ?? {})
      .filter((key) => key !== 'swap')
      .sort(),
    capacity: amountsOf(status?.capacity),
    allocatable: amountsOf(status?.allocatable),
    addresses: status?.addresses?.map(({ type }) => type),
    conditions: (form(status?.conditions ?? []) as { type: string }[]).sort((a, b) => (a.type < b.type ? -1 : 1)),
    endpoints: Object.keys(status?.daemonEndpoints ?? {}),
    runtimeHandlers: status?.runtimeHandlers,
    features: status?.features,
    image: Object.keys(status?.images?.[0] ?? {}).sort(),
  };
}

/** Names of resources; which sizes of huge pages there are hangs on the processor. */
function amountsOf(amounts: object = {}): string[] {
  const names = Object.keys(amounts).map((name) => name.replace(/^(hugepages)-.*/, '$1'));
  return [...new Set(names)].sort();
}

/** The different events about an object: how often and in which order each came hangs on the time. */
export function eventsForm(form: TellForm, events: readonly Event[]): string[] {
  const told = events.map(({ type, reason, message, source, reportingComponent, involvedObject }) => {
    const { kind, fieldPath, apiVersion } = involvedObject;
    return JSON.stringify({ type, reason, message, source, reportingComponent, kind, fieldPath, apiVersion });
  });
  return [...new Set(told.map((each) => form(each)))].sort();
}

/** What `kubectl describe` writes, without the events: lines of which none tells the moment. */
export function describedForm(form: TellForm, text: string): string[] {
  const [before = ''] = text.split(/^Events:/m);
  return form(before.split('\n').map((line) => line.replace(/ +/g, ' ')));
}
