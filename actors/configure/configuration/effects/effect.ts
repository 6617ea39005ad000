/** What setting a field, a flag or a feature gate brings about here. */
export type Effect =
  | {
      kind: 'acts';
      /** What it acts on, in a few words. */
      on: string;
    }
  | {
      /** `kubelet`: kubelet accepts it without effect, too. `moot`: kubelet's effect has no counterpart here. */
      kind: 'kubelet' | 'moot';
      why: string;
    };

/** It acts on this. */
export const acts = (on: string): Effect => ({ kind: 'acts', on });

/** It has no effect in kubelet 1.35 on Linux either, and why. */
export const noneInKubelet = (why: string): Effect => ({ kind: 'kubelet', why });

/** What kubelet does with it has no counterpart here, and why. */
export const moot = (why: string): Effect => ({ kind: 'moot', why });
