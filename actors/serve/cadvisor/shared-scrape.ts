import type { CadvisorMetrics } from './create-cadvisor-metrics.ts';

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
