import { basename } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { podUidOfCgroup } from '../../../machines/cgroups/slice-names.ts';
import { readInterfaces } from '../../resources/cgroup-stats/interfaces.ts';
import { readPartitions } from '../../resources/cgroup-stats/partitions.ts';
import { readOpenFilesLimit } from '../../resources/cgroup-stats/processes.ts';
import { EntryLabels } from './container-entry.ts';
import type { CgroupReader } from '../../resources/cgroup-stats/cgroup-reading.ts';
import type { MachineInfo } from '../../resources/cgroup-stats/machine-info.ts';
import type { Partition } from '../../resources/cgroup-stats/partitions.ts';
import type { NodeView } from '../../pods/store/node-view.ts';
import type { ContainerEntry } from './container-entry.ts';
import type { RuntimeName } from './runtime-names.ts';

/** What a scrape reads from. */
export interface EntrySources {
  reader: CgroupReader;
  /** Starts of the paths to report besides `/`. */
  roots: readonly string[];
  node: NodeView;
  /** By id of container or sandbox. */
  names: ReadonlyMap<string, RuntimeName>;
  machine: MachineInfo;
  partitions: readonly Partition[];
  /** Measurements of earlier scrapes by cgroup; those too old are replaced, those of cgroups that are gone removed. */
  kept: Map<string, Measured>;
  /** How old a measurement may be, ms. */
  maxAgeMs: number;
  now: () => number;
}

/** What was read of one cgroup. */
export type Measured = Omit<ContainerEntry, 'labels'>;

/** So many cgroups are read in one go; then other work of the thread has its turn. */
const AT_ONCE = 16;
/** Runtimes put the id into the cgroup's name, alone or as `cri-containerd-ID.scope`. */
const RUNTIME_ID = /[a-z0-9]{64}/;

/**
 * All cgroups that are reported, sorted by container and path as Go's registry sorts them; those are read of which no
 * measurement is fresh enough.
 */
export async function readEntries(sources: EntrySources): Promise<ContainerEntry[]> {
  const { reader, roots, node, names, kept } = sources;
  const pods = new Map(node.pods().map((pod) => [pod.metadata?.uid ?? '', pod]));
  const oldest = sources.now() - sources.maxAgeMs;
  const entries: ContainerEntry[] = [];
  const seen = new Set<string>();
  let read = 0;
  for (const cgroup of reportedBelow(reader, roots)) {
    const id = RUNTIME_ID.exec(basename(cgroup))?.[0];
    const name = id === undefined ? undefined : names.get(id);
    let measured = kept.get(cgroup);
    // a container that the runtime did not name yet when it was measured lacks what belongs to its first process
    const unnamed = name !== undefined && measured?.openFilesLimit === null;
    if (measured === undefined || unnamed || measured.reading.at <= oldest) {
      if (++read % AT_ONCE === 0) await setImmediate();
      measured = cgroup === '/' ? await measureMachine(sources) : measure(reader, cgroup, name);
      if (measured === undefined) continue;
      kept.set(cgroup, measured);
    }
    seen.add(cgroup);
    const metadata = name === undefined ? pods.get(podUidOfCgroup(cgroup) ?? '')?.metadata : undefined;
    const labels = new EntryLabels({
      id: cgroup,
      container: name?.container ?? '',
      image: name?.image ?? '',
      name: name === undefined ? '' : (id ?? ''),
      namespace: name?.namespace ?? metadata?.namespace ?? '',
      pod: name?.pod ?? metadata?.name ?? '',
    });
    entries.push({ ...measured, labels });
  }
  for (const cgroup of kept.keys()) if (!seen.has(cgroup)) kept.delete(cgroup);
  return entries.sort(byLabels);
}

/** A sandbox has the network of its pod; slices and pods have no first process. */
function measure(reader: CgroupReader, cgroup: string, name: RuntimeName | undefined): Measured | undefined {
  const reading = reader.read(cgroup);
  if (reading === null) return undefined;
  const pid = name === undefined ? null : reader.firstPid(cgroup);
  return {
    reading,
    interfaces: name?.sandbox === true && pid !== null ? readInterfaces(pid) : [],
    partitions: [],
    openFilesLimit: pid === null ? null : readOpenFilesLimit(pid),
  };
}

/** `/`, the roots and all cgroups below them, each once; systemd's cgroups of mounts are left out. */
function* reportedBelow(reader: CgroupReader, roots: readonly string[]): Generator<string> {
  yield '/';
  const done = new Set(['/']);
  for (const root of roots) {
    for (const cgroup of reader.tree(root)) {
      if (done.has(cgroup) || cgroup.endsWith('.mount')) continue;
      done.add(cgroup);
      yield cgroup;
    }
  }
}

/** The root cgroup stands for the machine: its memory, its network as process 1 sees it, its file systems. */
async function measureMachine({ reader, machine, partitions }: EntrySources): Promise<Measured | undefined> {
  const found = reader.read('/');
  if (found === null) return undefined;
  const limits = { limitBytes: machine.memoryBytes, swapLimitBytes: machine.swapBytes };
  return {
    reading: found.memory === undefined ? found : { ...found, memory: { ...found.memory, ...limits } },
    interfaces: readInterfaces(1),
    partitions: await readPartitions(partitions),
    openFilesLimit: readOpenFilesLimit(1),
  };
}

function byLabels(a: ContainerEntry, b: ContainerEntry): number {
  const [left, right] = [a.labels.identity, b.labels.identity];
  if (left.container !== right.container) return left.container < right.container ? -1 : 1;
  return left.id < right.id ? -1 : 1;
}
