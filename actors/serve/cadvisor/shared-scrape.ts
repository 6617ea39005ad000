/** The page `/metrics/cadvisor`. */
export interface CadvisorMetrics {
  /** Its body in the text format 0.0.4 (`TEXT_FORMAT_CONTENT_TYPE`). Never rejects. */
  text(): Promise<string>;
}

/** The page that `write` makes: who scrapes while it is being made gets the same. */
export function sharedScrape(write: () => Promise<string>): CadvisorMetrics {
  let underWay: Promise<string> | undefined;
  return {
    text: () => {
      underWay ??= write().finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
  };
}
