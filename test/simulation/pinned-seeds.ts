/** Seeds that found something once, with what it was; their hours are 2. */
export const pinnedSeeds: readonly (readonly [seed: number, found: string])[] = [
  [53, 'an agent that restarts while lists fail took its pods for new ones and ran a second sandbox (Pleg.holds)'],
  [8, "a static pod that was put back remembered its former life's termination (order of Shard's last messages)"],
  [1312173035, 'a container stopped for another reason kept its longer grace when its pod was deleted (orderKills)'],
];
