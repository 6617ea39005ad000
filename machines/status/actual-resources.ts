import type { Container, ContainerStatus } from '../protocol/api-types.ts';
import type { ObservedContainer } from '../protocol/observed.ts';
import { quotaToMilli, sharesToMilli } from '../qos/cpu-shares.ts';
import { amountsOf, milli } from '../qos/resource-amounts.ts';
import { bytesText, formatQuantity } from '../values/quantity.ts';

type Resources = NonNullable<ContainerStatus['resources']>;
/** Below these the kernel's minimum hides what was asked, so the asked value is shown. */
export const MIN_LIMIT_MILLI = 10;
export const MIN_SHARES = 2;

/**
 * `containerStatuses[].resources`: the spec's, and for a running container what the runtime says is in force
 * (KEP-1287). What the runtime does not say stays as reported before for the same container; a runtime that says nothing
 * (containerd 1.6), and the memory request that none says, are made up for by what the container was last given.
 */
export function actualResources(
  spec: Container,
  seen: ObservedContainer,
  containerID: string,
  old: ContainerStatus | undefined,
  actuated: Container['resources'] = spec.resources,
): Resources {
  const out: Resources = {};
  const { requests, limits, claims } = spec.resources ?? {};
  if (limits) out.limits = { ...limits };
  if (requests) out.requests = { ...requests };
  if (claims) out.claims = claims.map((claim) => ({ ...claim }));
  if (seen.state !== 'running') return out;
  const before = old?.state?.running !== undefined && old.containerID === containerID ? old.resources : undefined;
  const { cpuShares, cpuQuota, cpuPeriod, memoryLimitInBytes } = seen.resources ?? {};
  const silent = cpuShares === undefined && cpuQuota === undefined && memoryLimitInBytes === undefined;
  if (out.limits) {
    const cpu = quotaToMilli(Number(cpuQuota ?? 0), Number(cpuPeriod ?? 0));
    setCpu(out.limits, cpu, MIN_LIMIT_MILLI, silent ? actuated?.limits : before?.limits);
    const memory = Number(memoryLimitInBytes ?? 0);
    if (memory > 0) out.limits['memory'] = bytesText(memory);
    else keep(out.limits, 'memory', silent ? actuated?.limits : before?.limits);
  }
  if (out.requests) {
    setCpu(
      out.requests,
      sharesToMilli(Number(cpuShares ?? 0)),
      MIN_SHARES,
      silent ? actuated?.requests : before?.requests,
    );
    keep(out.requests, 'memory', actuated?.requests?.['memory'] === undefined ? before?.requests : actuated.requests);
  }
  return out;
}

/** Sets what is in force, 0 where that is not known: then `before` is told. Below the kernel's minimum what was asked is told. */
export function setCpu(
  list: Record<string, string>,
  actualMilli: number,
  least: number,
  before?: Record<string, string>,
): void {
  if (actualMilli <= 0) keep(list, 'cpu', before);
  else if (actualMilli > least || milli(amountsOf(list)['cpu']) > least) {
    list['cpu'] = formatQuantity(BigInt(actualMilli) * 1_000_000n, 'DecimalSI');
  }
}

function keep(list: Record<string, string>, name: string, before: Record<string, string> | undefined): void {
  const value = before?.[name];
  if (value !== undefined) list[name] = value;
}
