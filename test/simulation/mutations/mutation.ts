/** A rule of the agent broken on purpose: `from` stands once in the function `within`, and becomes `to`; see `broken-source.ts`. */
export interface Mutation {
  name: string;
  /** What an agent with it does wrong. */
  breaks: string;
  /** Name of the function or method that has the rule, in whatever file it lives. */
  within: string;
  /** Some tokens of it, as few as say it; their layout does not count. */
  from: string;
  to: string;
  /**
   * The first of the seeds that are tried: one at, or shortly before, the first that finds it. Without one it takes rare
   * luck, and a pinned plan finds it.
   */
  seed?: number;
  /** The seeds are drawn with device plugins and drivers (`--plugins`). */
  plugins?: true;
  /** With CSI drivers and claims (`--claims`). */
  claims?: true;
}
