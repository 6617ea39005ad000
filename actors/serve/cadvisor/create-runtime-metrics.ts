import type { Logger } from 'pino';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { MetricType } from '../../../cri/generated/runtime/v1/api.ts';
import type { Metric, MetricDescriptor, PodSandboxMetrics } from '../../../cri/generated/runtime/v1/api.ts';
import { labelText, TextWriter } from '../../record/metrics/text-format.ts';
import { keptMachineInfo } from './kept-machine-info.ts';
import { sharedScrape } from './shared-scrape.ts';
import type { CadvisorMetrics } from './shared-scrape.ts';
import { writeMachineFamilies } from './machine-families.ts';

/** What {@link createRuntimeMetrics} needs. */
export interface RuntimeMetricsOptions {
  cri: Pick<CriClient, 'runtime'>;
  log: Logger;
  /** ms since the epoch. */
  now: () => number;
}

/**
 * The page `/metrics/cadvisor` with the feature gate PodAndContainerStatsFromCRI (KEP-2371): no cgroup is read, the runtime tells which
 * families there are and the samples of each. Of a runtime that does not answer, or that has no such calls, only the machine is told.
 * Kubelet asks for the families once, when it starts; here whoever scrapes first does, and again as long as that fails.
 */
export function createRuntimeMetrics({ cri, log, now }: RuntimeMetricsOptions): CadvisorMetrics {
  const machineInfo = keptMachineInfo(now);
  let families: ReadonlyMap<string, MetricDescriptor> | undefined;

  const readFamilies = async (): Promise<ReadonlyMap<string, MetricDescriptor>> => {
    const { descriptors } = await cri.runtime.listMetricDescriptors({});
    return new Map(descriptors.map((each) => [each.name, each]));
  };

  const write = async (): Promise<string> => {
    const writer = new TextWriter();
    try {
      families ??= await readFamilies();
      const { podMetrics } = await cri.runtime.listPodSandboxMetrics({});
      writeRuntimeFamilies(writer, families, podMetrics);
    } catch (error) {
      log.warn(
        { err: error },
        'the runtime does not tell metrics of pods: /metrics/cadvisor tells of the machine only',
      );
    }
    writeMachineFamilies(writer, machineInfo());
    return writer.toString();
  };

  return sharedScrape(write);
}

/** Writes the samples of all pods by family; those of a family that was not announced, or with other labels than it has, are left out. */
export function writeRuntimeFamilies(
  writer: TextWriter,
  families: ReadonlyMap<string, MetricDescriptor>,
  pods: readonly PodSandboxMetrics[],
): void {
  const samples = new Map<string, Metric[]>();
  for (const { metrics, containerMetrics } of pods)
    for (const metric of [metrics, ...containerMetrics.map((each) => each.metrics)].flat()) {
      const family = families.get(metric.name);
      if (family === undefined || metric.labelValues.length !== family.labelKeys.length) continue;
      const known = samples.get(metric.name);
      if (known === undefined) samples.set(metric.name, [metric]);
      else known.push(metric);
    }
  for (const name of [...samples.keys()].sort()) {
    const [first] = samples.get(name) ?? [];
    const { help = '', labelKeys = [] } = families.get(name) ?? {};
    writer.family(name, help, first?.metricType === MetricType.GAUGE ? 'gauge' : 'counter');
    for (const { labelValues, value, timestamp } of samples.get(name) ?? []) {
      const labels = Object.fromEntries(labelKeys.map((key, index) => [key, labelValues[index] ?? '']));
      // Without a time the runtime has measured for this call.
      const at = timestamp === '0' ? undefined : Number(timestamp) / 1e6;
      writer.line(name, labelText(labels), Number(value?.value ?? 0), at);
    }
  }
}
