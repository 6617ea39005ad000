import type { Logger } from 'pino';
import { findPartitions } from '../../resources/cgroup-stats/partitions.ts';
import { readSmall } from '../../resources/cgroup-stats/small-files.ts';
import { TextWriter } from '../../record/metrics/text-format.ts';
import { readEntries } from './container-entries.ts';
import { writeFamily } from './family.ts';
import { ioFamilies } from './io-families.ts';
import { keptMachineInfo } from './kept-machine-info.ts';
import { writeMachineFamilies, writeVersionInfo } from './machine-families.ts';
import { pressureFamilies, resourceFamilies } from './resource-families.ts';
import { createRuntimeNames } from './runtime-names.ts';
import { sharedScrape } from './shared-scrape.ts';
import type { CadvisorMetrics } from './shared-scrape.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import type { CgroupReader } from '../../resources/cgroup-stats/cgroup-reading.ts';
import type { NodeView } from '../../pods/store/node-view.ts';
import type { ContainerFamily } from './family.ts';
import type { Measured } from './container-entries.ts';
import type { RuntimeName } from './runtime-names.ts';

/** What {@link createCadvisorMetrics} needs. */
export interface CadvisorOptions {
  reader: CgroupReader;
  cri: CriClient;
  node: NodeView;
  log: Logger;
  /** Starts of the paths of reported cgroups (`reportedCgroups`); `/` itself is always reported. */
  roots: readonly string[];
  /** Gate `KubeletPSI`. */
  pressure: boolean;
  /** How old measurements may be, ms: 10 s by default, kubelet's `housekeeping_interval`. Each has its time with it. */
  maxAgeMs?: number;
  /** ms since the epoch. */
  now?: () => number;
}

const MAX_AGE_MS = 10_000;

/**
 * Tells of the node's cgroups what kubelet's built-in cAdvisor tells: the same families, labels and sample times. It
 * reads when asked instead of in the background, so a node that nobody asks does no work; who asks more often than cAdvisor
 * measures gets the same measurements again. File systems are those mounted when it is made. Scrapes at the same time share one reading.
 */
export function createCadvisorMetrics(options: CadvisorOptions): CadvisorMetrics {
  const { reader, node, roots, log } = options;
  const now = options.now ?? Date.now;
  const runtime = createRuntimeNames(options.cri);
  const partitions = findPartitions(readSmall('/proc/self/mountinfo') ?? '');
  const families = [
    ...resourceFamilies,
    ...ioFamilies,
    ...(options.pressure ? pressureFamilies : []),
    lastSeen(now),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
  const machineInfo = keptMachineInfo(now);
  let names: ReadonlyMap<string, RuntimeName> = new Map();
  const kept = new Map<string, Measured>();
  const maxAgeMs = options.maxAgeMs ?? MAX_AGE_MS;

  const write = async (): Promise<string> => {
    const machine = machineInfo();
    let failed = 0;
    try {
      names = await runtime.read();
    } catch (error) {
      // the kernel still tells of all cgroups; those that the runtime named before keep their names
      failed = 1;
      log.warn({ err: error }, 'the runtime does not tell its containers: /metrics/cadvisor names those known before');
    }
    const entries = await readEntries({ reader, roots, node, names, machine, partitions, kept, maxAgeMs, now });
    const writer = new TextWriter();
    writeVersionInfo(writer, machine);
    let errorWritten = false;
    for (const family of families) {
      if (!errorWritten && family.name > SCRAPE_ERROR) {
        writeScrapeError(writer, failed);
        errorWritten = true;
      }
      writeFamily(writer, family, entries);
    }
    writeMachineFamilies(writer, machine);
    return writer.toString();
  };

  return sharedScrape(write);
}

const SCRAPE_ERROR = 'container_scrape_error';

function writeScrapeError(writer: TextWriter, failed: number): void {
  writer.family(SCRAPE_ERROR, '1 if there was an error while getting container metrics, 0 otherwise', 'gauge');
  writer.line(SCRAPE_ERROR, '', failed);
}

function lastSeen(now: () => number): ContainerFamily {
  return {
    name: 'container_last_seen',
    help: 'Last time a container was seen by the exporter',
    type: 'gauge',
    samples: ({ labels }, add) => {
      const at = now();
      add(labels.plain, Math.floor(at / 1000), at);
    },
  };
}
