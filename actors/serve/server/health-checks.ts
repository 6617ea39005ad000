import { messageOf } from '../../../machines/values/message-of.ts';
/** One named check of `/healthz`. */
export interface HealthCheck {
  name: string;
  /** Null when healthy, otherwise what is wrong. It is shown on `/healthz/<name>` only, and in the log. */
  check: () => string | null;
}

/** The check that says no more than that the process answers. */
export const ping: HealthCheck = { name: 'ping', check: () => null };

/** The check that says that the log can be written; kubelet's looks at klog's flushing, which there is none of here. */
export const log: HealthCheck = { name: 'log', check: () => null };

/** What a health page answers. */
export interface HealthReport {
  status: 200 | 500;
  body: string;
  failures: { name: string; reason: string }[];
}

/**
 * Runs the checks as k8s.io/apiserver's healthz does: `ok` when all is well, a line for each check when one fails or
 * with `verbose`, without reasons, since anyone may read this page.
 * @param exclude names of checks to leave out (`?exclude=`)
 */
export function rootHealth(
  checks: readonly HealthCheck[],
  options: { verbose: boolean; exclude: readonly string[]; onResult?: (name: string, healthy: boolean) => void },
): HealthReport {
  const lines: string[] = [];
  const failures: HealthReport['failures'] = [];
  for (const { name, check } of checks) {
    if (options.exclude.includes(name)) {
      lines.push(`[+]${name} excluded: ok\n`);
      continue;
    }
    const reason = runCheck(check);
    options.onResult?.(name, reason === null);
    if (reason === null) lines.push(`[+]${name} ok\n`);
    else {
      lines.push(`[-]${name} failed: reason withheld\n`);
      failures.push({ name, reason });
    }
  }
  const unknown = [...new Set(options.exclude)].filter((name) => !checks.some((check) => check.name === name)).sort();
  if (unknown.length > 0) {
    const names = unknown.map((name) => JSON.stringify(name)).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}\n`);
  }
  if (failures.length > 0) return { status: 500, body: `${lines.join('')}healthz check failed\n`, failures };
  return { status: 200, body: options.verbose ? `${lines.join('')}healthz check passed\n` : 'ok', failures };
}

/** `/healthz/<name>`: one check, with its reason. */
export function singleHealth({ name, check }: HealthCheck): HealthReport {
  const reason = runCheck(check);
  if (reason === null) return { status: 200, body: 'ok', failures: [] };
  return { status: 500, body: `internal server error: ${reason}\n`, failures: [{ name, reason }] };
}

/** A check that throws has failed; it must not take the page with it. */
function runCheck(check: () => string | null): string | null {
  try {
    return check();
  } catch (error) {
    return messageOf(error);
  }
}
