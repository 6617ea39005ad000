/** How one spec of the end-to-end suite ended. */
export interface SpecResult {
  /** Its full text with labels, as the suite's own reports name it. */
  name: string;
  state: 'passed' | 'failed';
  seconds: number;
  /** First lines of the failure. */
  error?: string;
}

/** A run of the suite. */
export interface SuiteRun {
  results: SpecResult[];
  /** Wall clock of the whole run, s. */
  seconds: number;
}
