/** How one spec of the end-to-end suite ended. */
export interface SpecResult {
  /** Its full text with labels, as the suite's own reports name it. */
  name: string;
  state: 'passed' | 'failed';
  seconds: number;
  /** First lines of the failure. */
  error?: string;
}

/** A spec that looked at the node and did not run there. */
export interface SkippedSpec {
  name: string;
  /** Its own words. */
  reason: string;
}

/** A run of the suite. */
export interface SuiteRun {
  results: SpecResult[];
  /** Specs that were chosen and left themselves out; absent in older runs, which did not keep them. */
  skipped?: SkippedSpec[] | undefined;
  /** Wall clock of the whole run, s. */
  seconds: number;
}
