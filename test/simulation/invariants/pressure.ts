import { isCriticalPod } from '../../../machines/qos/critical-pod.ts';
import { TRANSITION_MS } from '../world/node-sizes.ts';
import { evictionOf } from './eviction.ts';
import type { Rule } from './rule.ts';
import { shortages } from './shortages.ts';
import type { Depth, Shortage } from './shortages.ts';

/** So many first looks of rounds in a row say that nothing is short before the end of a pressure is asked for. */
const LOOKS = 4;
/** Looks that follow each other so closely are of one round, which waits for what it reclaims: the first of them decides what is told, ms. */
const CLOSE_MS = 1_500;
/** So many rounds are sure: what looks like the first of one may be the last look of a slow one. */
const ROUNDS = 2;
/** For so long a shortage may go on until a pod has to go for it, ms: soft grace, reclaim, the wait for the one before. */
const PATIENCE_MS = 120_000;
/** A call that hung at the end of a fault goes on for so long, ms. */
const HUNG_MS = 150_000;

const KINDS = ['memory', 'disk', 'pid'] as const;
type Kind = (typeof KINDS)[number];

const kindOf = ({ resource }: Shortage): Kind =>
  resource === 'memory' ? 'memory' : resource === 'pids' ? 'pid' : 'disk';

/** The node says that it is short from the look that finds it until the transition period after the last one that does. */
export const pressureIsTrue: Rule = {
  name: 'the node tells of pressure while it is short, and for its transition period after that',
  source: 'KubeletConfiguration evictionPressureTransitionPeriod; kubelet nodeConditionsObservedSince',
  begin: ({ world, book, say }) => {
    const fresh = () => ({ short: 0, lastShort: -Infinity, over: 0, recent: [] as number[], was: false });
    const known = { memory: fresh(), disk: fresh(), pid: fresh() };
    let since = 0;
    let lastLook = -Infinity;
    return {
      on: (fact) => {
        const told = world.usage.told.at(-1);
        if (fact.f !== 'usage' || told === undefined || world.agent === null) return;
        const { now } = world.time;
        if (book.lastAgent >= since) {
          // Another agent knows nothing. A clock that is set changes nothing.
          Object.assign(known, { memory: fresh(), disk: fresh(), pid: fresh() });
          since = now;
        }
        const is = world.agent.pressure;
        const kinds = (depth: Depth) => new Set(shortages(told.node, world.plan.node.disks, depth).map(kindOf));
        const [hard, near] = [kinds('hard'), kinds('reclaim')];
        const begins = now - lastLook > CLOSE_MS;
        lastLook = now;
        for (const kind of KINDS) {
          const own = known[kind];
          if (own.short >= ROUNDS && !is[kind]) say(`${own.short} looks find too little ${kind}, and nothing is told`);
          if (own.over >= LOOKS && is[kind]) say(`${kind} is told as short long after the last look that found it so`);
          own.recent = own.recent.filter((at) => now - at < TRANSITION_MS);
          if (own.was && !is[kind] && own.recent.length >= ROUNDS) say(`${kind} is no longer told as short too early`);
          own.was = is[kind];
          if (!hard.has(kind)) own.short = 0;
          else if (begins) {
            own.short++;
            own.recent.push(now);
          }
          if (near.has(kind)) own.lastShort = now;
          if (now - own.lastShort <= TRANSITION_MS) own.over = 0;
          else if (begins) own.over++;
        }
      },
    };
  },
};

/** A node that stays short does something about it. */
export const shortagesAreEnded: Rule = {
  name: 'while the node is short somebody goes, as long as there is somebody who may',
  source: 'kubelet synchronize: the first pod of the ranking that can be killed is',
  begin: ({ world, book, say }) => {
    /** Since when each look finds it, by what is short. */
    let since = new Map<string, number>();
    return {
      on: (fact) => {
        if ((evictionOf(fact)?.resource ?? null) !== null || fact.f === 'agent') since = new Map();
        const told = world.usage.told.at(-1);
        if (fact.f !== 'usage' || told === undefined) return;
        const { now } = world.time;
        const short = shortages(told.node, world.plan.node.disks, 'hard');
        since = new Map(short.map(({ resource }) => [resource, since.get(resource) ?? now]));
        const first = Math.min(...since.values());
        if (now - first < PATIENCE_MS || !world.faults.calmSince(first - HUNG_MS) || book.lastBreak > first) return;
        const candidates = (told.pods ?? []).flatMap(({ podRef: { uid } }) => {
          const pod = book.pods.get(uid);
          return pod?.state.startsWith('syncing') === true && !isCriticalPod(pod.context.pod) ? uid : [];
        });
        if (candidates.length > 0)
          say(`${[...since.keys()].join()} is short for ${now - first} ms, and none of ${candidates.join()} goes`);
      },
    };
  },
};
