import type { Event } from '../cluster/support/api-objects.ts';
import { knownName } from './pod-names.ts';
import { normalForm } from './normal-form.ts';
import type { Seen } from './side.ts';

/** A request to the runtime, as plain values. */
export type Row = Record<string, unknown>;
type States = Record<string, Record<string, unknown> | undefined>;

/** What was seen on one side, pod by pod, in words that both sides have. */
export class SeenPods {
  readonly #seen: Seen;
  readonly #normal: <T>(value: T) => T;

  constructor(seen: Seen) {
    this.#seen = seen;
    this.#normal = normalForm(seen);
  }

  /** Is this side's name the pod's? A static pod's ends with its node's. */
  #is(name: string | undefined, pod: string): boolean {
    return name !== undefined && knownName(name, this.#seen.nodeName) === pod;
  }

  /** All that clients were shown of it, by kind: phases, conditions, states of containers. */
  shown(pod: string): Map<string, Set<string>> {
    const out = new Map<string, Set<string>>();
    const add = (kind: string, ...words: unknown[]): void => {
      out.set(kind, (out.get(kind) ?? new Set()).add(words.map((word) => String(word ?? '')).join('|')));
    };
    for (const status of this.#statuses(pod)) {
      add('phase', status.phase, status.reason, status.message);
      for (const { type, ...c } of status.conditions ?? []) add(`condition ${type}`, c.status, c.reason, c.message);
      for (const { name, state, lastState, ready, started, ...rest } of containersOf(status)) {
        add(`state of ${kindOf(name)}`, stateLine(state as States));
        add(`last state of ${kindOf(name)}`, stateLine(lastState as States));
        const kind = Object.keys(state ?? {})[0];
        add('ready and started', kind, ready, started);
        add('fields', kind, Object.keys(rest).sort().join(' '));
      }
    }
    return out;
  }

  /** The messages that were shown for each reason: `waiting CrashLoopBackOff` -> texts. */
  words(pod: string): Map<string, Set<string>> {
    const out = new Map<string, Set<string>>();
    const add = (reason: string, message: unknown): void => {
      out.set(reason, (out.get(reason) ?? new Set()).add(String(message ?? '')));
    };
    for (const status of this.#statuses(pod)) {
      if (status.reason) add(`pod's ${status.reason}`, status.message);
      for (const { name, state } of containersOf(status)) {
        const [kind, told] = Object.entries((state ?? {}) as States)[0] ?? [];
        if (kind !== undefined && told?.['reason'])
          add(`${kind} ${String(told['reason'])} of ${name}`, told['message']);
      }
    }
    return new Map([...out].map(([reason, texts]) => [reason, texts]));
  }

  /** Its events. */
  events(pod: string): Event[] {
    return this.#normal(
      this.#seen.events.filter(({ involvedObject: o }) => o?.kind === 'Pod' && this.#is(o.name, pod)),
    );
  }

  /** What was asked for each of its sandboxes. */
  sandboxes(pod: string): Row[] {
    const own = this.#seen.sandboxes.filter(({ metadata }) => this.#is(metadata.name, pod));
    return own.map(({ config, runtimeHandler }) => this.#normal({ config, runtimeHandler }));
  }

  /** What was asked for its containers, by name. */
  containers(pod: string): Map<string, Row[]> {
    const out = new Map<string, Row[]>();
    for (const { sandbox, metadata, config } of this.#seen.containers)
      if (this.#is(sandbox.metadata.name, pod))
        out.set(metadata.name, [...(out.get(metadata.name) ?? []), this.#normal({ config })]);
    return out;
  }

  /** What was on the disk for it while it ran, by path; undefined when it did not run at the look. */
  folder(pod: string): Record<string, string> | undefined {
    const found = this.#seen.folders.get(pod);
    return found && this.#normal(Object.fromEntries(found));
  }

  /** What network probes and hooks asked for, by path and who asked. */
  asked(): Map<string, Set<string>> {
    const out = new Map<string, Set<string>>();
    for (const [path, kinds] of this.#seen.asked)
      for (const kind of kinds) {
        const subject = `${path} by ${/user-agent: (.*)/.exec(kind)?.[1] ?? 'nobody'}`;
        out.set(subject, (out.get(subject) ?? new Set()).add(this.#normal(kind)));
      }
    return out;
  }

  /** Clients have seen it at all. */
  isShown(pod: string): boolean {
    return this.#seen.statuses.has(pod);
  }

  /** The node object, without what is of one node or one moment (which images it has). */
  node(): Row {
    const { metadata, spec, status: { images: _images, ...status } = {} } = this.#seen.node ?? {};
    const { labels, annotations, finalizers, ownerReferences } = metadata ?? {};
    return this.#normal({ metadata: { labels, annotations, finalizers, ownerReferences }, spec, status });
  }

  /** From its deletion to its end, ms; undefined when it did not go. */
  goneMs(pod: string): number | undefined {
    return this.#seen.goneMs.get(pod);
  }

  #statuses(pod: string): NonNullable<ReturnType<Seen['statuses']['get']>> {
    return this.#normal(this.#seen.statuses.get(pod) ?? []);
  }
}

type Status = NonNullable<ReturnType<Seen['statuses']['get']>>[number];

function containersOf({ initContainerStatuses, containerStatuses, ephemeralContainerStatuses }: Status) {
  return [initContainerStatuses, containerStatuses, ephemeralContainerStatuses].flatMap((list) => list ?? []);
}

/** `app-0-runs` -> `app runs`: all that are drawn alike stand together. */
export function kindOf(name: string): string {
  return name.replace(/-\d+-/, ' ');
}

function stateLine(states: States | undefined): string {
  const [kind, state] = Object.entries(states ?? {})[0] ?? [];
  if (kind === undefined) return 'none';
  return [kind, state?.['reason'], state?.['exitCode'], state?.['message']].map((word) => String(word ?? '')).join(':');
}
