/** What bin/soak was asked for. */
export interface SoakOptions {
  minutes: number;
  seed: number;
}

export const USAGE = `usage: bin/soak [--minutes N] [--seed S]
  Thirty pods come and go on a real containerd and control plane while the agent, containerd, the API server and the
  agent's worker threads are killed at random. Prints what happened, then a report: how often each rule was asked and which
  did not hold, the slopes of memory, file descriptors, threads, mounts and cgroups, and whether the journals replay.
  Ends with 1 when a rule did not hold; journal, log and readings are kept then.
  --minutes N   how long pods come and go (30)
  --seed S      draws pods and kills: the same seed, the same schedule (a fresh one)`;

/** Reads the arguments; throws with what is wrong. `fresh` is the seed when none is given. */
export function soakOptions(args: readonly string[], fresh: number): SoakOptions {
  const options = { minutes: 30, seed: fresh };
  for (let i = 0; i < args.length; i += 2) {
    const [flag = '', text = ''] = args.slice(i, i + 2);
    const value = text === '' ? NaN : Number(text);
    if (flag === '--minutes' && value >= 1) options.minutes = value;
    else if (flag === '--seed' && Number.isInteger(value) && value >= 0) options.seed = value;
    else throw new Error(`cannot make sense of ${flag} ${text}`);
  }
  return options;
}
