import type { CgroupSurvey } from './cgroup-survey.ts';
import { addContainer, podStatsOf } from './pod-usage.ts';
import type { MeasuredPod } from './runtime-listing.ts';
import { runtimeCpuAndMemory } from './runtime-usage.ts';
import type { PodStats } from './summary.ts';
import { toldUsage } from './told-pods.ts';

/**
 * A pod with its cpu and memory alone (`only_cpu_and_memory`, `/metrics/resource`).
 * @param now ns since the epoch
 * @param psi feature gate KubeletPSI
 */
export function shortPod(
  { sandbox, containers, told: itself }: MeasuredPod,
  survey: CgroupSurvey,
  now: number,
  psi: boolean,
): PodStats {
  const pod = podStatsOf(sandbox);
  const podUsage = itself ? toldUsage(itself, psi) : survey.usageOf(`pod${sandbox.metadata?.uid ?? ''}`);
  // What the runtime tells of a pod is told of one without containers, too.
  if (itself) Object.assign(pod, podUsage);
  for (const { container, stats } of containers) {
    const told = runtimeCpuAndMemory(stats, Number(container.createdAt), now, psi);
    const own = survey.usageOf(container.id);
    // Swap stays the runtime's, as with the reference
    const { name, startTime, cpu, memory, swap } = told;
    addContainer(pod, { name, startTime, cpu: own?.cpu ?? cpu, memory: own?.memory ?? memory, swap }, podUsage);
  }
  const { podRef, startTime, containers: list, cpu, memory, swap } = pod;
  return { podRef, startTime, containers: list, cpu, memory, swap };
}
