import { handleOf } from '../world/storage/storage-objects.ts';
import { CsiBook, podOf, volumeOf } from './csi-book.ts';
import type { Rule } from './rule.ts';

const SPEC = 'Container Storage Interface 1.x, Node Service RPC';

/** A volume is staged, and attached where it must be, before it is published. */
export const stagedFirst: Rule = {
  name: 'no volume is published before it is staged, or staged before it is attached',
  source: `${SPEC}: NodeStageVolume is called before NodePublishVolume, ControllerPublishVolume before both`,
  begin: ({ world, say }) => {
    const book = new CsiBook();
    const attached = new Set<string>();
    return {
      on: (fact) => {
        book.take(fact);
        if (fact.f === 'attachment')
          if (fact.change === 'attached') attached.add(volumeOf(fact));
          else attached.delete(volumeOf(fact));
        if (fact.f !== 'csi' || fact.change !== 'asked') return;
        const { call, driver, path, staging } = fact;
        if (call !== 'NodePublishVolume' && call !== 'NodeStageVolume') return;
        const plan = world.storage?.drivers.get(driver)?.plan;
        const volume = volumeOf(fact);
        const own = world.plan.claims?.some(({ name }) => handleOf(name) === fact.handle);
        if (own && plan?.attaches === true && !attached.has(volume)) say(`${call} of ${volume}, which is not attached`);
        if (call === 'NodePublishVolume' && own && plan?.stages && book.staged.get(volume)?.has(staging) !== true)
          say(`${volume} is published at ${path} and is not staged`);
      },
    };
  },
};

/** What pods still have is not unstaged. */
export const unstagedLast: Rule = {
  name: 'no volume is unstaged before the last pod has it no more',
  source: `${SPEC}: NodeUnstageVolume MUST be called after all NodeUnpublishVolume have been called and returned success`,
  begin: ({ say }) => {
    const book = new CsiBook();
    return {
      on: (fact) => {
        book.take(fact);
        if (fact.f !== 'csi' || fact.change !== 'asked' || fact.call !== 'NodeUnstageVolume') return;
        const left = [...(book.published.get(volumeOf(fact)) ?? [])];
        if (left.length > 0) say(`${volumeOf(fact)} is unstaged and is published at ${left.join(', ')}`);
      },
    };
  },
};

/** A claim that one pod has alone is never given to a second. */
export const oneWriter: Rule = {
  name: 'no two pods have a volume that is ReadWriteOncePod',
  source: 'KEP-2485; kubelet: "volume uses the ReadWriteOncePod access mode and is already in use by another pod"',
  begin: ({ world, say }) => {
    const book = new CsiBook();
    return {
      on: (fact) => {
        book.take(fact);
        if (fact.f !== 'csi' || fact.change !== 'acted' || fact.call !== 'NodePublishVolume') return;
        const claim = world.plan.claims?.find(({ name }) => handleOf(name) === fact.handle);
        const places = [...(book.published.get(volumeOf(fact)) ?? [])];
        if (claim?.mode === 'ReadWriteOncePod' && places.length > 1)
          say(`${fact.handle} is at ${places.join(' and ')}`);
      },
    };
  },
};

/** Whoever asks again says the same. */
export const sameArguments: Rule = {
  name: 'a call that is repeated says what it said before',
  source: `${SPEC}: idempotent calls; ALREADY_EXISTS when published at the path but incompatible with the capability`,
  begin: ({ say }) => {
    const said = new Map<string, string>();
    return {
      on: (fact) => {
        if (fact.f !== 'csi') return;
        const place = `${volumeOf(fact)} ${fact.path}`;
        if (fact.change === 'acted' && (fact.call === 'NodeUnpublishVolume' || fact.call === 'NodeUnstageVolume'))
          said.delete(place);
        if (fact.change !== 'asked' || fact.request === '') return;
        const before = said.get(place);
        said.set(place, fact.request);
        if (before !== undefined && before !== fact.request)
          say(`${fact.call} of ${place} says ${fact.request}, and said ${before}`);
      },
    };
  },
};

/** One call for a place at once. */
export const oneCallAtOnce: Rule = {
  name: 'an agent makes one call at once for a volume at a place',
  source: `${SPEC}: "the CO SHOULD ensure that there is no more than one call in-flight per volume at a given time"`,
  begin: ({ say }) => {
    const inFlight = new Map<string, { n: number; by: { alive: boolean }; call: string }>();
    return {
      on: (fact) => {
        if (fact.f !== 'csi' || fact.change === 'acted') return;
        const place = `${volumeOf(fact)} ${fact.path}`;
        const other = inFlight.get(place);
        if (fact.change === 'answered') {
          if (other?.n === fact.n) inFlight.delete(place);
          return;
        }
        if (other?.by.alive === true) say(`${fact.call} of ${place} while ${other.call} is under way`);
        inFlight.set(place, { n: fact.n, by: fact.by, call: fact.call });
      },
    };
  },
};

/** What all containers of a pod may read is labelled so, and as it is staged. */
export const oneLabel: Rule = {
  name: 'a volume is published with the label with which it is staged, which is that of its pod',
  source: 'KEP-1710: the volume is mounted with the SELinux label of the pod; kubelet: seLinuxMountMismatchError',
  begin: ({ world, say }) => {
    const staged = new Map<string, string>();
    return {
      on: (fact) => {
        if (fact.f !== 'csi' || fact.change !== 'asked') return;
        const label = /context=\\"([^"\\]*)/.exec(fact.request)?.[1] ?? '';
        const volume = volumeOf(fact);
        if (fact.call === 'NodeStageVolume') staged.set(volume, label);
        if (fact.call !== 'NodePublishVolume') return;
        const { securityContext } = world.workload.planOf(podOf(fact.path))?.spec ?? {};
        const level = securityContext?.seLinuxOptions?.level ?? '';
        if (label !== '' && !label.endsWith(`:${level}`))
          say(`${volume} is published with ${label} for a pod of ${level}`);
        const first = staged.get(volume);
        if (first !== undefined && first !== label)
          say(`${volume} is published with ${label} and staged with ${first}`);
      },
    };
  },
};
